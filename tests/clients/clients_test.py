#!/usr/bin/env python3
"""Client libraries and the inspector, as agents' hosts use them, against the server: every
generation and mode of the client, over stdio and HTTP, must see the same.

    clients_test.py      programs: $JARVIS_BINARY, $HTTP_FIXTURE_BINARY

Skipped where npm or its registry cannot be reached.
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm
from serving import HttpServer

BINARY = os.environ.get("JARVIS_BINARY", "")
FIXTURE = os.environ.get("HTTP_FIXTURE_BINARY", "")
TRACE = npm.SOURCE / "examples/data/transformer_step.json.gz"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
# Script, mode, and the revision that they must agree on.
CLIENTS = [("sdk_v1.mjs", None, LEGACY), ("client_v2.mjs", "legacy", LEGACY),
           ("client_v2.mjs", "auto", MODERN), ("client_v2.mjs", {"pin": MODERN}, MODERN)]
PATIENCE_S = 60


def node(folder, *arguments, **environment):
    """(exit code, stdout, stderr) of a script in `folder`."""
    ran = subprocess.run([str(npm.NODE_BIN / "node"), *map(str, arguments)], cwd=folder,
                         capture_output=True, text=True, timeout=PATIENCE_S,
                         stdin=subprocess.DEVNULL, env=npm.environment(**environment))
    return ran.returncode, ran.stdout, ran.stderr


def run_all(jobs):
    """What each job returns, by its name. Most of them wait most of the time."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = {name: pool.submit(job) for name, job in jobs.items()}
        return {name: future.result() for name, future in futures.items()}

SERVE = ["serve", "--profile", "full", "--allow-root", "/"]


class ClientsTest(unittest.TestCase):
    maxDiff = None

    def ask_all(self, places, **more):
        """What every client found, by (script, mode, kind of place). `places` has, for each kind,
        a place for each client."""
        jobs, versions = {}, {}
        for kind, of_kind in places.items():
            for (script, mode, version), place in zip(CLIENTS, of_kind, strict=True):
                task = json.dumps({**place, **more, "mode": mode})
                name = script, str(mode), kind
                versions[name] = version
                jobs[name] = lambda script=script, task=task: node(FOLDER, script, task)
        found = {}
        for name, (code, out, err) in run_all(jobs).items():
            self.assertEqual(code, 0, (name, out, err))
            found[name] = json.loads(out)
            self.assertEqual(found[name].pop("version"), versions[name], name)
        return found

    def test_fixture(self):
        expected = {
            "server": "fixture", "tools": ["echo", "slow", "stats"], "echo": {"text": "Zürich"},
            "worked": "done", "progressGrows": True, "aborted": "aborted", "timedOut": "timeout",
            "inTime": True, "unknownTool": "error -32602",
            "badArguments": "tool error: [bad_value]",
            "unknownArgument": "tool error: [unknown_argument]"}
        with contextlib.ExitStack() as stack:
            # A server each, as the counts are the server's.
            urls = [{"url": stack.enter_context(HttpServer(FIXTURE))} for client in CLIENTS]
            found = self.ask_all({"stdio": [{"command": FIXTURE, "args": []}] * len(CLIENTS),
                                  "http": urls})
        for name, outcome in found.items():
            with self.subTest(name):
                # Both calls were stopped on the server too, and nothing else was.
                self.assertEqual(outcome.pop("stats"),
                                 {"running": 0, "stopped": 2, "completed": 1})
                # No such method while there are no resources, then no such resource.
                self.assertIn(outcome.pop("unknownResource"),
                              ("error -32601", "error -32602", "error -32002"))
                self.assertEqual(outcome, expected)

    def test_program(self):
        with HttpServer(BINARY, *SERVE) as url:
            local = {"command": BINARY, "args": SERVE}
            found = self.ask_all({"stdio": [local] * len(CLIENTS),
                                  "http": [{"url": url}] * len(CLIENTS)}, trace=str(TRACE))
        first = next(iter(found.values()))
        self.assertEqual(first["server"], "jarvis")
        self.assertIn("perf_report", first["tools"])
        self.assertRegex(first["loaded"], r"^Loaded 17350 events")
        self.assertEqual(first["ops"][0][1], "aten::mm")
        self.assertIn("| op1 | aten::mm |", first["text"])
        self.assertEqual(first["noTrace"], "tool error: [trace_not_found]")
        # A picture for those who ask for one, beside the same text.
        self.assertEqual(first["images"], 0)
        self.assertEqual(first["drawnText"], first["text"])
        self.assertEqual(first["image"], ["image/png", "PNG"])
        for name, outcome in found.items():
            with self.subTest(name):
                self.assertEqual(outcome, first)

    def test_inspector(self):
        with HttpServer(BINARY, *SERVE) as url, tempfile.TemporaryDirectory() as home:
            servers = {}
            for era in ("legacy", "modern"):
                servers["stdio-" + era] = {"command": BINARY, "args": SERVE,
                                           "protocolEra": era}
                servers["http-" + era] = {"type": "streamable-http", "url": url,
                                          "protocolEra": era}
            config = pathlib.Path(home, "servers.json")
            config.write_text(json.dumps({"mcpServers": servers}))

            def inspect(server, *arguments):
                return lambda: node(
                    FOLDER, npm.FOLDER / "node_modules/.bin/mcp-inspector", "--cli", "--config",
                    config, "--server", server, *arguments, "--format", "json", HOME=home,
                    MCP_INSPECTOR_SECRET_STORE="memory")

            jobs = {}
            for server in servers:
                jobs[server, "call"] = inspect(
                    server, "--method", "tools/call", "--tool-name", "load_trace",
                    "--tool-args-json", json.dumps({"trace": str(TRACE)}))
            for server in ("stdio-legacy", "http-modern"):
                jobs[server, "list"] = inspect(server, "--method", "tools/list", "--strict")
                jobs[server, "error"] = inspect(
                    server, "--method", "tools/call", "--tool-name", "load_trace",
                    "--tool-args-json", '{"trace": "/no/such/trace"}')
            found = run_all(jobs)
        for (server, what), (code, out, err) in found.items():
            with self.subTest((server, what)):
                # 5: the tool said no. 6 would be a schema that some clients cannot use.
                self.assertEqual(code, 5 if what == "error" else 0, err)
                result = json.loads(out)["result"]
                if what == "list":
                    self.assertIn("load_trace", [tool["name"] for tool in result["tools"]])
                elif what == "call":
                    self.assertRegex(result["structuredContent"]["summary"], "17350 events")
                else:
                    self.assertIn("[trace_not_found]", result["content"][0]["text"])

    def test_apps(self):
        """A host that knows the extension for views finds the page of each tool that has one."""
        task = {"command": BINARY, "args": ["serve", "--profile", "all"]}
        code, out, err = node(FOLDER, "apps.mjs", json.dumps(task))
        self.assertEqual(code, 0, err)
        found = json.loads(out)
        view = "ui://jarvis/view.html"
        self.assertEqual(found.pop("uris"), dict.fromkeys(
            ["gpu_timeline", "ops_summary", "gemm_roofline", "prioritize", "compare", "collectives"],
            view))
        self.assertEqual(found, {"knows": True, "mimeType": "text/html;profile=mcp-app",
                                 "ui": {"csp": {}, "prefersBorder": True}, "whole": True})


if __name__ == "__main__":
    if not BINARY or not FIXTURE:
        npm.skip("no programs to test")
    try:
        with npm.scripts(*HERE.glob("*.mjs")) as FOLDER:
            unittest.main()
    except npm.Unavailable as unavailable:
        npm.skip(unavailable)
