#!/usr/bin/env python3
"""What the README shows of `jarvis analyze` is what it prints on a terminal of 100 columns.

    UPDATE_GOLDEN=1 readme_test.py     writes it anew      program: $JARVIS_BINARY
"""

import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

README = program.SOURCE / "README.md"
COLUMNS = 100
README_LINES_MAX = 150
BEGIN, END = "<!-- analyze -->\n", "<!-- end of analyze -->\n"


def printed(command, folder):
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm", "JARVIS_CACHE": "off"}
    with subprocess.Popen(command, stdout=terminal, stderr=subprocess.DEVNULL, cwd=folder,
                          env=environment) as process:
        os.close(terminal)
        text = b""
        while True:
            try:
                part = os.read(main, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
    os.close(main)
    return process.returncode, text.decode().replace("\r\n", "\n")


class Readme(unittest.TestCase):
    maxDiff = None

    def test_the_sample_is_what_the_program_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            code, text = printed([program.BINARY, "analyze", str(program.EXAMPLE)], folder)
        self.assertEqual(code, 0)
        # The first screen.
        lines = [line.rstrip() for line in text.partition("\n\nWhere the time goes")[0].split("\n")]
        page = README.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        new = before + BEGIN + "```text\n" + "\n".join(lines) + "\n```\n" + END + after
        if os.environ.get("UPDATE_GOLDEN"):
            README.write_text(new, encoding="utf-8")
            page = new
        self.assertEqual(page, new, "UPDATE_GOLDEN=1 writes the sample anew")

    def test_it_is_short(self):
        lines = README.read_text(encoding="utf-8").count("\n")
        self.assertLessEqual(lines, README_LINES_MAX)

    def test_the_set_up_commands_stand_alone(self):
        page = README.read_text(encoding="utf-8")
        for command in ("examples/quickstart", "tests/run"):
            self.assertIn(f"```sh\n{command}\n```\n", page)
            self.assertTrue(os.access(program.SOURCE / command, os.X_OK))


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
