#!/usr/bin/env python3
"""What `analyze` shows on a terminal and what it writes into a pipe, and `view`, which opens a page."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

BINARY = os.environ.get("JARVIS_BINARY", "")
TRACE = pathlib.Path(__file__).parents[2] / "examples/data/transformer_step.json.gz"
ESCAPE = re.compile(r"\x1b\[[0-9;]*[mK]")


def on_terminal(arguments, columns, **environment):
    """What a program writes on a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(arguments, stdout=its, stderr=subprocess.DEVNULL,
                          env={**env, "TERM": "xterm", **environment}) as process:
        os.close(its)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # nobody writes any more
                break
            if not part:
                break
            text += part
    os.close(ours)
    assert process.returncode == 0, text
    return text.decode().replace("\r\n", "\n")


class Output(unittest.TestCase):
    """Every command's stdout, whatever is behind it."""

    COMMANDS = (["--help"], ["--version"], ["query", "--help"], ["query", TRACE],
                ["query", TRACE, "SELECT * FROM kernels"],
                ["query", TRACE, "SELECT * FROM kernels", "--csv"],
                ["query", TRACE, "SELECT * FROM kernels", "--json"], ["load_trace", TRACE],
                ["gpu_timeline", TRACE], ["analyze", TRACE], ["export", TRACE, "--sqlite", "out.db"],
                ["category_analysis", "--help"], ["sweep", "--help"], ["install", "--help"],
                ["install", "--print"], ["compare", "--help"], ["compare", TRACE, TRACE],
                ["view", "--help"], ["serve", "--help"], ["call", "--help"])

    def setUp(self):
        if not BINARY:
            self.skipTest("JARVIS_BINARY is not set")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_to(self, command, stdout):
        return subprocess.run([BINARY, *map(str, command)], stdout=stdout, stderr=subprocess.PIPE,
                              text=True, cwd=self.folder, check=False, timeout=120)

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for command in self.COMMANDS:
                with self.subTest(command):
                    ran = self.run_to(command, full)
                    self.assertNotEqual(ran.returncode, 0)
                    self.assertIn("No space left on device" if "cannot write" in ran.stderr
                                  else "jarvis: ", ran.stderr)

    def test_a_closed_pipe_is_an_end_without_words(self):
        reads, writes = os.pipe()
        os.close(reads)
        with os.fdopen(writes, "w", encoding="utf-8") as closed:
            ran = self.run_to(["query", TRACE, "SELECT * FROM kernels", "--csv"], closed)
        self.assertNotEqual(ran.returncode, 0)
        self.assertNotIn("cannot write", ran.stderr)

    def test_names_cannot_command_a_terminal(self):
        name = "k\x1b[2J\x1b]0;t\x07\x9b31m\x7f\tend"
        events = [{"ph": "X", "cat": "kernel", "name": f"{name}{i}", "pid": 0, "tid": 7,
                   "ts": 10 + 10 * i, "dur": 5, "args": {"stream": 7, "correlation": i}}
                  for i in range(3)]
        trace = pathlib.Path(self.folder, "trace.json")
        trace.write_text(json.dumps({"traceEvents": events}))
        for command in (["query", trace, "SELECT name FROM kernels", "--csv"],
                        ["query", trace, "SELECT name FROM kernels"],
                        ["query", trace, "SELECT name FROM kernels", "--json"],
                        ["ops_summary", trace], ["gpu_timeline", trace], ["load_trace", trace]):
            with self.subTest(command):
                shown = on_terminal([BINARY, *map(str, command)], 100)
                for control in "\x1b\x07\x9b\x7f":
                    self.assertNotIn(control, shown)
        csv = ["query", trace, "SELECT name FROM kernels ORDER BY name", "--csv"]
        self.assertIn(r"k\x1b[2J\x1b]0;t\x07\x9b31m\x7f", on_terminal([BINARY, *map(str, csv)], 100))
        # Into a pipe they are data.
        piped = subprocess.run([BINARY, *map(str, csv)], capture_output=True, text=True, check=True)
        self.assertIn(name + "0", piped.stdout)


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY:
            raise unittest.SkipTest("JARVIS_BINARY is not set")
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.out = pathlib.Path(cls.made.name, "out")
        cls.command = [BINARY, "analyze", str(TRACE), "--output-dir", str(cls.out)]

    def test_a_pipe_gets_eighty_columns_without_colours(self):
        text = subprocess.run(self.command, check=True, capture_output=True, text=True).stdout
        self.assertNotIn("\x1b", text)
        self.assertNotIn("report.html", text)
        lines = [line for line in text.split("\n") if str(self.out) not in line]
        self.assertLessEqual(max(map(len, lines)), 80)
        for heading in ("Where the time goes (", "What to do, in this order", "How far to trust it"):
            self.assertIn("\n" + heading, text)
        dumb = on_terminal(self.command, 80, TERM="dumb")
        self.assertEqual(dumb, text + f"To look at: {self.out}/report.html\n")

    def test_the_first_lines_say_what_it_is_where_time_goes_and_what_to_do(self):
        first = subprocess.run(self.command, check=True, capture_output=True,
                               text=True).stdout.split("\n")[:25]
        self.assertRegex(first[0], r"^\S.* on \S")
        self.assertTrue(any(line.startswith("Step") for line in first), first)
        self.assertTrue(any(re.fullmatch("[\u2588\u2591]{80}", line) for line in first), first)
        self.assertTrue(any(re.match(r"1\S* +[AB] +(up to |about )?\d\S* (to \S+ )?ms  +\S", line)
                            for line in first), first)
        self.assertTrue(any(line.startswith("Trust: ") for line in first), first)

    def test_a_terminal_gets_colours_and_bars(self):
        for columns in (60, 100, 200):
            with self.subTest(columns=columns):
                text = on_terminal(self.command, columns)
                self.assertIn("\x1b[1m", text)
                plain = ESCAPE.sub("", text)
                self.assertNotIn("\x1b", plain)
                bars = [line for line in plain.split("\n") if re.search(r"% .*\u2588", line)]
                self.assertEqual(bool(bars), columns >= 100)
                self.assertIn("To look at: " + str(self.out / "report.html"), plain)
                lines = [line for line in plain.split("\n") if str(self.out) not in line]
                self.assertLessEqual(max(map(len, lines)), min(columns, 140))
                self.assertNotIn("| ", plain)
                self.assertNotIn("`", plain)

    def test_colours_can_be_refused(self):
        text = on_terminal(self.command, 100, NO_COLOR="1")
        self.assertNotIn("\x1b", text)
        self.assertIn("\u2588", text)

    def test_view_writes_the_page_and_opens_it_where_it_can(self):
        folder = pathlib.Path(self.made.name)
        opener, opened = folder / "bin/xdg-open", folder / "opened"
        opener.parent.mkdir()
        opener.write_text(f"#!/bin/sh\nprintf %s \"$1\" > {opened}\n")
        opener.chmod(0o755)
        page = folder / "view/report.html"
        command = [BINARY, "view", str(TRACE), "--output-dir", str(page.parent)]
        path = f"{opener.parent}:{os.environ['PATH']}"
        bare = {name: value for name, value in os.environ.items()
                if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        ran = subprocess.run(command, check=True, capture_output=True, text=True,
                             env={**bare, "PATH": path})
        self.assertEqual(ran.stdout, f"{page}\n")
        self.assertTrue(page.exists())
        self.assertFalse(opened.exists())
        subprocess.run(command, check=True, capture_output=True,
                       env={**bare, "PATH": path, "DISPLAY": ":0"})
        self.assertEqual(opened.read_text(), str(page))
        ran = subprocess.run([BINARY, "view"], capture_output=True, text=True)
        self.assertIn("view needs a trace", ran.stderr)

    def view(self, *arguments):
        """The page that `view` says it made, and what it said besides."""
        bare = {name: value for name, value in os.environ.items()
                if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        return subprocess.run([BINARY, "view", *map(str, arguments)], capture_output=True, text=True,
                              env=bare)

    def test_view_of_two_traces_and_of_ranks(self):
        folder = pathlib.Path(self.made.name)
        pair = self.view(TRACE, TRACE, "--output-dir", folder / "pair")
        self.assertEqual(pair.stdout, f"{folder}/pair/comparison.html\n", pair.stderr)
        ranks = folder / "ranks"
        ranks.mkdir()
        for rank in range(2):
            event = {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "ts": 100 + rank, "dur": 50,
                     "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "args": {
                         "stream": 7, "device": 0, "correlation": 1, "dtype": "Float",
                         "Collective name": "allreduce", "In msg nelems": 1024,
                         "Out msg nelems": 1024, "Group size": 2, "Process Group Name": "0",
                         "Process Group Ranks": "[0, 1]"}}
            (ranks / f"rank{rank}.json").write_text(json.dumps({
                "distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": [event]}))
        job = self.view(ranks, "--output-dir", folder / "job")
        self.assertEqual(job.stdout, f"{folder}/job/ranks.html\n", job.stderr)
        self.assertTrue((folder / "job/ranks.html").exists())
        refused = self.view(ranks, "--platform", "H100")
        self.assertIn("--platform goes with one or two traces", refused.stderr)
        # Ranks that never communicate have no page, and the program says so.
        for rank in range(2):
            path = ranks / f"rank{rank}.json"
            path.write_text(path.read_text().replace("ncclDevKernel_AllReduce", "add"))
        silent = self.view(ranks, "--output-dir", folder / "silent")
        self.assertEqual((silent.stdout, silent.returncode), ("", 1))
        self.assertIn("there is no page", silent.stderr)

    def test_an_image_goes_into_the_file_that_is_named(self):
        image = pathlib.Path(self.made.name, "ops.png")
        command = [BINARY, "ops_summary", str(TRACE)]
        plain = subprocess.run(command, check=True, capture_output=True, text=True)
        command += ["--image", str(image)]
        drawn = subprocess.run(command, check=True, capture_output=True, text=True)
        self.assertEqual(drawn.stdout, plain.stdout)
        self.assertEqual(image.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertLess(image.stat().st_size, 150_000)
        again = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(again.returncode, 1)
        self.assertIn("is there already", again.stderr)
        called = subprocess.run(
            [BINARY, "call", "ops_summary", json.dumps({"trace": str(TRACE), "image": True})],
            check=True, capture_output=True, text=True)
        self.assertNotIn("iVBOR", called.stdout)
        self.assertIn("--image FILE", called.stderr)

    def test_without_librsvg_the_answer_stays(self):
        folder = pathlib.Path(self.made.name, "broken")
        folder.mkdir()
        (folder / "librsvg-2.so.2").write_bytes(b"")  # found first, and no library
        ran = subprocess.run(
            [BINARY, "call", "ops_summary", json.dumps({"trace": str(TRACE), "image": True})],
            check=True, capture_output=True, text=True,
            env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
        answer = json.loads(ran.stdout)
        self.assertTrue(answer["rows"])
        self.assertIn("install the package librsvg2-2", " ".join(answer["notes"]))


if __name__ == "__main__":
    unittest.main()
