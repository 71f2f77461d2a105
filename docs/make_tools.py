#!/usr/bin/env python3
"""Writes docs/tools.md, the list of all MCP tools, from tools_schema/*.json and the list of
profiles in src/tools/catalog/all_tools.cpp.

    docs/make_tools.py            writes the page
    docs/make_tools.py --check    exits 1 if the page is not what it should be

Standard library only."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "tools_schema"
LIST = ROOT / "src/tools/catalog/all_tools.cpp"
PAGE = ROOT / "docs/tools.md"
PROFILES = {"kMin": "min", "kCore": "core", "kFull": "full", "kSweep": "sweep"}

INTRO = """# Tools

Made by `docs/make_tools.py` from `tools_schema/*.json`; do not edit. The texts are those that an agent reads.
`jarvis TOOL --help` prints them too: on the command line `output_dir` is `--output-dir`.

A server shows the tools of one profile: `jarvis serve --profile min|core|full|sweep|all`. The default is `core`.
The profile `all` has every tool. `--tools A,B` shows the named tools alone.
"""


def listed():
    """name -> the names of its profiles, in the order in which an analysis goes."""
    text = LIST.read_text(encoding="utf-8")
    table = text[text.index("kBindings[] = {"):]
    table = table[:table.index("\n};")]
    rows = re.findall(r'\{"(\w+)",[^{}]*?ToolCost::\w+,\s*([\w\s|]+)', table)
    return {name: [PROFILES[one] for one in PROFILES if one in re.split(r"\W+", profiles)]
            for name, profiles in rows}


def read_schemas():
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(SCHEMAS.glob("*.json"))}


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def row_of(cells):
    return "| " + " | ".join(cells) + " |"


def kind_of(part):
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if part["type"] == "array":
        items = part["items"]["type"]
        return "list of " + (" or ".join(items) if isinstance(items, list) else items) + "s"
    return part["type"]


def argument_lines(schema):
    required = schema.get("required", [])
    lines = ["| argument | type | default | meaning |", "|---|---|---|---|"]
    for name, part in schema["properties"].items():
        default = "required" if name in required else ""
        if "default" in part:
            value = part["default"]
            default = f"`{value if isinstance(value, str) else json.dumps(value)}`"
        lines.append(row_of([f"`{name}`", kind_of(part), default, cell(part.get("description", ""))]))
    return lines


def page():
    tools = read_schemas()
    profiles = listed()
    lines = [INTRO, "| tool | what it does | profiles |", "|---|---|---|"]
    for name, where in profiles.items():
        lines.append(row_of([f"[`{name}`](#{name})", cell(tools[name]["title"]),
                             ", ".join(where)]))
    for name in profiles:
        tool = tools[name]
        lines += ["", f"## {name}", "", tool["description"], "",
                  *argument_lines(tool["inputSchema"])]
    return "\n".join(lines) + "\n"


def main():
    made = page()
    if sys.argv[1:] == ["--check"]:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == made else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
