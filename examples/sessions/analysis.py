#!/usr/bin/env python3
"""A whole analysis in Python, without any package.

    analysis.py [--http URL] [--era handshake|stateless] TRACE [OUTPUT_DIR]

  --http URL  asks a running server (jarvis serve --http) instead of starting one
  --era       handshake (2025-11-25, default) or stateless (2026-07-28)

JARVIS names the program, JARVIS_TOKEN the server's token. The tables go to OUTPUT_DIR (default:
out/session)."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
CLIENT = {"name": "analysis.py", "version": "1"}
PATIENCE_S = 600


class Failed(Exception):
    pass


class Pipe:
    """A server of our own; one message a line."""

    def __init__(self, output):
        try:
            self.process = subprocess.Popen([os.environ.get("JARVIS", "jarvis"), "serve",
                                             "--profile", "full", "--allow-root", "/",
                                             "--output-root", str(output)],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            text=True, encoding="utf-8")
        except OSError as error:
            raise Failed(f"cannot start the server: {error}; set JARVIS") from error

    def send(self, message, headers):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Failed("the server has gone") from error
        # Between request and answer there may be notifications.
        while "id" in message and (line := self.process.stdout.readline()):
            answer = json.loads(line)
            if answer.get("id") == message["id"] and "method" not in answer:
                return answer
        if "id" in message:
            raise Failed(f"the server ended, status {self.process.wait()}")
        return None

    def close(self):
        self.process.stdin.close()  # ends the server
        self.process.wait(timeout=20)


class Http:
    """A running server; a POST a message. The answer is JSON, or a stream of events."""

    def __init__(self, url):
        self.url = url
        self.session = {}
        if token := os.environ.get("JARVIS_TOKEN"):
            self.session["Authorization"] = "Bearer " + token

    def open(self, method, body, headers):
        sent = {"Content-Type": "application/json",
                "Accept": "application/json, text/event-stream", **self.session, **headers}
        request = urllib.request.Request(self.url, body, sent, method=method)
        try:
            return urllib.request.urlopen(request, timeout=PATIENCE_S)
        except urllib.error.HTTPError as error:
            raise Failed(f"HTTP status {error.code}: {error.read(500).decode()}") from error
        except OSError as error:
            raise Failed(f"no answer from {self.url}: {error}") from error

    def send(self, message, headers):
        with self.open("POST", json.dumps(message).encode(), headers) as response:
            if session := response.headers.get("Mcp-Session-Id"):
                self.session["Mcp-Session-Id"] = session
                self.session["MCP-Protocol-Version"] = HANDSHAKE
            if response.status == 202:
                return None
            if response.headers.get_content_type() != "text/event-stream":
                return json.load(response)
            for line in response:
                if line.startswith(b"data: {"):
                    answer = json.loads(line[6:])
                    if answer.get("id") == message["id"]:
                        return answer
        raise Failed("the stream ended without an answer")

    def close(self):
        if "Mcp-Session-Id" in self.session:
            self.open("DELETE", None, {}).close()


class Conversation:
    """MCP, in either era, over either of the above."""

    def __init__(self, transport, stateless):
        self.transport = transport
        self.stateless = stateless
        self.last_id = 0
        self.server, self.protocol = self.greet()

    def greet(self):
        if self.stateless:
            found = self.ask("server/discover", {})
            if STATELESS not in found["supportedVersions"]:
                raise Failed(f"the server speaks {', '.join(found['supportedVersions'])} only")
            return found["_meta"]["io.modelcontextprotocol/serverInfo"], STATELESS
        hello = self.ask("initialize", {"protocolVersion": HANDSHAKE, "capabilities": {},
                                        "clientInfo": CLIENT})
        self.transport.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, {})
        return hello["serverInfo"], hello["protocolVersion"]

    def ask(self, method, params):
        self.last_id += 1
        headers = {}
        if self.stateless:  # every request says by itself what it is
            params = {**params, "_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": CLIENT,
                "io.modelcontextprotocol/clientCapabilities": {}}}
            headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        answer = self.transport.send({"jsonrpc": "2.0", "id": self.last_id, "method": method,
                                      "params": params}, headers)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def call(self, tool, **arguments):
        """The structured answer of a tool."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Failed(f"{tool}: {result['content'][0]['text']}")
        return result["structuredContent"]


def rows_of(answer):
    return [dict(zip(answer["columns"], row)) for row in answer["rows"]]


def say(what, text):
    print(f"{what:<7} {text}", flush=True)


def analyse(server, trace, output):
    say("server", f"{server.server['name']} {server.server['version']}, "
                  f"protocol {server.protocol}")
    loaded = server.call("load_trace", trace=trace)
    trace = loaded["trace"]
    say("trace", loaded["summary"])
    say("gpu", f"{loaded.get('device') or 'no name'}, steps: {loaded.get('steps') or 'none'}, "
               f"remarks on quality: {loaded['total']}")
    say("time", server.call("gpu_timeline", trace=trace)["summary"])
    ops = server.call("ops_summary", trace=trace, limit=5)
    say("ops", ops["summary"])
    if not ops["rows"]:
        raise Failed("there is no GPU work in this trace")
    top = rows_of(ops)[0]
    say("top", f"{top['op']}, {top['gpu_ms']} ms in {top['count']} calls")
    chains = server.call("parent_chain", trace=trace, row=top["row"])
    say("called", chains["summary"])
    first = rows_of(chains)[0]
    say("from", f"{first['module'] or first['ops']} at {(first['code'] or '?').split(' < ')[0]}")
    if top["category"] == "GEMM":
        say("roof", server.call("gemm_roofline", trace=trace, row=top["row"])["summary"])
    else:
        share = top.get("percent_of_roof")
        say("roof", f"{'unknown' if share is None else share} % of the roof")
    categories = server.call("category_filter", trace=trace, output_dir=str(output))
    report = server.call("perf_report", trace=trace, output_dir=str(output / "perf_report_csvs"))
    say("files", f"{categories['shown']} categories and {len(report['files'])} tables in {output}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", metavar="URL")
    parser.add_argument("--era", choices=["handshake", "stateless"], default="handshake")
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path, nargs="?", default="out/session")
    given = parser.parse_args()
    try:
        transport = Http(given.http) if given.http else Pipe(given.output.resolve())
        server = Conversation(transport, given.era == "stateless")
        analyse(server, str(given.trace.resolve()), given.output.resolve())
        transport.close()
    except Failed as failure:
        print(f"analysis.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
