#!/usr/bin/env python3
"""What a change of the program changes in what it writes.

freeze.py write FOLDER [--only TEXT]   runs $JARVIS_BINARY over every recording of $JARVIS_TEST_DATA:
                                       analyze of each, collectives of the folders with several ranks,
                                       compare of the pairs; writes what they write, and FOLDER/hashes.json
freeze.py diff BEFORE AFTER [--figures] which files differ, by kind of file and by recording; with
                                       --figures also the lines of text files that do
Run `write` before a change and after it; the commit says which differences it means to make. Times of
running and names of temporary folders are left out.
"""
import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

BINARY = os.environ.get("JARVIS_BINARY", "jarvis")
DATA = pathlib.Path(os.environ.get("JARVIS_TEST_DATA") or
                    pathlib.Path(__file__).resolve().parents[3] / "shared")
VOLATILE = re.compile(r'"(wall_ms|seconds|started|time|took_ms|written_at)": ?[^,}\n]+')
SKIPPED = {"run_log.jsonl"}


def jobs():
    """(name, arguments) of each run; the folder for its files is put in for OUT."""
    for folder in sorted((DATA / "traces").iterdir()):
        if not folder.is_dir() or folder.name in ("pairs", "inputs"):
            continue
        traces = sorted(folder.glob("*.json*"))
        for trace in traces:
            yield f"{folder.name}/{trace.name}", ["analyze", str(trace), "--output", "OUT"]
        if len(traces) > 2:
            yield f"{folder.name}/collectives", ["call", "collectives", json.dumps(
                {"traces": [str(trace) for trace in traces], "output_dir": "OUT"})]
    for pair in sorted((DATA / "traces" / "pairs").glob("*/")):
        before, after = sorted(pair.glob("before.json*")), sorted(pair.glob("after.json*"))
        if before and after:
            yield f"pairs/{pair.name}", ["compare", str(before[0]), str(after[0]),
                                         "--output-dir", "OUT"]


def run(folder, name, arguments):
    out = folder / name
    out.parent.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run([BINARY] + [part.replace("OUT", str(out)) for part in arguments],
                         capture_output=True, text=True, cwd=folder, timeout=900)
    out.mkdir(exist_ok=True)
    (out / "printed.txt").write_text(ran.stdout + ran.stderr)


def normalised(path, folder):
    data = path.read_bytes()
    if path.suffix in (".xlsx", ".png", ".gz"):
        return data
    text = data.decode("utf-8", "replace").replace(str(folder), "FOLDER")
    return VOLATILE.sub(r'"\1": 0', text).encode()


def write(options):
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [job for job in jobs() if options.only in job[0]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: run(folder, *job), chosen))
    hashes = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in SKIPPED and path.parent != folder:
            hashes[str(path.relative_to(folder))] = hashlib.sha256(
                normalised(path, folder)).hexdigest()
    (folder / "hashes.json").write_text(json.dumps(hashes, indent=1))
    print(f"{len(chosen)} runs, {len(hashes)} files")


def diff(options):
    before, after = pathlib.Path(options.before).resolve(), pathlib.Path(options.after).resolve()
    old = json.loads((before / "hashes.json").read_text())
    new = json.loads((after / "hashes.json").read_text())
    differ = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    kinds = collections.Counter(pathlib.PurePath(name).name for name in differ)
    print(f"{len(differ)} of {len(old.keys() | new.keys())} files differ")
    for kind, count in kinds.most_common():
        print(f"  {count:5} {kind}")
    if not options.figures:
        return 0 if not differ else 1
    for name in differ:
        if name not in old or name not in new:
            print(f"=== {name}: only {'after' if name in new else 'before'}")
            continue
        print(f"=== {name}")
        lines = [normalised(side / name, side).decode("utf-8", "replace").splitlines()
                 for side in (before, after)]
        for line in list(difflib.unified_diff(*lines, lineterm="", n=0))[2:42]:
            if line[:1] in "+-":
                print("  " + line[:300])
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    writing = commands.add_parser("write")
    writing.add_argument("folder")
    writing.add_argument("--only", default="")
    writing.set_defaults(run=write)
    comparing = commands.add_parser("diff")
    comparing.add_argument("before")
    comparing.add_argument("after")
    comparing.add_argument("--figures", action="store_true")
    comparing.set_defaults(run=diff)
    options = parser.parse_args()
    return options.run(options) or 0


if __name__ == "__main__":
    sys.exit(main())
