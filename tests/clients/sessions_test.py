#!/usr/bin/env python3
"""The scripted sessions of examples/sessions: each does its analysis over stdio and HTTP, they all
find the same, and they say what went wrong.

    sessions_test.py      program: $JARVIS_BINARY
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm
from serving import HttpServer

BINARY = os.environ.get("JARVIS_BINARY", "")
SESSIONS = npm.SOURCE / "examples/sessions"
TRACE = npm.SOURCE / "examples/data/transformer_step.json.gz"
TOKEN = "an-only-slightly-secret-token-of-this-test"
PATIENCE_S = 60
NEEDED = {"analysis.sh": ("bash", "jq", "curl"), "analysis.py": (), "analysis.mjs": ()}
LINES = ["server", "trace", "gpu", "time", "ops", "top", "called", "from", "roof", "files"]


class SessionsTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, command, *arguments, **environment):
        environment = {**npm.environment(JARVIS=BINARY), **environment}
        return subprocess.run([*map(str, command), *map(str, arguments)], capture_output=True,
                              text=True, timeout=PATIENCE_S, cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL)

    def check(self, command, protocols=("2025-11-25",), flags=()):
        """Every way to reach the server, and every way to fail."""
        script = pathlib.Path(command[-1]).name
        for program in NEEDED[script]:
            if not shutil.which(program):
                self.skipTest(program + " is not installed")
        token_file = self.folder / "tokens"
        token_file.write_text(TOKEN + " test\n")
        token_file.chmod(0o600)
        found = []
        with HttpServer(BINARY, "serve", "--token-file", str(token_file), "--profile", "full",
                        "--allow-root", "/", "--output-root", str(self.folder)) as url:
            for protocol, flag in zip(protocols, flags or [()], strict=True):
                for place in ((), ("--http", url)):
                    with self.subTest((script, protocol, place)):
                        output = self.folder / f"out{len(found)}"
                        ran = self.run_script(command, *place, *flag, TRACE, output,
                                              JARVIS_TOKEN=TOKEN)
                        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                        found.append(self.check_answer(ran.stdout, protocol, output))
            ran = self.run_script(command, "--http", url, TRACE, JARVIS_TOKEN="wrong")
            self.assertEqual(ran.returncode, 1)
            self.assertIn("HTTP status 401", ran.stderr)
            ran = self.run_script(command, "--http", url, "/no/such.json", JARVIS_TOKEN=TOKEN)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("load_trace: [trace_not_found]", ran.stderr)
        self.assertEqual(found, [found[0]] * (2 * len(protocols)))
        self.check_failures(command, url)

    def check_answer(self, text, protocol, output):
        """The lines that do not depend on how the server was reached."""
        lines = [line.split(maxsplit=1) for line in text.splitlines()]
        self.assertEqual([name for name, _ in lines], LINES)
        said = dict(lines)
        self.assertRegex(said.pop("server"), r"^jarvis [0-9.]+, protocol " + protocol)
        self.assertEqual(said.pop("files"), f"13 categories and 23 tables in {output}")
        self.assertTrue((output / "category_data/category_manifest.json").exists())
        self.assertTrue((output / "perf_report_csvs/unified_perf_summary.csv").exists())
        self.assertEqual(said["trace"][:19], "Loaded 17350 events")
        self.assertEqual(said["top"], "aten::mm, 53.481 ms in 261 calls")
        self.assertRegex(said["from"], r"SwiGLU / Linear .*at model\.py\(151\): forward$")
        self.assertIn("on H100-SXM", said["roof"])
        return said

    def check_failures(self, command, dead_url):
        for arguments, environment, text in (
                (("/no/such.json",), {}, "load_trace: [trace_not_found]"),
                ((TRACE,), {"JARVIS": "/no/such/program"}, "analysis"),
                (("--http", dead_url, TRACE), {}, "analysis")):
            with self.subTest((command, arguments, environment)):
                ran = self.run_script(command, *arguments, **environment)
                self.assertEqual(ran.returncode, 1)
                self.assertIn(text, ran.stderr)
                self.assertNotIn("Traceback", ran.stderr)
        self.assertEqual(self.run_script(command).returncode, 2)

    def test_bash(self):
        self.check([SESSIONS / "analysis.sh"])

    def test_python(self):
        self.check([sys.executable, "-B", SESSIONS / "analysis.py"], ("2025-11-25", "2026-07-28"),
                   (("--era", "handshake"), ("--era=stateless",)))

    def test_node(self):
        try:
            with npm.scripts(SESSIONS / "analysis.mjs") as folder:
                self.check([npm.NODE_BIN / "node", folder / "analysis.mjs"])
        except npm.Unavailable as unavailable:
            self.skipTest(str(unavailable))


if __name__ == "__main__":
    if not BINARY:
        npm.skip("no program to test")
    unittest.main()
