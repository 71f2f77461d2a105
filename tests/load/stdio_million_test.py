#!/usr/bin/env python3
"""Messages of every kind through jarvis serve, each answer checked (see stdio_million.cpp), and that
the check itself notices answers that are lost, changed or made up."""

import os
import pathlib
import subprocess
import tempfile

from load_support import is_sanitized, main, program, run_program

# A sed script that does something to the 20th refusal of an unknown method: an answer that is always
# owed (the one to a cancelled call may be missing, and a notification may come twice).
TO_ONE_ANSWER = r"/-32601/{x;s/^/./;/^.\{20\}$/{x;%s;x};x}"
# What a broken server would do: a sed script over its output.
BREAKAGES = [TO_ONE_ANSWER % "d", TO_ONE_ANSWER % "p", "s/-32601/-32600/",
             "s/\"isError\":true/\"isError\":false/", "s/protocolVersion\":\"2025-06-18/protocolVersion\":\"2025-11-25/",
             "s/\"resultType\":\"complete\",//", "s/\"id\":\"/\"id\":\"x/"]


def notices(checker, jarvis, breakage):
    """Does the check fail when the output is changed like this?"""
    with tempfile.TemporaryDirectory() as folder:
        broken = pathlib.Path(folder, "broken")
        broken.write_text("#!/bin/sh\n'%s' \"$@\" | sed -u '%s'\n" % (jarvis, breakage))
        broken.chmod(0o755)
        done = subprocess.run([checker, str(broken), "--messages", "2000", "--patience-s", "2",
                               "--exit-s", "60"], capture_output=True, text=True, timeout=120)
    return done.returncode == 1


# glibc keeps a block of many megabytes that was freed once for the next one; then the size of a
# process says little about what it uses. With this it gives each large block back.
EXACT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "262144"}


def measure(messages=10000, seed=1, exit_s=60.0):
    jarvis, checker = program("JARVIS_BINARY"), program("STDIO_MILLION_BINARY")
    growth = 0 if is_sanitized(jarvis) else 4
    found = run_program(checker, jarvis, "--messages", messages, "--seed", seed, "--exit-s", exit_s,
                        "--rss-growth-mb", growth, more_env=EXACT_MEMORY)
    assert found["answers"] > messages / 2, found
    return found


def test_breakages():
    jarvis, checker = program("JARVIS_BINARY"), program("STDIO_MILLION_BINARY")
    for breakage in BREAKAGES:
        assert notices(checker, jarvis, breakage), "not noticed: " + breakage
    print("%-24s %d" % ("breakages_noticed", len(BREAKAGES)))


if __name__ == "__main__":
    main(measure, {"messages": 10000, "seed": int(os.environ.get("JARVIS_SEED", "1")),
                   "exit_s": 60.0})
    test_breakages()
