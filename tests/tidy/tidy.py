#!/usr/bin/env python3
"""Holds the tree to the rules that a compiler does not check. Prints each breach as
file:line: what, and exits 1 if there is one. Standard library only."""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))

LINES_MAX = 600
# Files that may be longer, each with its reason.
LONG_FILES = {
    "LICENSE": "not ours to cut",
    "src/perf/prelude.lua": "one chunk, as its words are its locals",
    "tests/clients/package-lock.json": "made by npm",
    "docs/ops.md": "made by docs/make_ops.py, a line a model and a line an op",
    "docs/rules.md": "made by findings_test, a section a fix",
    "docs/tools.md": "made by docs/make_tools.py, a line an argument",
}

# Third-party headers: a pattern of the header, and where it may be included.
HEADERS = [
    (r"simdjson\.h", ("src/base/dom_parse.h", "src/trace/", "src/perf/", "src/rocprof/read/", "src/rocprof/job/",
                     "src/launch/", "src/ledger/kinds/", "src/levers/", "tests/bench/")),
    (r"lua\.hpp", ("src/perf/sandbox.h",)),
    (r"zlib\.h", ("examples/", "tests/")),
    (r"isa-l/.*", ("src/io/",)),
    (r"archive(_entry)?\.h", ("src/io/archive_library.h", "tests/io/")),
    (r"locale\.h", ("src/io/archive_reader.cpp",)),
    (r"zip\.h", ("src/replay/package.cpp", "src/table/xlsx_reader.cpp", "tests/tools/",
                "tests/table/")),
    (r"pugixml\.hpp", ("src/table/xlsx_reader.cpp",)),
    (r"pcre2\.h", ("src/base/regex.cpp",)),
    (r"sqlite3\.h", ("src/io/sqlite_file.cpp", "src/query/", "tests/query/",
                    "tests/bench/recording_floor.cpp")),
    (r"nlohmann/.*", ("src/json/json_text.cpp", "tests/json/")),
    (r"httplib\.h", ("src/rpc/http_writer.cpp",)),
    (r"openssl/.*", ("src/mcp/request_state.cpp", "src/output/html_policy.cpp")),
    (r"librsvg/rsvg\.h", ("src/output/png.cpp",)),
    (r"doctest/.*|doctest\.h", ("tests/",)),
    (r"tl/expected\.hpp", ("src/base/result.h",)),
    (r"xxhash\.h", ("src/base/", "src/io/")),
    (r"fmt/.*", ("src/", "tests/")),
]
# A .cpp of src/ implements the header of its name. These implement another one: a pattern of the
# file, the header that must name it, and why.
OF_OTHER_HEADERS = [
    (r"src/app/\w+\.cpp", "src/app/commands.h", "the commands are declared together"),
    (r"src/json/json_\w+\.cpp", "src/json/json.h", "a part of the class Json"),
    (r"src/perf/sandbox_\w+\.cpp", "src/perf/sandbox.h", "a part of the class Sandbox"),
    (r"src/query/catalogue_events\.cpp", "src/query/catalogue_parts.h", "the parts of a catalogue"),
    (r"src/analysis/frames/(one_time|unrecorded_head)\.cpp", "src/analysis/frames/base_of_time.h",
     "parts of the base of time"),
    (r"src/ledger/books/(gpu_book|host_book|idle_time)\.cpp", "src/ledger/books/books.h", "one book each"),
    (r"src/mcp/connection_\w+\.cpp", "src/mcp/connection.h", "a part of the class Connection"),
]
# Numbers with an exponent ("1.44e+03") are for data, never for sentences: ThreeDigits of
# base/number_text.h is for those. Where a format with an exponent may stand, each with its reason.
EXPONENTS = re.compile(r"\{\w*:[-+ #0<>^]*[\d.]*[gGeE]\}")
MICROSECONDS = re.compile(r'"[^"]*[}0-9] us\\b[^"]*"')
MAY_HAVE_EXPONENTS = {
    "src/page/script_text.cpp": "numbers for scripts",
    "src/page/work_tree.cpp": "numbers for scripts",
    "src/formats/perfetto_tracks.cpp": "JSON",
    "src/output/chart_axis.cpp": "labels of axes, where plain text has no room",
    "src/output/number_format.cpp": "rounds, and prints nothing",
    "src/sweep/draw/page_parts.cpp": "cells of tables with counters of any size",
}
# Headers that the build makes.
MADE = re.compile(r"levers/ids\.h|phrases/ids/\w+\.h")
# Of the operating system.
SYSTEM_HEADERS = re.compile(
    r"(sys|netinet|arpa|linux)/\w+\.h|(unistd|fcntl|poll|signal|pthread|spawn|netdb|sched|malloc"
    r"|dirent|dlfcn|elf|link|getopt|execinfo|immintrin|emmintrin|tmmintrin|nmmintrin|wmmintrin|arm_neon)\.h")

CODE = {".h", ".cpp", ".py", ".md", ".cmake", ".txt", ".sh", ".json", ".yml", ".yaml", ""}
# Bytes in these are data, in the form someone else gave them.
DATA_FOLDERS = re.compile(r"(^|/)(data|golden|corpus|expected|transcripts)/")

PRINTS = re.compile(r"\bstd::cout\b|(?<![\w.])(?:std::)?(?:printf|puts|putchar)\s*\("
                    r"|\bfmt::print\s*\((?!\s*(?:stderr|\w*file))")
MAY_PRINT = re.compile(r"src/(app/|rpc/stdio)")

# In pieces, so that this file does not break its own rules.
LEFT_OVER = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|XX" + r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~$}-])/(" + "wo" + "rk|ho" + "me|Us" + r"ers)/\w")
REGISTRIES = re.compile("|".join(
    re.escape(".".join(host)) for host in (
        ("pypi", "org"), ("pythonhosted", "org"), ("registry", "npmjs", "org"),
        ("crates", "io"), ("proxy", "golang", "org"), ("deb", "debian", "org"),
        ("conda", "anaconda", "org"), ("docker", "io"), ("ghcr", "io"), ("quay", "io"))))

breaches = []


def breach(path, line, what):
    breaches.append(f"{path}:{line}: {what}")


def tracked_files():
    try:
        listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT,
                                check=True, capture_output=True).stdout.decode().split("\0")
        names = [name for name in listed if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [f for f in folders
                          if not f.startswith("build") and f not in (".git", "out", "__pycache__")]
            names += [str(pathlib.Path(folder, f).relative_to(ROOT)) for f in files]
    return sorted(names)


class Layers:
    """The folders of src/layers.txt, and what each file of src/ includes of ours."""

    def __init__(self, names):
        self.uses = {}
        for line in (ROOT / "src/layers.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                layer, _, uses = line.partition(":")
                for used in uses.split():
                    if used not in self.uses:
                        breach("src/layers.txt", 1, f"{layer} uses {used}, which has no line above its own")
                self.uses[layer] = set(uses.split())
        self.used = {layer: set() for layer in self.uses}
        self.includes = {}
        for name in names:
            if name.startswith("src/") and name.endswith((".h", ".cpp")):
                text = (ROOT / name).read_text(errors="replace")
                self.includes[name.removeprefix("src/")] = re.findall(
                    r'^\s*#\s*include\s+"([^"]+)"', text, re.M)

    def of(self, path):
        """Of a path below src/; None: it is in no layer."""
        folder = path.rpartition("/")[0]
        return folder if folder in self.uses else None

    def chains(self, path):
        """The shortest chain of includes to the first file of each other layer."""
        chain_to = {path: [path]}
        chain_of = {}
        queue = [path]
        for at in queue:
            for target in self.includes.get(at, ()):
                if target in chain_to:
                    continue
                chain_to[target] = chain_to[at] + [target]
                queue.append(target)
                if self.of(target) != self.of(path):
                    chain_of.setdefault(self.of(target), chain_to[target])
        return chain_of

    def check_needless(self):
        for layer, uses in self.uses.items():
            for needless in sorted(uses - self.used[layer]):
                breach("src/layers.txt", 1, f"{layer} does not need {needless}")


def check_header_name(name, line, header):
    for pattern, places in HEADERS:
        if re.fullmatch(pattern, header):
            if not name.startswith(places or ("\0",)):
                where = ", ".join(places) if places else "nowhere"
                breach(name, line, f"<{header}> may be included in: {where}")
            return
    if name.startswith("src/") and "." in header and not SYSTEM_HEADERS.fullmatch(header):
        breach(name, line, f"<{header}> is not in the table of headers in tests/tidy/tidy.py")


def check_includes(name, lines, layers):
    ours = name.startswith("src/")
    path = name.removeprefix("src/")
    numbers = {}
    for number, text in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', text)
        if not match:
            continue
        numbers[match[2]] = number
        if match[1] == "<":
            check_header_name(name, number, match[2])
        elif ours and match[2] not in layers.includes and not MADE.fullmatch(match[2]):
            breach(name, number, f'"{match[2]}" is no file: include by the path from src/')
    if not ours:
        return
    layer = layers.of(path)
    if layer is None:
        breach(name, 1, "its folder is not in src/layers.txt")
        return
    for reached, chain in layers.chains(path).items():
        if reached is None:
            continue
        layers.used[layer].add(reached)
        if reached not in layers.uses[layer]:
            breach(name, numbers[chain[1]],
                   f"{layer} may not reach {reached}, see src/layers.txt: {' > '.join(chain)}")


def check_own_header(name):
    """The tools of a folder are declared together in its *_tools.h; main() nowhere."""
    path = pathlib.Path(name)
    if (ROOT / path.with_suffix(".h")).exists() or name == "src/app/main.cpp":
        return
    if name.startswith("src/tools/") and (ROOT / f"tools_schema/{path.stem}.json").exists():
        return
    for pattern, header, _ in OF_OTHER_HEADERS:
        if re.fullmatch(pattern, name) and path.name in (ROOT / header).read_text():
            return
    breach(name, 1, "has no header of its name, see OF_OTHER_HEADERS in tests/tidy/tidy.py")


def check_code(name, lines):
    if name.endswith(".h") and not any(line == "#pragma once" for line in lines):
        breach(name, 1, "has no #pragma once")
    if name.startswith("src/") and not MAY_PRINT.match(name):
        for number, line in enumerate(lines, 1):
            if PRINTS.search(line.split("//")[0]):
                breach(name, number, "prints on stdout, where messages go")


def check_numbers(name, lines):
    for number, line in enumerate(lines, 1):
        if EXPONENTS.search(line) and name not in MAY_HAVE_EXPONENTS:
            breach(name, number, "formats a number with an exponent, see base/number_text.h")
        if MICROSECONDS.search(line.split("//")[0]):
            breach(name, number, "says us where a reader expects µs")


def check_text(name, text, lines):
    if len(lines) > LINES_MAX and name not in LONG_FILES and not DATA_FOLDERS.search(name):
        breach(name, len(lines), f"{len(lines)} lines, more than {LINES_MAX}")
    for number, line in enumerate(lines, 1):
        if LEFT_OVER.search(line):
            breach(name, number, "a note left over")
        if MACHINE_PATH.search(line):
            breach(name, number, "an absolute path of some machine")
        if REGISTRIES.search(line):
            breach(name, number, "the host of a package registry")
    if pathlib.Path(name).suffix not in CODE or DATA_FOLDERS.search(name):
        return
    if text and not text.endswith("\n"):
        breach(name, len(lines), "does not end with a line end")
    for number, line in enumerate(lines, 1):
        if "\r" in line:
            breach(name, number, "ends in CR LF")
        if "\t" in line:
            breach(name, number, "has a tab")
        if line.rstrip("\r") != line.rstrip("\r ").rstrip():
            breach(name, number, "has spaces at its end")


def check_schema(name, text):
    try:
        schema = json.loads(text)
    except ValueError as error:
        breach(name, 1, f"is not JSON: {error}")
        return
    if not isinstance(schema, dict) or schema.get("name") != pathlib.Path(name).stem:
        breach(name, 1, "its \"name\" is not the name of the file")


def check_links(name, text):
    # Code is no prose: fences and spans are blanked, line numbers kept.
    prose = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for match in re.finditer(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)", prose):
        target = match[1].split("#")[0]
        if not target or re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        if not (ROOT / name).parent.joinpath(target).exists():
            breach(name, prose.count("\n", 0, match.start()) + 1, f"links to {target}: not there")


def check_file(name, layers):
    data = (ROOT / name).read_bytes()
    if b"\0" in data[:4096] or name.endswith((".gz", ".png", ".xlsx")) or "/corpus/" in name:
        return
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        breach(name, 1, f"is not UTF-8: {error}")
        return
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    check_text(name, text, lines)
    if name.endswith((".h", ".cpp")):
        check_includes(name, lines, layers)
        check_code(name, lines)
    if name.startswith("src/") and name.endswith(".cpp"):
        check_own_header(name)
        check_numbers(name, lines)
    if re.fullmatch(r"tools_schema/[^/]*\.json", name):
        check_schema(name, text)
    if name.endswith(".md"):
        check_links(name, text)


def main():
    names = tracked_files()
    layers = Layers(names)
    for name in names:
        check_file(name, layers)
    layers.check_needless()
    for line in breaches:
        print(line)
    print(f"tidy: {len(names)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
