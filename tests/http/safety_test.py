#!/usr/bin/env python3
"""What a hostile or broken client can send, byte by byte: who is let in, what is refused, and that
nothing refused is ever taken for something else."""

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

from http_support import META, Server, binary, head, run, status, wait_for

DISCOVER = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover",
                       "params": {"_meta": META}})
MODERN = ("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover")


def ask(server, *lines, body="", **more):
    """One request of its own connection; all that comes back."""
    raw = server.raw()
    raw.send(head(server.port, *lines, "Connection: close", **more) + body)
    return raw.rest()


def good(port, *lines):
    return head(port, *MODERN, "Content-Length: %d" % len(DISCOVER), *lines) + DISCOVER


def test_hosts_and_origins():
    with Server("--allow-origin", "https://tool.example", "--allow-host", "gpu.example") as server:
        port = server.port
        for host, wanted in (("127.0.0.1:%d" % port, 200), ("localhost:%d" % port, 200),
                             ("LOCALHOST", 200), ("[::1]:%d" % port, 200), ("gpu.example", 200),
                             ("gpu.example:99", 200), ("evil.example", 403),
                             ("localhost.evil.example", 403), ("127.0.0.1:1", 403),
                             ("127.0.0.1@evil.example", 400), ("", 400), ("localhost:x", 400)):
            got = ask(server, "Host: " + host, method="GET", path="/healthz", host=False)
            assert status(got) == wanted, (host, got)
        assert status(ask(server, method="GET", path="/healthz", host=False)) == 400
        twice = ask(server, "Host: localhost", method="GET", path="/healthz")
        assert status(twice) == 400
        for origin, wanted in (("http://localhost:%d" % port, 200), ("http://127.0.0.1:1", 200),
                               ("HTTPS://LOCALHOST", 200), ("https://tool.example", 200),
                               ("https://tool.example.evil", 403), ("null", 403),
                               ("http://evil.example", 403), ("http://localhost.evil.com", 403),
                               ("file://", 403), ("http://localhost@evil.com", 403)):
            for method, path in (("GET", "/healthz"), ("POST", "/mcp")):
                lines = ["Origin: " + origin]
                body = ""
                if method == "POST":
                    lines += [*MODERN, "Content-Length: %d" % len(DISCOVER)]
                    body = DISCOVER
                got = ask(server, *lines, body=body, method=method, path=path)
                assert status(got) == wanted, (origin, got)
                named = b"Access-Control-Allow-Origin: https://tool.example" in got
                assert named == (origin == "https://tool.example"), got
        preflight = ask(server, "Origin: https://tool.example", method="OPTIONS")
        assert status(preflight) == 204 and b"Access-Control-Allow-Methods" in preflight
    with Server() as server:
        assert status(ask(server, "Origin: http://localhost", method="OPTIONS")) == 405


def test_slow_heads_make_room():
    """More clients than there is room for send half a head each: who sends a whole one is answered."""
    with Server() as server:
        slow = []
        try:
            for _ in range(600):
                client = socket.create_connection(("127.0.0.1", server.port))
                slow.append(client)
                client.sendall(b"POST /mcp HTTP/1.1\r\nHost: x")
            assert wait_for(lambda: status(ask_or_nothing(server)) == 200, 10)
        finally:
            for client in slow:
                client.close()


def ask_or_nothing(server):
    try:
        return ask(server, *MODERN, "Content-Length: %d" % len(DISCOVER), body=DISCOVER)
    except OSError:
        return b"HTTP/1.1 503 \r\n\r\n"


def test_a_refused_request_hides_no_other():
    """The body of a refused request is itself a good request. It must never be answered."""
    with Server() as server:
        hidden = good(server.port)
        refused = [
            ("Origin: http://evil.example",),
            ("Transfer-Encoding: chunked",),  # beside Content-Length
            ("Content-Length: 0",),  # twice
            ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
        ]
        for lines in refused:
            raw = server.raw()
            raw.send(head(server.port, "Content-Length: %d" % len(hidden), *lines) + hidden)
            got = raw.rest()
            assert got.count(b"HTTP/1.1 ") == 1 and b"serverInfo" not in got, (lines, got)
            assert 400 <= status(got) < 500, got
        for first in (head(server.port, "Content-Length: %d" % len(hidden), path="/else"),
                      head(server.port, "Content-Length: %d" % len(hidden), method="PUT"),
                      head(server.port, "Content-Length: 99999999"),
                      head(server.port, "Content-Length: -1"),
                      head(server.port, "Content-Length: +5"),
                      head(server.port, "Content-Length: 5, 5"),
                      head(server.port, "Content-Length : 5"),
                      head(server.port, "Transfer-Encoding: gzip, chunked"),
                      head(server.port, "X: a\n b"),
                      head(server.port, "Transfer-Encoding : chunked"),
                      head(server.port, "Content-Length: 5", "\tfolded: 1"),
                      head(server.port)):
            raw = server.raw()
            raw.send(first + hidden)
            got = raw.rest()
            assert got.count(b"HTTP/1.1 ") == 1 and b"serverInfo" not in got, (first, got)
            assert 400 <= status(got) < 502, (first, got)


def test_strict_lines():
    with Server() as server:
        host = "Host: localhost\r\n"
        for text, wanted in (("GET /healthz HTTP/1.1\n" + "Host: localhost\n\n\r\n\r\n", 400),
                             ("GET  /healthz HTTP/1.1\r\n" + host + "\r\n", 400),
                             ("GET http://localhost/healthz HTTP/1.1\r\n" + host + "\r\n", 400),
                             ("GET /healthz HTTP/2.0\r\n" + host + "\r\n", 400),
                             ("GET /healthz\r\n" + host + "\r\n", 400),
                             ("GET /healthz HTTP/1.1\r\n" + host + "a\x00b: 1\r\n\r\n", 400),
                             ("GET /healthz HTTP/1.1\r\n" + host + "a: \x01\r\n\r\n", 400),
                             ("G(T /healthz HTTP/1.1\r\n" + host + "\r\n", 400),
                             ("BREW /mcp HTTP/1.1\r\n" + host + "\r\n", 405),
                             ("GET /healthz HTTP/1.0\r\n\r\n", 200),
                             ("\r\nGET /healthz HTTP/1.1\r\nConnection: x, Close\r\n" + host +
                              "\r\n", 200),
                             ("GET /nothing HTTP/1.1\r\n" + host + "\r\n", 404)):
            got = server.raw().send(text).rest()
            assert status(got) == wanted, (text, got)
        got = server.raw().send("HEAD /healthz HTTP/1.1\r\nConnection: close\r\n" + host +
                                "\r\n").rest()
        assert status(got) == 200 and got.endswith(b"\r\n\r\n"), got


def test_sizes():
    with Server("--max-body-bytes", "100000") as server:
        port = server.port
        assert status(ask(server, "X: " + "a" * 9000)) == 431
        assert status(ask(server, *["X%d: a" % i for i in range(200)])) == 431
        assert status(ask(server, method="GET", path="/" + "a" * 9000)) == 414
        assert status(server.raw().send("GET /" + "a" * 70000).rest()) == 431
        assert status(ask(server, "Content-Length: 100001")) == 413
        # Chunked bodies count every byte of the wire.
        chunk = "3e8\r\n" + " " * 1000 + "\r\n"
        small = "1\r\n \r\n"
        for body in (chunk * 101, small * 20000, "ffffffff\r\n", "186a1\r\n"):
            raw = server.raw()
            try:
                raw.send(head(port, *MODERN, "Transfer-Encoding: chunked") + body)
            except OSError:
                pass
            assert status(raw.rest()) == 413, body[:10]
        for body in ("x\r\n", "5\r\nabcdefg\r\n", "-1\r\n", "0x5\r\n", "5" * 30 + "\r\n"):
            got = server.raw().send(
                head(port, *MODERN, "Transfer-Encoding: chunked") + body + "0\r\n\r\n").rest()
            assert status(got) == 400, (body, got)
        half = len(DISCOVER) // 2
        body = "%x;ext=1\r\n%s\r\n%X\r\n%s\r\n0\r\nTrailer: 1\r\n\r\n" % (
            half, DISCOVER[:half], len(DISCOVER) - half, DISCOVER[half:])
        assert status(ask(server, *MODERN, "Transfer-Encoding: chunked", body=body)) == 200
        deep = ask(server, *MODERN, "Content-Length: 90000", body="[" * 90000)
        assert status(deep) == 400 and b"-32600" in deep


def test_slow_senders_are_cut_off():
    with Server("--request-timeout", "1", "--idle-timeout", "1") as server:
        port = server.port
        began = time.monotonic()
        slow = server.raw()
        try:
            for byte in good(port):  # would take a minute
                slow.send(byte)
                time.sleep(0.1)
                if time.monotonic() - began > 1.1:
                    break
        except OSError:
            pass
        assert status(slow.rest()) == 408
        stuck = server.raw().send(head(port, *MODERN, "Content-Length: 50") + "{")
        assert status(stuck.rest()) == 408
        idle = server.raw()
        assert idle.rest() == b""
        assert time.monotonic() - began < 6


def test_a_client_that_does_not_read_is_cut_off():
    with Server("--write-timeout", "1", "--request-timeout", "2") as server:
        baseline = server.threads()
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "echo", "arguments": {"text": "x" * 900000}, "_meta": META}})
        stuck = socket.socket()
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.connect(("127.0.0.1", server.port))
        request = head(server.port, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
                       "Mcp-Name: echo", "Content-Length: %d" % len(body)) + body
        stuck.settimeout(5)
        try:
            for _ in range(8):
                stuck.sendall(request.encode())
        except OSError:
            pass
        assert wait_for(lambda: server.threads() <= baseline + 4, 8)  # the pool's threads stay
        stuck.close()


def test_pipelined_requests_are_all_answered():
    with Server() as server:
        raw = server.raw()
        raw.send(good(server.port) * 20 + good(server.port, "Connection: close"))
        got = raw.rest()
        assert got.count(b"HTTP/1.1 200 ") == 21 and got.count(b"serverInfo") == 21
        raw = server.raw()
        for byte in good(server.port, "Connection: close"):
            raw.send(byte)
        assert status(raw.rest()) == 200


def test_expect_continue():
    with Server() as server:
        raw = server.raw()
        raw.send(head(server.port, *MODERN, "Expect: 100-continue", "Connection: close",
                      "Content-Length: %d" % len(DISCOVER)))
        assert raw.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        raw.send(DISCOVER)
        assert status(raw.rest()) == 200


def test_answers_are_never_compressed():
    with Server() as server:
        text = "y" * 900000
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "echo", "arguments": {"text": text}, "_meta": META}})
        began = time.monotonic()
        got = ask(server, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
                  "Mcp-Name: echo", "Accept-Encoding: br, gzip", "Range: bytes=0-10",
                  "Content-Length: %d" % len(body), body=body)
        assert status(got) == 200 and text.encode() in got
        assert b"Content-Encoding" not in got and time.monotonic() - began < 1.5


def test_a_full_server_says_so_and_idle_connections_make_room():
    with Server("--max-connections", "8") as server:
        streams = []
        for number in range(4):  # half of the connections may be streams that wait
            client = server.client()
            streams.append(client.stateless("subscriptions/listen", {"notifications": {}},
                                            wait=False))
            assert streams[-1].status == 200
        refused = server.client().stateless("subscriptions/listen", {"notifications": {}})
        assert refused.status == 503 and refused.headers["Retry-After"] == "1"
        # Connections that were used once and are kept: each newcomer takes the place of one.
        kept = [server.client() for _ in range(40)]
        for client in kept:
            assert client.call("echo").status == 200
        busy = []
        for _ in range(4):
            client = server.client()
            busy.append((client, client.call("slow", {"ms": 1500}, wait=False)))
        full = server.raw().send(good(server.port)).rest()
        assert status(full) == 503 and b"Retry-After: 1" in full, full
        for client, response in busy:
            response.read()
        assert server.client().call("echo").status == 200


def token_file(text, mode=0o600):
    handle = tempfile.NamedTemporaryFile("w", delete=False)
    handle.write(text)
    handle.close()
    os.chmod(handle.name, mode)
    return handle.name


def test_tokens():
    alice, bob = "alice-0123456789abcdef", "bob-0123456789abcdef"
    path = token_file("# who may come in\n\n%s alice\n%s bob\n" % (alice, bob))
    try:
        with Server("--token-file", path) as server:
            for sent, wanted in ((None, 401), ("Bearer " + alice, 200), ("bearer  " + bob, 200),
                                 ("Bearer " + alice[:-1], 401), ("Bearer " + alice + "x", 401),
                                 ("Bearer", 401), ("Bearer ", 401), ("Basic " + alice, 401),
                                 ("Bearer " + "x" * 7000, 401)):
                answer = server.client().stateless(
                    "server/discover", headers={"Authorization": sent})
                assert answer.status == wanted, (sent, answer.status)
                if wanted == 401:
                    assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert server.client().ask("GET", "/mcp?access_token=" + alice).status == 401
            assert server.client().ask("DELETE").status == 401
            assert server.client().ask("GET", "/healthz").text == "ok\n"
            mine = server.client(Authorization="Bearer " + alice)
            mine.handshake()
            session = mine.headers["Mcp-Session-Id"]
            other = server.client(**{**mine.headers, "Authorization": "Bearer " + bob})
            assert other.request("ping").status == 404  # a session is no password
            assert other.ask("DELETE").status == 404
            assert mine.request("ping").status == 200 and session
        with Server("--token-file", path, "--authorization-server", "https://login.example/a",
                    "--resource-url", "https://gpu.example/mcp") as server:
            refused = server.client().request("ping")
            where = "https://gpu.example/.well-known/oauth-protected-resource"
            assert refused.headers["WWW-Authenticate"] == 'Bearer resource_metadata="%s"' % where
            for suffix in ("", "/mcp"):
                data = server.client().ask("GET", "/.well-known/oauth-protected-resource" + suffix)
                assert data.last == {"resource": "https://gpu.example/mcp",
                                     "authorization_servers": ["https://login.example/a"],
                                     "bearer_methods_supported": ["header"]}
    finally:
        os.unlink(path)


def complaint(*flags):
    done = subprocess.run([binary(), *flags], capture_output=True, text=True, timeout=20)
    return done.returncode, done.stderr


def test_command_line_refuses_what_is_unsafe_or_unclear():
    code, text = complaint("--http", "0.0.0.0:0")
    assert code == 2 and "--token-file" in text
    code, text = complaint("--http", "example.com:80")
    assert code == 2 and "numeric" in text
    for bad in ("127.0.0.1", "127.0.0.1:99999", "127.0.0.1:x", "[::1:0", ":80"):
        assert complaint("--http", bad)[0] == 2, bad
    assert complaint("--max-connections", "5")[0] == 2  # without --http
    assert complaint("--http", "127.0.0.1:0", "--max-connections", "0")[0] == 2
    assert complaint("--http", "127.0.0.1:0", "--allow-origin", "*")[0] == 2
    assert complaint("--http", "127.0.0.1:0", "--nonsense", "5")[0] == 2
    with Server() as server:
        code, text = complaint("--http", "127.0.0.1:%d" % server.port)
        assert code == 1 and "in use" in text
    code, text = complaint("--http", "127.0.0.1:0", "--token-file", "/nowhere")
    assert code == 1 and "/nowhere" in text
    for content, mode, word in (("0123456789abcdef", 0o644, "chmod"), ("short", 0o600, "line 1"),
                                ("# none\n", 0o600, "no token")):
        path = token_file(content, mode)
        code, text = complaint("--http", "127.0.0.1:0", "--token-file", path)
        os.unlink(path)
        assert code == 1 and word in text, text


def test_resets_leave_nothing():
    with Server() as server:
        assert server.client().call("echo").status == 200
        # The calls' threads stay; connections must not.
        for _ in range(30):
            server.client().call("echo")
        assert wait_for(lambda: server.threads() <= 10)
        threads, descriptors = server.threads(), server.descriptors()
        for cut in (0, 10, 100, 300, 10000):
            for _ in range(20):
                raw = server.raw()
                raw.send(good(server.port)[:cut])
                raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                raw.close()
        assert wait_for(lambda: server.threads() <= threads), (server.threads(), threads)
        assert wait_for(lambda: server.descriptors() <= descriptors)


if __name__ == "__main__":
    sys.exit(run(globals()))
