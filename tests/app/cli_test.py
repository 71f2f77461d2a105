#!/usr/bin/env python3
"""The commands of the program: exit codes, help, flags made from the schemas.

    cli_test.py [BINARY]      default: $JARVIS_BINARY
"""

import json
import os
import pathlib
import subprocess
import tempfile
import sys
import tempfile
import unittest

BINARY = os.environ.get("JARVIS_BINARY", "")


def run(*arguments, stdin=""):
    return subprocess.run([BINARY, *arguments], input=stdin, capture_output=True, text=True,
                          timeout=60)


def tools():
    line = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    return json.loads(run("serve", stdin=line).stdout)["result"]["tools"]


class CliTest(unittest.TestCase):
    def test_a_file_beyond_the_limit_of_its_size_is_an_error(self):
        trace = pathlib.Path(__file__).parents[2] / "examples/data/transformer_step.json.gz"
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run(
                ["bash", "-c", 'ulimit -f 1; exec "$@"', "_", BINARY, "perf_report", str(trace),
                 "--output-dir", folder], capture_output=True, text=True, timeout=60)
            self.assertEqual(ran.returncode, 1, ran)
            self.assertIn("File too large", ran.stderr)
            left = [name for name in os.listdir(folder) if name.endswith(".tmp")]
            self.assertEqual(left, [])

    def test_a_large_trace_is_kept_for_the_next_command(self):
        event = ('{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":1,"tid":1,"ts":%d,"dur":5,'
                 '"args":{"External id":%d,"pad":"%s"}},')
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "large.json")
            with open(trace, "w") as out:
                out.write('{"traceEvents":[')
                for i in range(9000):
                    out.write(event % (i % 7, 10 * i, i, "x" * 4000))
                out.write('{"ph":"i","name":"end","ts":1}]}')
            cache = pathlib.Path(folder, "cache")

            def load(*words, where=str(cache)):
                ran = subprocess.run([BINARY, *words, "call", "load_trace",
                                      json.dumps({"trace": str(trace)})], capture_output=True,
                                     text=True, timeout=60, env={**os.environ, "JARVIS_CACHE": where})
                self.assertEqual(ran.returncode, 0, ran)
                return ran.stdout

            read = load(where="off")
            self.assertEqual(load("--no-cache"), read)
            self.assertFalse(cache.exists())
            self.assertEqual(load(), read)
            kept = [name for name in os.listdir(cache) if name.endswith(".trace")]
            self.assertEqual(len(kept), 1)
            self.assertEqual(load(), read)
            # Damaged: it is read again, and put right.
            path = cache / kept[0]
            good = path.read_bytes()
            path.write_bytes(good[:-5] + b"wrong")
            self.assertEqual(load(), read)
            self.assertNotEqual(path.read_bytes()[-5:], b"wrong")

    def test_usage_errors(self):
        cases = [
            ((), "no command given"),
            (("sevre",), "did you mean serve?"),
            (("lod_trace",), "did you mean load_trace?"),
            (("qqqqqqqqqqqq",), "unknown command qqqqqqqqqqqq"),
            (("serve", "x"), "serve takes no arguments"),
            (("serve", "--profile", "cor"), "did you mean core?"),
            (("serve", "--tools=load_trace,op_summary"), "did you mean ops_summary?"),
            (("serve", "--memory-limit", "8X"), "--memory-limit: expected bytes"),
            (("serve", "--cache-limit", "much"), "--cache-limit: expected bytes"),
            (("serve", "--max-trace-bytes", "0"), "--max-trace-bytes: expected bytes"),
            (("serve", "--answer-within", "soon"), "--answer-within: expected seconds"),
            (("serve", "--allow-root", "/no/such/folder"), "is no directory"),
            (("serve", "--output-root"), "--output-root needs a value"),
            (("serve", "--token-file", "x"), "need --http"),
            (("analyze", "--out", "x", "t.json"), 'take "--out"; did you mean --output-dir?'),
            (("analyze", "--out=x", "t.json"), 'take "--out=x"; did you mean --output-dir?'),
            (("compare", "--outpt=3", "a", "b"), 'take "--outpt"; did you mean --output?'),
            (("view", "--quite-another", "t.json"), 'take "--quite-another"\n'),
            (("call",), "call takes a tool"),
            (("load_trace", "--no-such-flag"), "unknown flag --no-such-flag"),
            (("load_trace", "-x"), "flags start with two dashes"),
            (("load_trace", "a", "b"), "unexpected argument: b"),
        ]
        for arguments, text in cases:
            with self.subTest(arguments):
                ran = run(*arguments)
                self.assertEqual(ran.returncode, 2)
                self.assertIn(text, ran.stderr)
                self.assertIn("--help", ran.stderr)
                self.assertEqual(ran.stdout, "")

    def test_a_call_that_does_not_fit_fails_with_one(self):
        cases = [
            (("call", "lod_trace"), "did you mean load_trace?"),
            (("call", "load_trace", "{"), "not valid JSON"),
            (("call", "load_trace", "[]"), "expected a JSON object"),
            (("call", "load_trace", '{"no_such_argument":1}'), "[unknown_argument]"),
            (("call", "load_trace"), "[bad_value]"),
            (("load_trace",), "[bad_value]"),
        ]
        for arguments, text in cases:
            with self.subTest(arguments):
                ran = run(*arguments)
                self.assertEqual(ran.returncode, 1)
                self.assertIn(text, ran.stderr)
                self.assertEqual(ran.stdout, "")

    def test_version(self):
        ran = run("--version")
        self.assertEqual(ran.returncode, 0)
        self.assertRegex(ran.stdout, r"^jarvis \d+\.\d+\.\d+\n$")

    def test_help_names_commands_and_tools(self):
        ran = run("--help")
        self.assertEqual(ran.returncode, 0)
        for word in ["serve", "call"]:
            self.assertIn(word, ran.stdout)
        for tool in tools():
            self.assertIn(tool["name"], ran.stdout)
            self.assertIn(tool["title"], ran.stdout)

    def test_every_tool_has_help(self):
        for tool in tools():
            with self.subTest(tool["name"]):
                ran = run(tool["name"], "--help")
                self.assertEqual(ran.returncode, 0)
                self.assertIn(tool["title"], ran.stdout)
                for name in tool["inputSchema"]["properties"]:
                    self.assertIn(name.replace("_", "-"), ran.stdout)

    def test_dashes_in_a_tool_name(self):
        self.assertEqual(run("load-trace", "--help").returncode, 0)

    def test_integer_flags_are_checked(self):
        checked = 0
        for tool in tools():
            properties = tool["inputSchema"]["properties"]
            if properties.get("limit", {}).get("type") != "integer":
                continue
            if tool["name"] == "compare":  # a command too, which wants its runs first
                continue
            checked += 1
            for arguments in (("--limit", "many"), ("--limit=many",)):
                ran = run(tool["name"], *arguments)
                self.assertEqual(ran.returncode, 1)
                self.assertIn("[bad_value]", ran.stderr)
            ran = run(tool["name"], "--limit")
            self.assertEqual(ran.returncode, 2)
            self.assertIn("--limit needs a value", ran.stderr)
        self.assertGreater(checked, 0)

    def test_lists_of_words(self):
        """As the users' scripts have them: words behind a flag are of its list as long as they fit."""
        with tempfile.TemporaryDirectory() as sweep:
            for threads in (256, 512):
                for channels in (28, 42):
                    rank = pathlib.Path(sweep, "%dthread/nccl_%dchannels/torch_profiler/rank0" % (threads, channels))
                    rank.mkdir(parents=True)
                    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {}}
                    (rank / "trace.json").write_text(json.dumps({"traceEvents": [kernel]}), encoding="utf-8")
            ran = run("sweep", "gemm-variance", "--base-path", sweep + "/tracelens_analysis", "--threads", "256", "512",
                      "--channels", "28", "--ranks", "0", "1", "--top-k", "5", "--output-dir", sweep + "/out", "--json")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("256thread_28ch", ran.stdout)
            self.assertNotIn("42ch", ran.stdout)
            table = "/tracelens_analysis/top5_gemm_kernels_time_variance.csv"
            for pasted in (("gemm-variance", "--input-csv", sweep + table, "--base-path", sweep),
                           ("plots", "--csv-path", sweep + table, "--output-dir", sweep + "/tracelens_analysis/plots"),
                           ("gpu-timeline", "--sweep-dir", sweep),
                           ("compare", "--sweep1", sweep, "--sweep2", sweep, "--label1", "Base ROCm", "--label2", "ROCm 7.0",
                            "--output", sweep + "/pages/comparison.html")):
                ran = run("sweep", *pasted)
                self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(pathlib.Path(sweep, "tracelens_analysis/plots/variance_by_threads_boxplot.png").is_file())
            self.assertTrue(pathlib.Path(sweep, "pages/comparison.html").is_file())
            pathlib.Path(sweep, "top5.csv").write_text("kernel_name\ngemm_a\n", encoding="utf-8")
            ran = run("sweep", "rocprof-yaml", "--input-csv", sweep + "/top5.csv", "--output-yaml", sweep + "/top5.yaml")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(pathlib.Path(sweep, "top5.yaml").is_file())
            ran = run("sweep", "compare", sweep, "--output", sweep + "/page.txt")
            self.assertEqual(ran.returncode, 1)
            self.assertIn("file_name", ran.stderr)
            ran = run("sweep", "gemm-variance", sweep, "--threads", "256")
            self.assertEqual(ran.returncode, 2)
            self.assertIn("--threads", ran.stderr)
            ran = run("sweep", "gemm-variance", sweep, "--ranks", "0", "one")
            self.assertEqual(ran.returncode, 2)
            self.assertIn("one", ran.stderr)

    def test_objects_as_json(self):
        """What a tool takes as objects is JSON on the command line, one or a list, beside words."""
        trace = str(pathlib.Path(__file__).parents[2] / "examples/data/transformer_step.json.gz")
        change = '{"category": "GEMM", "factor": 0.5}'
        for given in ((change,), ("[%s]" % change,), (change, '{"graph": true}'), (change, "op1*0.5")):
            ran = run("what_if", trace, "--changes", *given, "--json")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            rows = json.loads(ran.stdout)["rows"]
            self.assertEqual(len(rows), len(given))
            self.assertIn("GEMM", rows[0][0])
        ran = run("what_if", trace, "--changes", '{"category": "GEMM",')
        self.assertEqual(ran.returncode, 2)
        self.assertIn("changes", ran.stderr)
        self.assertIn("objects as JSON in quotes", " ".join(run("what_if", "--help").stdout.split()))

    def test_a_tool_that_says_no(self):
        for arguments in (("load_trace", "/no/such/trace.json"),
                          ("load_trace", "/no/such/trace.json", "--json")):
            with self.subTest(arguments):
                ran = run(*arguments)
                self.assertEqual(ran.returncode, 1)
                self.assertEqual(ran.stdout, "")
                self.assertIn("[", ran.stderr)

    def test_arguments_from_stdin(self):
        ran = run("call", "load_trace", "-", stdin='{"no_such_argument":1}')
        self.assertEqual(ran.returncode, 1)
        self.assertIn("[unknown_argument]", ran.stderr)

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            ran = subprocess.run([BINARY, "--version"], stdout=full, stderr=subprocess.DEVNULL,
                                 timeout=60)
        self.assertEqual(ran.returncode, 1)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BINARY = sys.argv.pop(1)
    if not BINARY:
        print("no program to test")
        sys.exit(77)
    unittest.main()
