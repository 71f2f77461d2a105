#!/usr/bin/env python3
"""What a client sees of the tools: the list, word for word, its size, and that every structured
answer fits the schema that its tool promises.

    UPDATE_GOLDEN=1 tools_test.py     rewrites tools_list.json
"""

import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

GOLDEN = pathlib.Path(__file__).parent / "tools_list.json"
BYTES_PER_TOKEN = 3.5
TOOL_TOKENS_MAX = 300
# Tools that may be larger, each with its reason.
LARGE_TOOLS = {
    "ops_summary": 310,  # every way to narrow an answer is a question less
    "compare": 340,  # two traces, two GPUs, and where the files go
    "gemm_roofline": 420,  # three ways to name a product; two of them need no trace
    "perf_report": 680,  # the options of two reports that it reproduces, name by name
}
ALL_TOKENS_MAX = 4000
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

    def test_list_is_small(self):
        total = 0
        for tool in self.tools:
            size = len(json.dumps(shown_to_a_model(tool), ensure_ascii=False,
                                  separators=(",", ":")).encode()) / BYTES_PER_TOKEN
            with self.subTest(tool["name"], tokens=round(size)):
                self.assertLessEqual(size, LARGE_TOOLS.get(tool["name"], TOOL_TOKENS_MAX))
            total += size
        self.assertLessEqual(total, ALL_TOKENS_MAX)

    def test_schemas_say_what_they_are(self):
        for tool in self.tools:
            with self.subTest(tool["name"]):
                self.assertIs(tool["inputSchema"]["additionalProperties"], False)
                self.assertIn("readOnlyHint", tool["annotations"])
                for name, part in tool["inputSchema"]["properties"].items():
                    self.assertTrue(part.get("description"), name)
                    if "default" in part:
                        self.assertEqual(list(breaches(part["default"], part)), [])

    def calls(self, out):
        trace = str(program.EXAMPLE)
        for tool in self.tools:
            arguments = {"trace": trace}
            if tool["name"] == "compare":
                arguments = {"primary": trace, "comparison": trace}
            properties = tool["inputSchema"]["properties"]
            if tool["name"] == "gemm_roofline":
                yield tool, {**arguments, "row": "op1", "chart": f"{out}/row.svg"}
                yield tool, {"batch_size": 4, "seq_len": 128, "d_model": 512, "d_ff": 2048}
                arguments.update({"m": 4096, "n": 4096, "k": 8192, "time_us": 391.5})
                properties = {k: v for k, v in properties.items() if k != "phase"}
            if "output_dir" in properties:
                arguments["output_dir"] = f"{out}/{tool['name']}"
            if "row" in tool["inputSchema"]["required"]:
                arguments["row"] = "op1"
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

    def test_suggested_calls_are_answered(self):
        trace = str(program.EXAMPLE)
        first = program.ask("load_trace", trace=trace)
        seen, waiting = set(), first["next"]
        while waiting:
            calls = []
            for call in waiting:
                key = json.dumps([call["tool"], call["arguments"]], sort_keys=True)
                if key in seen or call["tool"] in ("perf_report", "category_filter"):
                    continue
                seen.add(key)
                self.assertEqual(call["arguments"]["trace"], first["trace"])
                calls.append((call["tool"], {**call["arguments"], "trace": trace}))
            waiting = [call for answer in program.tool_answers(calls)
                       for call in answer.get("next", [])]
        self.assertGreaterEqual(len(seen), 4)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
