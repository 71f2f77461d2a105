#!/usr/bin/env python3
"""The view that hosts of MCP Apps show beside an answer: the server tells of it only to those who
know the extension, and in Chromium, with a host that a script plays, it shows what a tool answered,
asks tools for details on a click, and takes names for names. PICTURES=FOLDER keeps screenshots."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program
from support import browser, page_checks

BINARY = os.environ.get("JARVIS_BINARY", "")
PICTURES = os.environ.get("PICTURES")
EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
WITH_VIEW = {"gpu_timeline", "ops_summary", "gemm_roofline", "prioritize", "compare", "collectives"}
BYTES_MAX = 30_000
HOSTILE = "</td><img src=x onerror=alert(1)>"

ANSWER = {"structuredContent": {
    "trace": "t_1", "summary": "Where the time goes.",
    "platform": {"mem_bw_gbps": 1555, "roof_tflops": 19.5},
    "columns": ["row", "op", "gpu_ms", "flop_per_byte", "tflops"],
    "rows": [["op1", "aten::mm", 40.5, 42.7, 12.7], ["op2", HOSTILE, 10.25, 0.1, 0.15],
             ["op3", "__proto__", None, None, None]],
    "ledger": [{"line": "idle: input", "candidate_ms": 1.5}, {"line": HOSTILE, "candidate_ms": 3}],
    "notes": ["a note"],
    "next": [{"tool": "prioritize", "arguments": {"trace": "t_1"}, "why": "what to do first"}]}}
FIRST = {"title": "Model on GPU", "run": "training, bf16", "base": ["Step: 10.0 ms.", "All `save` 5 ms."],
         "parts": [{"name": "GEMMs", "share": "60.0%", "percent": 60, "look": "gemm"},
                   {"name": HOSTILE, "share": "40.0%", "percent": 40, "look": "wait"}],
         "fixes": [{"number": "1", "path": "B", "saves": "about 3.00 ms",
                    "action": "Compile: `torch.compile(model)`.", "finding": "f1"},
                   {"number": "-", "path": "A", "saves": "", "action": HOSTILE}],
         "trust": "Trust: Only one step is recorded."}
DETAIL = {"structuredContent": {"trace": "t_1", "summary": "op1 is called from one place.",
                                "columns": ["chain", "gpu_ms"], "rows": [["c1", 40.5]]}}

# A host: an iframe with the view, answers to what it asks, a record of it.
HOST = """<!DOCTYPE html><html><head><meta charset="utf-8"><link rel="icon" href="data:,"></head>
<body><script>
const asked = []; const frame = document.createElement("iframe");
frame.style.cssText = "width: 100%; height: 860px; border: 0"; frame.srcdoc = VIEW;
const send = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", ({data: message}) => { asked.push(message);
  if (message.method === "ui/initialize") send({id: message.id, result: {
    protocolVersion: "2026-01-26", hostInfo: {name: "host", version: "1"}, hostCapabilities: {},
    hostContext: {theme: THEME}}});
  if (message.method === "ui/notifications/initialized") send({
    method: "ui/notifications/tool-result", params: ANSWER});
  if (message.method === "tools/call") send(message.params.name === "parent_chain"
    ? {id: message.id, result: DETAIL} : {id: message.id, error: {code: -32602, message: "no"}});
});
document.body.append(frame);
</script></body></html>"""


def script_text(value):
    return json.dumps(value).replace("<", "\\u003c")


def talk(*requests):
    """The results of requests to a server, in order."""
    roots = ["--allow-root", str(program.EXAMPLE.parent)]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
             for number, (method, params) in enumerate(requests)]
    ran = subprocess.run([BINARY, "serve", "--profile", "all", *roots], input="\n".join(lines) + "\n",
                         capture_output=True, text=True, check=True, timeout=60)
    answers = {message["id"]: message["result"]
               for message in map(json.loads, ran.stdout.splitlines()) if "id" in message}
    return [answers[number] for number in range(len(requests))]


def hello(**capabilities):
    return ("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities,
                           "clientInfo": {"name": "test", "version": "1"}})


class AppView(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY:
            raise unittest.SkipTest("JARVIS_BINARY is not set")
        known = {"extensions": {EXTENSION: {"mimeTypes": [MIME]}}}
        cls.greeting, cls.tools, cls.view, cls.resources = talk(
            hello(**known), ("tools/list", {}), ("resources/read", {"uri": "ui://jarvis/view.html"}),
            ("resources/list", {}))
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        if browser.CHROMIUM:
            cls.browser = browser.Browser()
            cls.addClassCleanup(cls.browser.close)

    def test_handshake(self):
        self.assertIn(EXTENSION, self.greeting["capabilities"]["extensions"])
        plain, = talk(hello())
        self.assertNotIn("extensions", plain["capabilities"])

    def test_tools_name_the_view(self):
        named = {tool["name"]: tool.get("_meta") for tool in self.tools["tools"]}
        self.assertEqual({name for name, meta in named.items() if meta}, WITH_VIEW)
        for name in WITH_VIEW:
            self.assertEqual(named[name]["ui"]["resourceUri"], "ui://jarvis/view.html")
            self.assertEqual(named[name]["ui/resourceUri"], "ui://jarvis/view.html")

    def test_view_is_a_resource(self):
        content, = self.view["contents"]
        self.assertEqual(content["mimeType"], MIME)
        self.assertEqual(content["_meta"]["ui"]["csp"], {})
        self.assertLess(len(content["text"]), BYTES_MAX)
        listed = {one["uri"]: one["mimeType"] for one in self.resources["resources"]}
        self.assertEqual(listed["ui://jarvis/view.html"], MIME)

    def test_a_host_with_views_is_told_what_comes_first(self):
        known = {"extensions": {EXTENSION: {"mimeTypes": [MIME]}}}
        for capabilities in (known, {}):
            _, answer = talk(hello(**capabilities), ("tools/call", {
                "name": "prioritize", "arguments": {"trace": str(program.EXAMPLE)}}))
            self.assertFalse(answer.get("isError"), answer)
            self.assertNotIn("jarvis/first", answer["structuredContent"])
            first = answer.get("_meta", {}).get("jarvis/first")
            if not capabilities:
                self.assertIsNone(first)
                continue
            self.assertRegex(first["title"], " on ")
            self.assertTrue(first["base"][0].startswith("Step"), first)
            self.assertAlmostEqual(sum(part["percent"] for part in first["parts"]), 100, delta=1)
            self.assertEqual([fix["number"] for fix in first["fixes"]], ["1", "2"])
            self.assertEqual(first["fixes"][0]["finding"], "f1")
            self.assertTrue(first["trust"].startswith("Trust: "))

    def open(self, width=800, theme="light", first=None):
        if not browser.CHROMIUM:
            self.skipTest("chromium is not installed")
        page = pathlib.Path(self.made.name, "host.html")
        text = HOST
        for name, value in (("VIEW", self.view["contents"][0]["text"]), ("THEME", theme),
                            ("ANSWER", {**ANSWER, "_meta": {"jarvis/first": first}} if first else ANSWER),
                            ("DETAIL", DETAIL)):
            text = text.replace(name, script_text(value), 1)
        page.write_text(text)
        self.browser.open(page.as_uri(), width, dark=theme == "dark")
        self.wait("frame.contentDocument.querySelector('.summary') !== null")

    def wait(self, condition):
        self.browser.call("Runtime.evaluate", awaitPromise=True, expression=(
            f"new Promise((done) => {{ const look = () => ({condition}) ? done() : "
            "requestAnimationFrame(look); look(); })"))

    def inside(self, expression):
        return self.browser.value(f"((document) => {expression})(frame.contentDocument)")

    def test_shows_an_answer(self):
        for theme in ("light", "dark"):
            for width in (400, 800):
                self.open(width, theme)
                page_checks.check_quiet(self, self.browser, width)
                self.assertEqual(self.inside("document.documentElement.dataset.theme"), theme)
                if PICTURES:
                    self.browser.picture(pathlib.Path(PICTURES, f"app_{width}_{theme}.png"), False)
        text = self.inside("document.body.innerText")
        for words in ("Where the time goes.", "aten::mm", "40.5", HOSTILE, "a note", "idle: input"):
            self.assertIn(words, text)
        self.assertEqual(self.inside("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.inside("document.querySelectorAll('circle').length"), 2)
        methods = self.browser.value("asked.map((message) => message.method)")
        self.assertEqual(methods[:2], ["ui/initialize", "ui/notifications/initialized"])
        # The page is told its size after the frame in which it was laid out.
        self.wait("asked.some((message) => message.method === 'ui/notifications/size-changed')")

    def test_shows_the_first_screen_above_the_answer(self):
        for width in (400, 800):
            self.open(width, first=FIRST)
            page_checks.check_quiet(self, self.browser, width)
            if PICTURES:
                self.browser.picture(pathlib.Path(PICTURES, f"app_first_{width}.png"), False)
        text = self.inside("document.querySelector('.first').innerText")
        for words in ("Model on GPU", "training, bf16", "Step: 10.0 ms.", "GEMMs 60.0%", HOSTILE,
                      "about 3.00 ms", "Trust: Only one step is recorded."):
            self.assertIn(words, text)
        self.assertEqual(self.inside("document.querySelectorAll('.first .bar rect').length"), 2)
        self.assertEqual(self.inside("document.querySelector('.fixes code').textContent"),
                         "torch.compile(model)")
        self.assertEqual(self.inside("document.querySelectorAll('img').length"), 0)
        # What it would save is asked of the tool that simulates it.
        self.inside("document.querySelector('.fixes button').click()")
        self.wait("asked.some((message) => message.method === 'tools/call')")
        call = self.browser.value("asked.find((message) => message.method === 'tools/call').params")
        self.assertEqual(call, {"name": "what_if", "arguments": {"trace": "t_1", "changes": ["f1"]}})

    def test_asks_for_details_on_a_click(self):
        self.open()
        self.inside("[...document.querySelectorAll('td button')][0].click()")
        self.wait("frame.contentDocument.querySelector('.summary').textContent.startsWith('op1')")
        call = self.browser.value("asked.find((message) => message.method === 'tools/call').params")
        self.assertEqual(call, {"name": "parent_chain", "arguments": {"trace": "t_1", "row": "op1"}})
        self.inside("[...document.querySelectorAll('main > button')][0].click()")
        self.assertIn("Where the time goes.", self.inside("document.body.innerText"))

    def test_says_when_a_tool_refuses(self):
        self.open()
        self.inside("document.querySelector('.next button').click()")
        self.wait("frame.contentDocument.querySelector('.warn') !== null")
        self.assertEqual(self.inside("document.querySelector('.warn').textContent"), "prioritize: no")

    def test_lets_itself_be_taken_down(self):
        self.open()
        self.browser.value("send({id: 'bye', method: 'ui/resource-teardown', params: {}})")
        self.wait("asked.some((message) => message.id === 'bye' && message.result)")


if __name__ == "__main__":
    unittest.main()
