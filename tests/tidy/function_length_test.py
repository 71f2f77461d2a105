#!/usr/bin/env python3
"""Holds every function in src/ to at most 70 lines. Prints each breach as file:line: name and its
lines, and exits 1 if there is one. Standard library only.

No parser of C++: comments, strings and preprocessor lines are blanked, then braces are followed. A
brace outside of functions opens one if a parameter list stands before it."""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
LINES_MAX = 70
# Functions that may be longer, as file:name, each with its reason.
LONG_FUNCTIONS = {
    "src/analysis/align/tables.cpp:LcaColumns": "half of it is one lambda, whose state it makes",
    "src/perf/model_rows.cpp:ModelRows::Add": "reads a file from top to bottom, a case a member",
}

# What holds no code, in the order in which one may contain the start of another.
NO_CODE = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'  # raw strings
    r"|//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # not the marks of 1'000
    r"|^[ \t]*\#(?:\\\n|[^\n])*",
    re.S | re.M)
SCOPE = re.compile(r"(template\s*<.*>\s*)?((inline\s+)?namespace|class|struct|union|enum|extern)\b",
                   re.S)
NAME = re.compile(r"((?:[\w~]+(?:<[^()]*>)?::)*(?:operator\s*\S+?|~?\w+))\s*\(")


def blanked(text):
    return NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def functions(text):
    """(name, first line, last line) of each function that has a body."""
    code = blanked(text)
    depth = 0      # of braces inside the function, 0: outside of any
    header = 0     # where the declaration before the next brace began
    found = None
    for match in re.finditer(r"[{};]", code):
        at, brace = match.start(), match[0]
        if depth > 0:
            depth += {"{": 1, "}": -1, ";": 0}[brace]
            if depth == 0:
                if found:
                    yield (*found, code.count("\n", 0, at) + 1)
                if not inside_parameters:
                    header = at + 1
            continue
        inside_parameters = code.count("(", header, at) > code.count(")", header, at)
        if inside_parameters and brace != "{":
            continue
        if brace == "{":
            before = re.sub(r"^\s*((public|protected|private)\s*:\s*)*", "", code[header:at])
            scope = SCOPE.match(before) and "(" not in before
            if not scope:  # a function, or a value: nothing inside is a function of ours
                depth = 1
                name = NAME.search(re.sub(r"\[\[.*?\]\]", "", before))
                value = re.search(r"=\s*$", before) or inside_parameters or not name
                start = at - len(before.lstrip())
                found = None if value else (name[1], code.count("\n", 0, start) + 1)
        if not inside_parameters:
            header = at + 1


def main():
    breaches = 0
    count = 0
    seen = set()
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        file = str(path.relative_to(ROOT))
        for name, first, last in functions(path.read_text()):
            count += 1
            lines = last - first + 1
            if lines <= LINES_MAX:
                continue
            seen.add(f"{file}:{name}")
            if f"{file}:{name}" not in LONG_FUNCTIONS:
                breaches += 1
                print(f"{file}:{first}: {name} has {lines} lines, more than {LINES_MAX}")
    for gone in sorted(set(LONG_FUNCTIONS) - seen):
        breaches += 1
        print(f"{gone} is not longer than {LINES_MAX} lines: take it off the list")
    print(f"{count} functions, {breaches} breaches")
    # A scan that goes astray finds next to nothing.
    return 1 if breaches or count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
