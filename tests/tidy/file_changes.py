#!/usr/bin/env python3
"""Every place of src/ that makes, replaces, changes or removes files is in the table of
docs/hardening.md, with why it can only touch what is ours; and the table names no other. Prints
each difference and exits 1 if there is one. Standard library only.

    file_changes.py [--list]      --list: what there is, as the first two columns of the table"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
TABLE = "docs/hardening.md"
HEAD = "| place | calls |"

# By a file's ending: what changes files. The first group that matched is the name of the call.
CALLS = {
    "cpp": (r"(?<![\w.>])(?:::)?(unlink|unlinkat|renameat|renameat2|rmdir|mkdir|mkdirat|mkfifo|mkfifoat|mknod|mknodat"
            r"|mkstemp|mkostemp|mkdtemp|linkat|symlink|symlinkat|ftruncate|fallocate|posix_fallocate|copy_file_range"
            r"|chmod|fchmod|fchmodat|chown|fchown|fchownat|creat|fopen|freopen|tmpfile|futimens|utimensat)\s*\(",
            # Words that others use as well.
            r"(?<!\w)(?:::|std::)(rename|remove|link|truncate)\s*\(",
            r"\b(O_CREAT|O_TRUNC|O_TMPFILE|O_WRONLY|O_RDWR|O_APPEND)\b",
            r"\b(?:filesystem|fs)::(remove\w*|rename|copy\w*|create_\w+|resize_file|permissions|last_write_time)\b",
            r"\b(ofstream|fstream|sqlite3_open\w*|zip_open)\b",
            # Ours, which replace what they are given the name of.
            r"(?<!Status )(?<!TemporaryFile )\b(WriteFileAtomically|WriteFileAt|WriteGivenFile"
            r"|TemporaryFile::(?:Beside|Stream))\("),
    "py": (r"\b(open)\([^)\n]*[\"'][rb]*[wax+]",
           r"\.(write_text|write_bytes|unlink|rename|rmdir|mkdir|touch|chmod|symlink_to)\(",
           r"\b(shutil\.\w+|os\.(?:remove|rename|replace|unlink|makedirs|truncate|link)|tempfile\.\w+)",
           r"\b(ZipFile)\("),
    "sh": (r"(?:^|[;&|({]|\b(?:then|do|else)\b)\s*(rm|mv|mkdir|mkfifo|mktemp|ln|cp|tee|touch|truncate|install|dd)\s",
           r"\$\((mktemp)\b", r"(?<![<>=\d&-])(>>?)\s*[\"$/\w]"),
    "cmake": (r"(?i)\bfile\(\s*(REMOVE\w*|RENAME|MAKE_DIRECTORY|COPY\w*|WRITE|APPEND|CONFIGURE|TOUCH|INSTALL|GENERATE)\b",
              r"\b(configure_file)\(", r"-E\s+(rm|remove\w*|copy\w*|rename|make_directory|touch)\b"),
}
ENDINGS = {".cpp": "cpp", ".h": "cpp", ".py": "py", ".sh": "sh", ".cmake": "cmake"}


def kind_of(path):
    if path.name == "CMakeLists.txt":
        return "cmake"
    if path.suffix in ENDINGS:
        return ENDINGS[path.suffix]
    start = path.read_bytes()[:40]
    return "sh" if start.startswith(b"#!") and b"sh" in start.split(b"\n")[0] else None


def without_comments(text, kind):
    if kind == "cpp":
        return re.sub(r"//[^\n]*", "", text)
    return re.sub(r"(?m)(^|\s)#[^\n]*", "", text)


def found():
    calls = {}
    for path in sorted((ROOT / "src").rglob("*")):
        kind = kind_of(path) if path.is_file() else None
        if kind is None or "__pycache__" in path.parts:
            continue
        text = without_comments(path.read_text(errors="replace"), kind)
        names = {match[1] for pattern in CALLS[kind] for match in re.finditer(pattern, text, re.M)}
        if names:
            calls[str(path.relative_to(ROOT))] = names
    return calls


def written():
    calls = {}
    lines = (ROOT / TABLE).read_text().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(HEAD)), None)
    for line in lines[start + 2:] if start is not None else []:
        if not line.startswith("|"):
            break
        place, names, touched, why = (cell.strip() for cell in line.strip("|").split(" | "))
        if not touched or not why:
            print(f"{TABLE}: {place}: says neither what it touches nor why")
        calls[place.strip("`")] = set(re.findall(r"`([^`]+)`", names))
    return calls


def main():
    there = found()
    if "--list" in sys.argv[1:]:
        for place, names in there.items():
            print(f"| `{place}` | {', '.join(f'`{name}`' for name in sorted(names))} |")
        return 0
    table = written()
    differences = []
    for place in sorted(there.keys() | table.keys()):
        for name in sorted(there.get(place, set()) - table.get(place, set())):
            differences.append(f"{place}: {name} is not in the table of {TABLE}: why can it only "
                               "touch what is ours?")
        for name in sorted(table.get(place, set()) - there.get(place, set())):
            differences.append(f"{TABLE}: {place} has no {name} any more")
    print(*differences, sep="\n", end="\n" if differences else "")
    print(f"file_changes: {len(there)} places, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
