#!/usr/bin/env python3
"""Hostile requests of every kind while well-behaved clients work: each gets the answer that the
protocol names, and none of the others notices. Prints how fast the others were."""

import json
import subprocess
import time

from load_support import (HANG_S, META, Server, VERSION, figures, head, is_sanitized, main, program,
                          status)

MIB = 1 << 20
GOOD = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover",
                   "params": {"_meta": META}})
LINES = ("MCP-Protocol-Version: " + VERSION, "Mcp-Method: server/discover")


def post(port, body, *lines):
    return head(port, *LINES, "Content-Length: %d" % len(body), *lines) + body


def hidden(port):
    """A good request, to be hidden in the body of a bad one."""
    return post(port, GOOD)


def chunks(size, count):
    return "%x\r\n%s\r\n" % (size, " " * size) * count


def attacks(port):
    """[(name, bytes, status, the JSON-RPC code in the body)]"""
    inner = hidden(port)
    length = "Content-Length: %d" % len(inner)
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "echo", "arguments": {"text": "x"}, "_meta": META}})
    return [
        ("oversize, announced", head(port, "Content-Length: %d" % (5 * MIB)), 413, -32600),
        ("oversize, sent", post(port, " " * (5 * MIB)), 413, -32600),
        ("oversize, chunked", head(port, "Transfer-Encoding: chunked") + chunks(65536, 80), 413,
         -32600),
        ("oversize, one chunk", head(port, "Transfer-Encoding: chunked") + "7fffffff\r\n", 413,
         -32600),
        ("oversize, tiny chunks", head(port, "Transfer-Encoding: chunked") + chunks(1, 800000), 413,
         -32600),
        ("both lengths", head(port, length, "Transfer-Encoding: chunked") + "0\r\n\r\n" + inner, 400,
         -32600),
        ("two lengths", head(port, length, "Content-Length: 0") + inner, 400, -32600),
        ("hidden behind a bad origin", head(port, length, "Origin: http://evil.example") + inner,
         403, -32600),
        ("hidden behind a bad type", head(port, length, host=True).replace(
            "application/json\r\n", "text/plain\r\n", 1) + inner, 415, -32600),
        ("hidden behind a bad path", head(port, length, path="/else") + inner, 404, None),
        ("hidden behind a bad method", head(port, length, method="PUT") + inner, 405, -32600),
        ("hidden behind no length", head(port) + inner, 411, -32600),
        ("no request line", "\x00\x01\x02\r\n\r\n", 400, -32600),
        ("another protocol", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400, -32600),
        ("line feeds", "POST /mcp HTTP/1.1\nHost: localhost\n\n\r\n\r\n", 400, -32600),
        ("a long path", head(port, path="/" + "a" * 9000), 414, -32600),
        ("a long header", head(port, "X: " + "a" * 9000), 431, -32600),
        ("many headers", head(port, *["X%d: a" % i for i in range(200)]), 431, -32600),
        ("an endless head", "GET /" + "a" * 70000, 431, -32600),
        ("an unknown coding", head(port, "Transfer-Encoding: br"), 501, -32600),
        ("no JSON", post(port, "{"), 400, -32700),
        ("no UTF-8", post(port, "\"\udcff\""), 400, -32700),
        ("deep", post(port, "[" * (4 * MIB)), 400, -32600),
        ("deep objects", post(port, '{"a":' * (800 * 1024)), 400, -32600),
        ("wide", post(port, "{%s}" % ",".join('"k%d":1' % i for i in range(100000))), 400, -32600),
        ("another era's headers", post(port, call), 400, -32020),
    ]


def attack(server, name, data, wanted, code):
    raw = server.raw()
    try:
        raw.send(data.encode("utf-8", "surrogateescape"))
    except OSError:
        pass  # the server has hung up before the end, as it may
    # Those whose connection goes on are ended by us.
    try:
        raw.socket.shutdown(1)
    except OSError:
        pass
    got = raw.rest()
    raw.close()
    # A reset may overtake the answer to somebody who sends on and on.
    if got is None and len(data) > MIB:
        return
    assert status(got) == wanted, (name, wanted, got)
    assert got.count(b"HTTP/1.1 ") == 1 and b"supportedVersions" not in got, (name, got)
    body = got.split(b"\r\n\r\n", 1)[1]
    assert (json.loads(body)["error"]["code"] if body else None) == code, (name, got)


class Lorises:
    """Clients that send a byte now and then, half of them in the head, half in the body."""

    def __init__(self, server, count):
        whole = hidden(server.port)
        self.data = whole.encode()
        self.clients = []
        for number in range(count):
            sent = 20 if number % 2 == 0 else len(whole) - len(GOOD) + 1
            self.clients.append([server.raw().send(whole[:sent]), sent])

    def crawl(self):
        for client in self.clients:
            raw, sent = client
            if sent + 1 >= len(self.data):
                continue
            try:
                raw.send(self.data[sent:sent + 1])
                client[1] += 1
            except OSError:
                pass  # cut off, as the end will show

    def end(self):
        for raw, _ in self.clients:
            got = raw.rest()
            # Bytes that were on their way when the server closed may turn its answer into a reset.
            assert got is None or status(got) == 408, got
            raw.close()
        return sum(1 for _ in self.clients)


def measure(rounds=1, lorises=10, rate=300, streams=10, request_timeout=2):
    binary = program("HTTP_LOAD_BINARY")
    limit = 64 + streams * 2 + lorises
    with Server("--max-connections", str(limit), "--request-timeout", str(request_timeout)) as server:
        seconds = max(request_timeout + 1, 2 * rounds)
        crowd = subprocess.Popen(
            [str(word) for word in (binary, "--port", server.port, "--pid", server.process.pid,
                                    "--connections", 20, "--streams", streams, "--rate", rate,
                                    "--seconds", seconds)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        slow = Lorises(server, lorises)
        attempts = 0
        began = time.monotonic()
        for _ in range(rounds):
            for each in attacks(server.port):
                attack(server, *each)
                slow.crawl()
                attempts += 1
        while time.monotonic() - began < request_timeout:
            slow.crawl()
            time.sleep(0.1)
        attempts += slow.end()
        out, err = crowd.communicate(timeout=HANG_S)
        assert crowd.returncode == 0, (crowd.returncode, out, err)
        got = figures(out)
        assert server.client().call("echo").status == 200
    return {"attacks": float(attempts), "good_calls": got["calls"], "good_errors": got["errors"],
            "good_p50_ms": got["p50_ms"], "good_p99_ms": got["p99_ms"],
            "good_max_ms": got["max_ms"], "hostile_rss_mb": got["rss_mb_during"],
            "sanitized": float(is_sanitized(server.process.args[0]))}


if __name__ == "__main__":
    main(measure, {"rounds": 1, "lorises": 10, "rate": 300, "streams": 10, "request_timeout": 2})
