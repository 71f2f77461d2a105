#!/usr/bin/env python3
"""Shows how far a build by ninja is, and about how long it still takes.

    ninja -C BUILD -n jarvis > PLAN
    NINJA_STATUS='@%f/%t %r ' ninja -C BUILD jarvis | build_progress.py BUILD PLAN LOG

Parts differ in cost a hundredfold, so the time that is left goes by what each has to compile, not by
their number: the bytes of its sources, and as many again for the headers that each of them reads.
Standard library only."""

import pathlib
import re
import selectors
import sys
import time

TOLD_EVERY_S = 10
HEADERS = 30_000  # bytes of our own sources that take as long as what every part includes
GENERATED = 0.1  # a table of text compiles that much faster than code
SMALL = 1_000  # a link, a copied file
STATUS = re.compile(r"@(\d+)/(\d+) (\d+) (.*)")
OBJECT = re.compile(r"Building CXX object (\S+?)(CMakeFiles/[^/]+\.dir/)(\S+)\.o$")


def source_bytes(build, where, folder, name):
    """Of an object's sources: one file, or all that are compiled as one."""
    made = build / where / folder / name
    if "Unity/" in name:
        if not made.exists():
            return 0
        parts = re.findall(r'^#include "(.*)"', made.read_text(encoding="utf-8"), re.MULTILINE)
        return sum(pathlib.Path(part).stat().st_size for part in parts if pathlib.Path(part).exists())
    for candidate in (build.parents[1] / where / name, build / where / name.split("/")[-1]):
        if candidate.exists():
            return candidate.stat().st_size
    return 0


def cost(build, description):
    found = OBJECT.search(description)
    if not found:
        return SMALL
    where, folder, name = found.groups()
    size = source_bytes(build, where, folder, name)
    return SMALL + size * GENERATED if ".gen." in name else HEADERS + size


class Progress:
    """What is done and what is left, by cost."""

    def __init__(self, build, plan):
        self.build = build
        self.left = {}  # description -> cost, in the order in which ninja begins them
        for line in plan:
            description = re.sub(r"^\[\d+/\d+\] ", "", line.strip())
            if description:
                self.left[description] = cost(build, description)
        self.done = 0.0

    def finish(self, description):
        self.done += self.left.pop(description, 0)

    def seconds_left(self, elapsed, running):
        """None while nothing is known. Parts that are being made are half done."""
        half = sum(list(self.left.values())[:running]) / 2
        done = self.done + half
        return elapsed * (sum(self.left.values()) - half) / done if done > 0 else None


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def tell(progress, made, parts, elapsed, running):
    line = f"    {made} of {parts} parts after {minutes(elapsed)} min"
    left = progress.seconds_left(elapsed, running)
    if left is not None and elapsed >= 2 * TOLD_EVERY_S and made < parts:
        line += f", about {minutes(max(30, round(left / 30) * 30))} min left"
    print(line, flush=True)


def main():
    build, plan, log = (pathlib.Path(one) for one in sys.argv[1:4])
    progress = Progress(build.resolve(), plan.read_text(encoding="utf-8", errors="replace").splitlines())
    began = told = time.monotonic()
    made = parts = running = 0
    waiting = b""
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin.buffer, selectors.EVENT_READ)
    with log.open("ab") as out:
        while True:
            if selector.select(timeout=1):
                chunk = sys.stdin.buffer.raw.read(65536)
                if not chunk:
                    break
                out.write(chunk)
                out.flush()
                *lines, waiting = (waiting + chunk).split(b"\n")
                for line in lines:
                    if status := STATUS.match(line.decode("utf-8", "replace")):
                        made, parts, running = (int(status[i]) for i in (1, 2, 3))
                        progress.finish(status[4])
            now = time.monotonic()
            if parts and now - told >= TOLD_EVERY_S:
                told = now
                tell(progress, made, parts, now - began, running)


if __name__ == "__main__":
    main()
