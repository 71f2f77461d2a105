"""A program that serves over HTTP while a test runs."""

import re
import signal
import subprocess

PATIENCE_S = 30


class HttpServer:
    """`command --http` on a free port, as a context that gives the URL."""

    def __init__(self, *command):
        self.process = subprocess.Popen([*command, "--http", "127.0.0.1:0"],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        match = re.search(r"http://\S+", line)
        if not match:
            raise RuntimeError("does not listen: " + line)
        self.url = match[0]

    def __enter__(self):
        return self.url

    def __exit__(self, *error):
        self.process.send_signal(signal.SIGTERM)
        self.process.stderr.close()
        self.process.wait(PATIENCE_S)
