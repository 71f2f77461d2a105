"""What the load tests share: the test server, the programs, and how their figures are read."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "http"))

from http_support import META, VERSION, Raw, Server, head, status, wait_for  # noqa: E402,F401

HANG_S = 300  # of a program that should take seconds


def program(variable):
    """A program that the build has made; without it the test is skipped."""
    path = os.environ.get(variable)
    if not path:
        print("no program to test: %s is not set" % variable)
        sys.exit(77)
    return path


def is_sanitized(path):
    """Memory and speed of such a program say nothing."""
    with open(path, "rb") as file:
        data = file.read()
    return b"__asan_init" in data or b"__tsan_init" in data


def figures(text):
    """The lines "name value" of a program."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        found[name] = value if " " in value else float(value)
    return found


def run_program(*command, more_env=None):
    """Its figures. It must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=HANG_S, env={**os.environ, **(more_env or {})})
    assert done.returncode == 0, "%s: exit code %d\n%s%s" % (
        command[0], done.returncode, done.stdout, done.stderr)
    return figures(done.stdout)


def rss_mb(pid):
    with open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1000
    raise RuntimeError("no VmRSS")


def show(found):
    for name, value in found.items():
        print("%-24s %s" % (name, value if isinstance(value, str) else "%g" % value))


def main(measure, small):
    """A script's main: measures at the small size, or with NAME=VALUE arguments at another."""
    sizes = dict(small)
    for argument in sys.argv[1:]:
        name, _, value = argument.partition("=")
        if name not in sizes:
            sys.exit("%s: give %s" % (argument, " ".join("%s=%s" % item for item in small.items())))
        sizes[name] = type(sizes[name])(value)
    show(measure(**sizes))
