#!/usr/bin/env python3
"""Former names of arguments: callers that have them get the answers that they would get with the
names of today, from the server and on the command line, and nothing lists them.

    argument_aliases_test.py [unittest arguments]
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

FORMER = {"compare": {"primary": "candidate", "comparison": "baseline",
                      "comparison_platform": "baseline_platform"},
          "trace_diff": {"primary": "candidate", "comparison": "baseline"},
          "perf_report": {"comparison": "baseline", "comparison_capture": "baseline_capture"}}
ALIASES = [(tool, old, new) for tool, names in FORMER.items() for old, new in names.items()]
TABLE = program.SOURCE / "src/tools/catalog/argument_aliases.cpp"


def run(*arguments):
    return subprocess.run([program.BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False)


class Aliases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        trace = {"schemaVersion": 1}
        for name, us in (("new", 260), ("base", 200)):
            trace["traceEvents"] = [
                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 10, "dur": 50, "pid": 1,
                 "tid": 1, "args": {"Input Dims": [[4096, 4096], [4096, 4096]],
                                    "Input type": ["c10::BFloat16"] * 2}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 11, "dur": 5,
                 "pid": 1, "tid": 1, "args": {"correlation": 1}},
                {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 100, "dur": us, "pid": 0,
                 "tid": 7, "args": {"stream": 7, "device": 0, "correlation": 1}}]
            (self.folder / f"{name}.json").write_text(json.dumps(trace), encoding="utf-8")
        self.new, self.base = (str(self.folder / f"{name}.json") for name in ("new", "base"))

    def arguments(self, tool):
        """Arguments by the names of today, each that has a former name among them."""
        out = str(self.folder / "out")
        return {"compare": {"candidate": self.new, "baseline": self.base, "platform": "H100",
                            "baseline_platform": "MI300X"},
                "trace_diff": {"candidate": self.new, "baseline": self.base},
                "perf_report": {"trace": self.new, "baseline": self.base, "output_dir": out,
                                "baseline_capture": self.base, "overwrite": True}}[tool]

    def flags(self, arguments, dash="-"):
        return [word for name, value in arguments.items()
                for word in ([f"--{name.replace('_', dash)}"] + ([] if value is True else [value]))]

    def called(self, tool, old):
        """Arguments where one is called as before; and all of them."""
        now = self.arguments(tool)
        for names in ({FORMER[tool][old]: old}, {new: was for was, new in FORMER[tool].items()}):
            yield {names.get(name, name): value for name, value in now.items()}

    def test_the_table_is_tested(self):
        rows = re.findall(r'\{"(\w+)", \{"(\w+)", "(\w+)"\}\}', TABLE.read_text(encoding="utf-8"))
        self.assertEqual(sorted(rows), sorted(ALIASES))

    def test_the_server_takes_each(self):
        with program.Session() as session:
            for tool, old, _ in ALIASES:
                now = session.call(tool, self.arguments(tool))
                self.assertFalse(now.get("isError"), now)
                for arguments in self.called(tool, old):
                    with self.subTest(tool, arguments=arguments):
                        self.assertEqual(session.call(tool, arguments), now)

    def test_the_command_line_takes_each(self):
        for tool, old, _ in ALIASES:
            now = run(tool, *self.flags(self.arguments(tool)), "--json")
            self.assertEqual(now.returncode, 0, now.stderr)
            for arguments in self.called(tool, old):
                for dash in "-_":
                    with self.subTest(tool, arguments=arguments, dash=dash):
                        ran = run(tool, *self.flags(arguments, dash), "--json")
                        self.assertEqual((ran.returncode, ran.stdout), (0, now.stdout), ran.stderr)
                ran = run("call", tool, json.dumps(arguments))
                self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_the_gate_takes_them(self):
        condition = ["--fail-on", "total > +5%"]
        for code, sides in ((3, (self.new, self.base)), (0, (self.base, self.new))):
            ran = run("compare", "--primary", sides[0], f"--comparison={sides[1]}",
                      "--comparison-platform", "MI300X", *condition)
            self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
            self.assertEqual(ran.stdout.splitlines()[0],
                             f"Candidate: {sides[0]}; baseline: {sides[1]}")

    def test_two_values_for_one_are_an_error(self):
        with program.Session() as session:
            for tool, old, new in ALIASES:
                arguments = self.arguments(tool)
                said = f"{new} and its former name {old} have different values"
                other = {**arguments, old: "something else"}
                with self.subTest(tool, old=old):
                    reply = session.call(tool, other)
                    self.assertTrue(reply["isError"])
                    self.assertIn(said, program.text_of(reply))
                    for words in ((tool, *self.flags(other)), ("call", tool, json.dumps(other))):
                        ran = run(*words)
                        self.assertNotEqual(ran.returncode, 0)
                        self.assertEqual(ran.stderr.count(said), 1, ran.stderr)
                    # Twice the same, or nothing under one name, is no contradiction.
                    for same in (arguments[new], None):
                        reply = session.call(tool, {**arguments, old: same})
                        self.assertFalse(reply.get("isError"), reply)
                    ran = run(tool, *self.flags({**arguments, old: arguments[new]}))
                    self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_nothing_lists_them(self):
        with program.Session() as session:
            listed = {tool["name"]: tool for tool in session.ask("tools/list", {})["tools"]}
            for tool, names in FORMER.items():
                properties = listed[tool]["inputSchema"]["properties"]
                texts = [run(tool, "--help").stdout,
                         program.text_of(session.call(tool, {"no_such": 1}))]
                for old, new in names.items():
                    self.assertNotIn(old, properties)
                    self.assertIn(new, properties)
                    for text in texts:
                        self.assertNotRegex(text, f"\\b{re.sub('_', '[-_]', old)}\\b(?!\\.)")
            shown = json.dumps([tool["inputSchema"] for tool in listed.values()])
            for _, old, _ in ALIASES:
                self.assertNotIn(f'"{old}"', shown)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
