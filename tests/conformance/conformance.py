"""The official conformance suite against a server of ours."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import npm, serving  # noqa: E402

SUITE = npm.FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
PATIENCE_S = 300

# What to run: a name, and the arguments that choose it.
RUNS = {
    "requirements 2025-11-25": ["--requirements", "2025-11-25"],
    "requirements 2026-07-28": ["--requirements", "2026-07-28"],
    "all of 2025-03-26": ["--suite", "all", "--spec-version", "2025-03-26"],
    "all of 2025-06-18": ["--suite", "all", "--spec-version", "2025-06-18"],
}
# Checks that pass, with our fixtures. They may become more: skipped checks do not fail a run, so
# fewer would go unseen.
PASSED = {"requirements 2025-11-25": 83, "requirements 2026-07-28": 196, "all of 2025-03-26": 3,
          "all of 2025-06-18": 56}
# Of the product, which has none of the fixtures: what must fail, in YAML files beside this one.
PRODUCT_RUNS = {"requirements 2025-11-25": "product-2025-11-25.yml",
                "requirements 2026-07-28": "product-2026-07-28.yml"}


class Outcome:
    def __init__(self, name, code, text, folder):
        self.name, self.code, self.text = name, code, text
        self.passed, self.failed, self.scenarios = 0, [], 0
        for path in sorted(pathlib.Path(folder).rglob("checks.json")):
            self.scenarios += 1
            for check in json.loads(path.read_text()):
                self.passed += check["status"] == "SUCCESS"
                if check["status"] == "FAILURE":
                    self.failed.append((path.parent.name, check["id"], check.get("errorMessage")))

    def line(self):
        return "%-26s %3d scenarios  %4d passed  %3d failed" % (
            self.name, self.scenarios, self.passed, len(self.failed))


def run(url, name, baseline=None):
    url = url.replace("127.0.0.1", "localhost")  # one scenario wants that name
    with tempfile.TemporaryDirectory() as folder:
        command = ["node", str(SUITE), "server", "--url", url, *RUNS[name], "-o", folder]
        if baseline:
            command += ["--expected-failures", str(HERE / baseline)]
        ran = subprocess.run(command, env=npm.environment(), capture_output=True, text=True,
                             timeout=PATIENCE_S, stdin=subprocess.DEVNULL, check=False)
        return Outcome(name, ran.returncode, ran.stdout + ran.stderr, folder)


def run_fixture(rounds=1):
    """Every set against the server with the fixtures."""
    outcomes = []
    with serving.HttpServer(os.environ["HTTP_FIXTURE_BINARY"]) as url:
        for _ in range(rounds):
            outcomes += [run(url, name) for name in RUNS]
    return outcomes


def run_product():
    with serving.HttpServer(os.environ["JARVIS_BINARY"], "serve") as url:
        return [run(url, name, baseline) for name, baseline in PRODUCT_RUNS.items()]
