#!/usr/bin/env python3
"""What a client sees of the tools: the list, word for word, its size in each profile, the rules
that definitions keep, and that every structured answer fits the schema that its tool promises.

    UPDATE_GOLDEN=1 tools_test.py     rewrites tools_list.json and profiles.json
"""

import json
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
import split_test  # noqa: E402

GOLDEN = pathlib.Path(__file__).parent / "tools_list.json"
PROFILES_GOLDEN = pathlib.Path(__file__).parent / "profiles.json"
PROFILES = ("min", "core", "full", "sweep")
BYTES_PER_TOKEN = 3.5
TOOL_TOKENS_MAX = 330
# Tools that may be larger, each with its reason.
LARGE_TOOLS = {
    "perf_report": 990,  # the options of two reports that it reproduces, name by name
    "write_findings": 485,  # each of its texts is an argument, each kind of decision another
    "sweep_pipeline": 505,  # five stages of a sweep's analysis in one tool
}
# full is for scripts and report writers: every tool about traces and ranks.
ALL_TOKENS_MAX = {"min": 800, "core": 4230, "full": 7150, "sweep": 5130}
TOOLS_MAX = 25
INSTRUCTIONS_MAX = 1000
# What descriptions may name besides tools and arguments: columns and files of answers.
WORDS = {"gpu_ms", "next_cursor", "category_data", "priority_data", "tree_data", "sdpa_fwd",
         "unified_perf_summary", "ops_unique_args", "replay_ir", "replay_package", "diff_stats",
         "merged_ranks", "run_dir", "nccl_algo", "change_pct", "standalone_analysis_fair", "standalone_analysis_rough",
         # tables of query
         "gpu_work", "host_calls", "python_frames",
         # members of a change
         "host_op", "from_ms", "to_ms", "pin_copies", "remove_waits", "profiler_cost"}
# Arguments whose name says it all, or that the tool's description explains.
SELF_EVIDENT = {"m", "n", "ranks", "limit", "objective", "k", "batch", "batch_size", "seq_len", "d_model", "d_ff", "phase",
                "out_dtype", "title", "insight", "action", "identification", "reasoning",
                "resolution", "path_a", "path_b", "vendor", "config", "nproc", "workdir", "skip",
                "aggregate", "pause_s", "format", "from_ms", "to_ms"}
# Tools whose arguments another tool's definition explains.
EXPLAINED_BY = {"sweep_run": "sweep_plan"}
EXECUTES = {"sweep_run"}  # refused here; tests/sweep runs it
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
INPUT_KEYWORDS = {"type", "enum", "default", "description", "minimum", "maximum", "minLength",
                  "maxLength", "items", "minItems", "maxItems"}
ANSWER_BYTES_MAX = 7000

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def breaches(value, schema, place="$"):
    """Where a value does not fit the part of JSON Schema that the tools use."""
    known = {"type", "properties", "required", "items", "enum", "description", "minimum", "maximum",
             "minLength", "additionalProperties", "default", "title"}
    unknown = set(schema) - known
    if unknown:
        yield f"{place}: the validator does not know {sorted(unknown)}"
    types = schema.get("type")
    if types is not None:
        types = types if isinstance(types, list) else [types]
        if not any(has_type(value, name) for name in types):
            yield f"{place}: {type(value).__name__} is no {types}"
            return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is not one of {schema['enum']}"
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}: {name} is missing"
        for name, part in value.items():
            if name in properties:
                yield from breaches(part, properties[name], f"{place}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{place}: {name} is not in the schema"
    if isinstance(value, list) and "items" in schema:
        for number, part in enumerate(value):
            yield from breaches(part, schema["items"], f"{place}[{number}]")


def shown_to_a_model(tool):
    """What a model is charged for: clients do not pass output schemas on."""
    return {key: tool[key] for key in ("name", "description", "inputSchema")}


def tokens_of(value):
    return math.ceil(len(json.dumps(value, ensure_ascii=False,
                                    separators=(",", ":")).encode()) / BYTES_PER_TOKEN)


def profile_of(*flags):
    """The tools and the instructions that a client sees of a server with these flags."""
    with program.Session(flags) as session:
        tools = session.ask("tools/list", {})["tools"]
        found = session.ask("server/discover", {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}})
    return tools, found["instructions"]


def snake_words(text):
    return {word.lower() for word in re.findall(r"[A-Za-z]+(?:_[A-Za-z]+)+", text)}


class Profiles(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.profiles = {name: profile_of("--profile", name) for name in PROFILES}
        cls.every_tool = {tool["name"] for tools, _ in cls.profiles.values() for tool in tools}

    def test_profiles_are_as_agreed(self):
        seen = {}
        for name, (tools, instructions) in self.profiles.items():
            tokens = {tool["name"]: tokens_of(shown_to_a_model(tool)) for tool in tools}
            seen[name] = {"tools": tokens, "tokens": sum(tokens.values()),
                          "instructions": instructions}
        text = json.dumps(seen, indent=1, ensure_ascii=False) + "\n"
        if os.environ.get("UPDATE_GOLDEN"):
            PROFILES_GOLDEN.write_text(text, encoding="utf-8")
        self.assertEqual(PROFILES_GOLDEN.read_text(encoding="utf-8"), text,
                         "UPDATE_GOLDEN=1 accepts what clients would see now")

    def test_profiles_are_small(self):
        for name, (tools, instructions) in self.profiles.items():
            with self.subTest(name):
                self.assertLessEqual(len(tools), TOOLS_MAX)
                self.assertLessEqual(len(instructions), INSTRUCTIONS_MAX)
                self.assertLessEqual(sum(tokens_of(shown_to_a_model(tool)) for tool in tools),
                                     ALL_TOKENS_MAX[name])
            for tool in tools:
                with self.subTest(name, tool=tool["name"]):
                    self.assertLessEqual(tokens_of(shown_to_a_model(tool)),
                                         LARGE_TOOLS.get(tool["name"], TOOL_TOKENS_MAX))

    def test_core_is_what_a_server_shows_unasked(self):
        self.assertEqual(profile_of(), self.profiles["core"])

    def test_no_text_names_what_is_not_there(self):
        read_only = profile_of("--profile", "full", "--read-only")
        for name, (tools, instructions) in {**self.profiles, "read-only": read_only}.items():
            there = {tool["name"] for tool in tools}
            arguments = {argument for tool in tools
                         for argument in tool["inputSchema"]["properties"]}
            values = {str(value) for tool in tools
                      for part in tool["inputSchema"]["properties"].values()
                      for value in part.get("enum", [])}
            texts = {"instructions": instructions}
            for tool in tools:
                texts[tool["name"]] = " ".join(
                    [tool["description"]] + [part.get("description", "") for part in
                                             tool["inputSchema"]["properties"].values()])
            for place, text in texts.items():
                with self.subTest(name, place=place):
                    words = snake_words(text)
                    self.assertEqual((words & self.every_tool) - there - {place} - WORDS, set())
                    self.assertEqual(words - self.every_tool - arguments - values - WORDS, set())

    def test_definitions_keep_the_rules(self):
        for tool in self.profiles["full"][0]:
            with self.subTest(tool["name"]):
                self.assertRegex(tool["name"], r"^[a-z][a-z0-9_]{1,23}$")
                self.assertLessEqual(len(tool["description"]), 440)
                self.assertNotRegex(tool["description"], r"IMPORTANT|MUST|NEVER|!")
                self.assertTrue(tool["title"])
                for hint in HINTS:
                    self.assertIsInstance(tool["annotations"][hint], bool, hint)
                self.assertEqual(tool["annotations"]["title"], tool["title"])
                schema = tool["inputSchema"]
                self.assertLessEqual(set(schema), {"type", "properties", "required",
                                                   "additionalProperties"})
                self.assertIs(schema["additionalProperties"], False)
                for name, part in schema["properties"].items():
                    self.check_argument(tool["name"], name, part)

    def check_argument(self, tool, name, part):
        self.assertRegex(name, r"^[a-z][a-z0-9_]*$")
        self.assertLessEqual(set(part), INPUT_KEYWORDS, name)
        self.assertIn(part["type"], ("string", "integer", "number", "boolean", "array", "object"), name)
        if part["type"] == "array":
            self.assertIn(part["items"], ({"type": "string"}, {"type": ["string", "object"]}), name)
        if name not in SELF_EVIDENT and tool not in EXPLAINED_BY and name not in (
                "output_dir", "overwrite"):
            self.assertTrue(part.get("description"), name)
        self.assertLessEqual(len(part.get("description", "").split()), 12, name)
        if "default" in part:
            self.assertEqual(list(breaches(part["default"], part)), [])


def counter_file(out):
    path = pathlib.Path(out) / "7_counter_collection.csv"
    names = ("Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,Workgroup_Size,Counter_Name,Counter_Value,"
             "Start_Timestamp,End_Timestamp\n")
    path.write_text(names + "".join(f'{i},0,640,"k{i % 150}",64,"SQ_WAVES",10,{i},{i + 5}\n'
                                    for i in range(300)), encoding="utf-8")
    return path


class Tools(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.tools = program.serve([("tools/list", {})])[0]["tools"]

    def test_list_is_as_agreed(self):
        text = json.dumps(self.tools, indent=2, ensure_ascii=False) + "\n"
        if os.environ.get("UPDATE_GOLDEN"):
            GOLDEN.write_text(text, encoding="utf-8")
        self.assertTrue(GOLDEN.exists(), "UPDATE_GOLDEN=1 writes it")
        self.assertEqual(GOLDEN.read_text(encoding="utf-8"), text,
                         "UPDATE_GOLDEN=1 accepts what clients would see now")

    def runs(self, out):
        """Two runs of one rank."""
        for run in ("a", "b"):
            rank = pathlib.Path(out, run, "torch_profiler/rank0")
            rank.mkdir(parents=True)
            shutil.copy(program.EXAMPLE, rank / "trace.json.gz")
        return [f"{out}/a", f"{out}/b"]

    def sweep(self, out):
        """Two configurations of one rank."""
        for channels in (28, 42):
            rank = pathlib.Path(out, f"s/256thread/nccl_{channels}channels/torch_profiler/rank0")
            if not rank.exists():
                rank.mkdir(parents=True)
                shutil.copy(program.EXAMPLE, rank / "trace.json.gz")
        return f"{out}/s"

    def calls(self, out):
        trace = str(program.EXAMPLE)
        for tool in self.tools:
            if tool["name"] in EXECUTES:
                continue
            arguments = {"trace": trace} if "trace" in tool["inputSchema"]["properties"] else {}
            if tool["name"] == "compare":
                arguments = {"candidate": trace, "baseline": trace}
            properties = tool["inputSchema"]["properties"]
            if tool["name"] == "gemm_roofline":
                yield tool, {**arguments, "row": "op1", "chart": f"{out}/row.svg"}
                yield tool, {"batch_size": 4, "seq_len": 128, "d_model": 512, "d_ff": 2048}
                arguments.update({"m": 4096, "n": 4096, "k": 8192, "time_us": 391.5})
                properties = {k: v for k, v in properties.items() if k != "phase"}
            if "candidate" in properties:
                arguments = {"candidate": trace, "baseline": trace}
            if "traces" in properties:
                arguments = {"traces": [trace]}
            if "output_dir" in properties:
                arguments["output_dir"] = f"{out}/{tool['name']}"
            if tool["name"] == "rocprof_counters":
                arguments = {"path": str(counter_file(out)), "output_dir": arguments["output_dir"]}
            if tool["name"] == "rocprof_yaml":
                arguments = {"kernels": ["Cijk_A"], "output_dir": arguments["output_dir"]}
                properties = {k: v for k, v in properties.items() if k != "preset"}
            if tool["name"] == "gemm_kernel_decode":
                arguments = {"names": ["nvjet_tst_192x8_64x8_4x1_v_bz_TNT"] * 100, "m": 64, "n": 64,
                             "k": 64, "cu_count": 132}
            if tool["name"] == "split":
                served = pathlib.Path(out) / "served.json"
                served.write_text(json.dumps(split_test.made()))
                arguments["trace"] = str(served)
            if tool["name"] == "what_if":
                arguments["changes"] = [{"row": "op1", "factor": 0.5}] * 50
            if tool["name"] == "write_findings":
                arguments.update({"finding": "f1", "action": "Ask the owner of the module first."})
            if "row" in tool["inputSchema"].get("required", []):
                arguments["row"] = "op1"
            if tool["name"] == "run_compare":
                arguments["runs"] = self.runs(out)
            if "sweep_dir" in properties:
                arguments["sweep_dir"] = self.sweep(out)
            if tool["name"] == "sweep_compare":
                arguments["sweeps"] = [self.sweep(out)] * 8
            yield tool, arguments
            for name, part in properties.items():
                for choice in part.get("enum", []):
                    if choice != part.get("default"):
                        yield tool, {**arguments, name: choice}
            if "limit" in properties:
                yield tool, {**arguments, "limit": properties["limit"]["maximum"]}

    def test_every_answer_fits_its_schema_and_the_budget(self):
        with tempfile.TemporaryDirectory() as out:
            calls = list(self.calls(out))
            results = program.serve([("tools/call", {"name": tool["name"], "arguments": arguments})
                                     for tool, arguments in calls])
        for (tool, arguments), result in zip(calls, results):
            with self.subTest(tool["name"], **{k: v for k, v in arguments.items() if k != "trace"}):
                self.assertFalse(result.get("isError"), result.get("content"))
                structured = result["structuredContent"]
                self.assertEqual(list(breaches(structured, tool["outputSchema"])), [])
                text = "".join(part["text"] for part in result["content"] if part["type"] == "text")
                self.assertLessEqual(len(text.encode()), ANSWER_BYTES_MAX)
                line = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
                self.assertLessEqual(len(line.encode()), ANSWER_BYTES_MAX)
                for row in structured.get("rows", []):
                    self.assertEqual(len(row), len(structured["columns"]))
                for call in structured.get("next", []):
                    self.assertIn(call["tool"], [other["name"] for other in self.tools])


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
