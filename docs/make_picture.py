#!/usr/bin/env python3
"""Makes docs/report.png, the picture in the README: the top of the report page of the bundled trace.

    JARVIS_BINARY=build/release/jarvis docs/make_picture.py

Needs Debian's chromium. Otherwise the standard library only."""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support import browser  # noqa: E402

TRACE = ROOT / "examples/data/transformer_step.json.gz"
WIDTH = 1080


def main():
    binary = os.environ.get("JARVIS_BINARY", ROOT / "build/release/jarvis")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "analyze", TRACE, "--output-dir", folder], check=True,
                       stdout=subprocess.DEVNULL)
        page = browser.Browser()
        try:
            page.open((pathlib.Path(folder) / "report.html").as_uri(), WIDTH)
            page.picture(ROOT / "docs/report.png", whole=False)
        finally:
            page.close()


if __name__ == "__main__":
    main()
