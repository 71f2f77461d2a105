"""A server under test and the two ways to talk to it: as a client, and byte by byte."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

VERSION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {}}
BOTH = "application/json, text/event-stream"
PATIENCE_S = 30


def binary():
    path = os.environ.get("HTTP_FIXTURE_BINARY")
    if not path:
        print("no program to test")
        sys.exit(77)
    return path


class Server:
    """The fixture on a free port, as a context. After it: exit code 0, or an error."""

    def __init__(self, *flags, address="127.0.0.1:0"):
        self.process = subprocess.Popen([binary(), "--http", address, *flags],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        match = re.search(r"http://(\S+):(\d+)/mcp", line)
        if not match:
            raise RuntimeError("does not listen: " + line)
        self.port = int(match[2])

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.stop()
        if kind is None:
            assert self.process.returncode == 0, "exit code %d" % self.process.returncode

    def stop(self):
        """SIGTERM; how long the exit took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)
        return time.monotonic() - began

    def threads(self):
        return len(os.listdir("/proc/%d/task" % self.process.pid))

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def client(self, source="127.0.0.1", **headers):
        return Client(self.port, headers, source)

    def raw(self):
        return Raw(self.port)


def events(text):
    """The messages of a stream of events."""
    found = []
    for block in text.split("\n\n"):
        data = [line[6:] for line in block.split("\n") if line.startswith("data: ")]
        if data and data[0]:  # the first of a stream that can be resumed is empty
            found.append(json.loads("\n".join(data)))
    return found


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()
        kind = response.headers.get("Content-Type", "")
        self.is_stream = kind == "text/event-stream"
        if self.is_stream:
            self.messages = events(self.text)
        else:
            self.messages = [json.loads(self.text)] if kind == "application/json" else []

    @property
    def last(self):
        return self.messages[-1]

    @property
    def error(self):
        return self.last["error"]["code"]


class Client:
    """One connection, kept alive."""

    def __init__(self, port, headers, source="127.0.0.1"):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S,
                                                     source_address=(source, 0))
        self.headers = dict(headers)
        self.next_id = 0

    def open(self, method, path="/mcp", body=None, headers=None):
        """Sends; the response is not read."""
        sent = {"Accept": BOTH, **self.headers, **(headers or {})}
        sent = {name: value for name, value in sent.items() if value is not None}
        self.connection.request(method, path, body, sent)
        return self.connection.getresponse()

    def ask(self, method, path="/mcp", body=None, headers=None):
        return Answer(self.open(method, path, body, headers))

    def post(self, message, headers=None, wait=True):
        sent = {"Content-Type": "application/json", **(headers or {})}
        body = message if isinstance(message, (bytes, str)) else json.dumps(message)
        response = self.open("POST", "/mcp", body, sent)
        return Answer(response) if wait else response

    def request(self, method, params=None, headers=None, wait=True, ident=None):
        """Of the handshake era."""
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": ident or self.next_id, "method": method}
        if params is not None:
            message["params"] = params
        return self.post(message, headers, wait)

    def stateless(self, method, params=None, headers=None, wait=True, ident=None, meta=None):
        """Of 2026-07-28, with the headers it wants."""
        params = dict(params or {})
        params["_meta"] = {**META, **(meta or {})}
        sent = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        if method == "tools/call":
            sent["Mcp-Name"] = params["name"]
        return self.request(method, params, {**sent, **(headers or {})}, wait, ident)

    def call(self, tool, arguments=None, **more):
        return self.stateless("tools/call", {"name": tool, "arguments": arguments or {}}, **more)

    def handshake(self, version="2025-11-25"):
        answer = self.request("initialize", {"protocolVersion": version, "capabilities": {},
                                             "clientInfo": {"name": "test", "version": "1"}})
        self.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        self.headers["MCP-Protocol-Version"] = version
        assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        return answer

    def close(self):
        self.connection.close()


class Raw:
    """Bytes out, bytes in."""

    def __init__(self, port):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())
        return self

    def rest(self):
        """All that comes until the server closes; None: it did not, or it was a reset."""
        got = b""
        try:
            while piece := self.socket.recv(65536):
                got += piece
        except ConnectionResetError:
            return None
        return got

    def until(self, mark):
        got = b""
        while mark not in got:
            piece = self.socket.recv(65536)
            if not piece:
                break
            got += piece
        return got

    def close(self):
        self.socket.close()


def head(port, *lines, method="POST", path="/mcp", host=True):
    """A request's head with what a good client sends; further lines as given."""
    first = ["%s %s HTTP/1.1" % (method, path)]
    if host:
        first.append("Host: 127.0.0.1:%d" % port)
    if method == "POST":
        first += ["Content-Type: application/json", "Accept: " + BOTH]
    return "\r\n".join([*first, *lines]) + "\r\n\r\n"


def status(data):
    """Of the first answer in these bytes."""
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", data or b"")
    return int(match[1]) if match else None


def wait_for(check, seconds=5.0):
    """True as soon as the check is."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if check():
            return True
        time.sleep(0.02)
    return bool(check())


def run(namespace):
    """Every function test_*; the exit code."""
    failed = 0
    tests = [(name, test) for name, test in namespace.items() if name.startswith("test_")]
    for name, test in tests:
        began = time.monotonic()
        try:
            test()
        except Exception as error:  # any way to fail is a failure of this test alone
            failed += 1
            import traceback
            traceback.print_exc()
            print("%s: %s" % (name, error))
        print("%5.2f s  %s" % (time.monotonic() - began, name))
    print("%d tests, %d failed" % (len(tests), failed))
    return 1 if failed else 0
