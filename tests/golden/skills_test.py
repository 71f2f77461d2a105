#!/usr/bin/env python3
"""Skills say what is: every tool, argument, value and file that one names exists, every limit that
one quotes is the program's, none is too long, and the server hands them out.

    skills_test.py      program: $JARVIS_BINARY
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

SKILLS = program.SOURCE / "skills"
SCHEMAS = program.SOURCE / "tools_schema"
BYTES_PER_TOKEN = 3.5
TOKENS_MAX = 1000
ORCHESTRATORS = {"standalone-analysis": 3000, "comparative-analysis": 3000}
# Files that tools write on request, beside those of `jarvis analyze`.
MORE_FILES = {"replay_ir.json", "replay_package.zip", "comparative_analysis_fair.md",
              "comparative_analysis_rough.md", "category_findings/norm_fwd_findings.md"}
# Words of others: PyTorch, model files, warnings of findings.
WORDS = {"channels_last", "non_blocking", "record_shapes", "scaled_dot_product_attention",
         "routing_assumed", "triton_poi_fused_add_mul_0", "memory_format"}


def schemas():
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))["inputSchema"]["properties"]
            for path in SCHEMAS.glob("*.json")}


def skills():
    found = {}
    for path in sorted(SKILLS.glob("*/SKILL.md")):
        text = path.read_text(encoding="utf-8")
        _, front, body = text.split("---\n", 2)
        members = dict(line.split(": ", 1) for line in front.splitlines())
        found[path.parent.name] = (text, members, body)
    return found


def names(member):
    return [name.strip() for name in member.strip("[]").split(",")]


# "`tool` with `trace`, `category: "gemm"` and `row`"
CALL = re.compile(r"`(\w+)` with ((?:(?:, | and |, and | or | \(or |\) ?)?`[^`]+`)+)")


class SkillsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.tools = schemas()
        cls.skills = skills()
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            subprocess.run([program.BINARY, "analyze", str(program.EXAMPLE), "--output-dir",
                            str(out)], check=True, capture_output=True, timeout=120)
            cls.files = {str(path.relative_to(out)) for path in out.rglob("*")} | MORE_FILES
        read = program.serve([("resources/read", {"uri": "jarvis://thresholds"}),
                              ("resources/list", {}), ("prompts/list", {})])
        cls.limits = {row["key"]: row["value"]
                      for row in json.loads(read[0]["contents"][0]["text"])}
        cls.resources = {one["uri"] for one in read[1]["resources"]}
        cls.prompts = {one["name"] for one in read[2]["prompts"]}

    def test_front_matter(self):
        for name, (_, members, _) in self.skills.items():
            with self.subTest(name):
                self.assertEqual(list(members), ["name", "description", "triggers", "tools"])
                self.assertEqual(members["name"], name)
                self.assertLess(len(members["description"]), 160)
                self.assertGreaterEqual(len(names(members["triggers"])), 2)

    def test_sizes(self):
        for name, (text, _, _) in self.skills.items():
            with self.subTest(name):
                tokens = math.ceil(len(text.encode()) / BYTES_PER_TOKEN)
                self.assertLessEqual(tokens, ORCHESTRATORS.get(name, TOKENS_MAX))

    def test_tools_exist(self):
        for name, (_, members, body) in self.skills.items():
            with self.subTest(name):
                for tool in names(members["tools"]):
                    self.assertIn(tool, self.tools)
                    self.assertIn(f"`{tool}`", body, "a tool of the front matter that nothing uses")

    def test_arguments_exist(self):
        calls = 0
        for name, (_, _, body) in self.skills.items():
            with self.subTest(name):
                for tool, arguments in CALL.findall(body.replace("\n", " ")):
                    if tool not in self.tools:
                        self.fail(f"no tool {tool}")
                    for argument in re.findall(r"`([^`]+)`", arguments):
                        key, _, value = argument.partition(": ")
                        self.assertIn(key, self.tools[tool], f"{tool} has no argument {key}")
                        allowed = self.tools[tool][key].get("enum")
                        if value and allowed:
                            self.assertIn(value.strip('"'), allowed)
                        calls += 1
        self.assertGreater(calls, 60)

    def test_names_exist(self):
        arguments = {key for tool in self.tools.values() for key in tool}
        known = set(self.tools) | arguments | set(self.limits) | WORDS
        for name, (_, _, body) in self.skills.items():
            with self.subTest(name):
                for code in re.findall(r"`([^`\n]+)`", body):
                    if re.fullmatch(r"[\w/]+\.(md|json|csv|zip|svg|jsonl)", code):
                        self.assertIn(code, self.files)
                    elif code.endswith("/"):
                        self.assertTrue(any(file.startswith(code) for file in self.files), code)
                    elif code.startswith("jarvis://"):
                        self.assertIn(code, self.resources)
                    elif re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", code):
                        self.assertIn(code, known)

    def test_limits_are_the_programs(self):
        quoted = 0
        for name, (_, _, body) in self.skills.items():
            with self.subTest(name):
                flat = body.replace("\n", " ")
                for match in re.finditer(r"\(?`(\w+)`\)", flat):
                    if match[1] not in self.limits:
                        continue
                    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", flat[:match.start()])
                    self.assertEqual(float(numbers[-1]), self.limits[match[1]], match[1])
                    quoted += 1
                # A percentage that no limit stands behind would be one more place to keep.
                for match in re.finditer(r"(?<![\w.])\d+(?:\.\d+)? %", flat):
                    self.assertRegex(flat[match.end():match.end() + 90], r"`\w+`", match[0])
        self.assertGreater(quoted, 30)

    def test_the_server_hands_them_out(self):
        for name, (_, _, _) in self.skills.items():
            with self.subTest(name):
                self.assertIn("jarvis://skill/" + name, self.resources)
                self.assertIn(name.replace("-", "_"), self.prompts)

    def test_no_reader_is_told_of_tools_that_it_does_not_have(self):
        for profile in ("core", "full", "sweep"):
            with program.Session(("--profile", profile)) as session:
                there = {tool["name"] for tool in session.ask("tools/list", {})["tools"]}
                for prompt in session.ask("prompts/list", {})["prompts"]:
                    reply = session.ask("prompts/get", {"name": prompt["name"]})
                    text = reply["messages"][0]["content"]["text"]
                    with self.subTest(profile, prompt=prompt["name"]):
                        named = set(re.findall(r"`(\w+)`", text)) & set(self.tools)
                        self.assertLessEqual(named, there)
                        self.assertNotIn("<!--", text)

    def test_no_scripts(self):
        for name, (text, _, _) in self.skills.items():
            with self.subTest(name):
                self.assertNotRegex(text, r"python3? |import |pip |TraceLens_")


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
