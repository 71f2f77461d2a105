#!/usr/bin/env python3
"""Clients that connect and vanish, at every point of an exchange and in every manner, in rounds.
After each round the server has no descriptor or call more than before the first, no round after
round more threads, and from the third on no more memory."""

import json
import os
import random
import socket
import struct
import time

from load_support import META, Server, VERSION, head, is_sanitized, main, rss_mb, wait_for

PATIENCE_S = 60
# The pools start a thread when calls meet, up to this many: for quick calls one a processor and at
# least four, for long ones two, each with as many again for clients of whom nothing runs.
POOL_THREADS = 2 * (max(4, os.cpu_count()) + 2)


def call(port, tool, arguments, token=False):
    meta = {**META, "progressToken": 1} if token else META
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": tool, "arguments": arguments, "_meta": meta}})
    return head(port, "MCP-Protocol-Version: " + VERSION, "Mcp-Method: tools/call",
                "Mcp-Name: " + tool, "Content-Length: %d" % len(body)), body


def nothing(raw):
    pass


def half_head(raw):
    raw.send(call(raw.port, "echo", {})[0][:70])


def half_body(raw):
    first, body = call(raw.port, "echo", {"text": "x" * 1000})
    raw.send(first + body[:500])


def half_chunk(raw):
    raw.send(head(raw.port, "Transfer-Encoding: chunked") + "400\r\n{")


def large_call(raw):
    raw.send("".join(call(raw.port, "echo", {"text": "x" * 100000})))


def small_call(raw):
    raw.send("".join(call(raw.port, "echo", {})))


def slow_call(raw):
    raw.send("".join(call(raw.port, "slow", {"ms": 600000, "steps": 10000}, token=True)))


def listen(raw):
    body = json.dumps({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen",
                       "params": {"notifications": {}, "_meta": META}})
    raw.send(head(raw.port, "MCP-Protocol-Version: " + VERSION, "Mcp-Method: subscriptions/listen",
                  "Content-Length: %d" % len(body)) + body)


def session_stream(raw):
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "v", "version": "1"}}})
    raw.send(head(raw.port, "Content-Length: %d" % len(body)) + body)
    got = raw.until(b"serverInfo")
    session = got.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
    raw.send(head(raw.port, "Accept: text/event-stream", "Mcp-Session-Id: " + session, method="GET"))


# What a client has sent, and what it has read, when it vanishes. Those that hold the threads for
# calls come last: others wait for an answer.
POINTS = [(nothing, None), (half_head, None), (half_body, None), (half_chunk, None),
          (large_call, None), (small_call, b"structuredContent"), (listen, b"acknowledged"),
          (session_stream, b"text/event-stream"), (slow_call, b"text/event-stream"),
          (slow_call, None)]


def close(raw):
    raw.close()


def reset(raw):
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


def half_close(raw):
    """Sends nothing more, and takes what still comes until the server has closed its side."""
    raw.socket.shutdown(socket.SHUT_WR)
    return raw


MANNERS = [close, reset, half_close]


def vanish(server, clients, rng):
    """One round: all are there at once, then all go, in any order."""
    there = []
    for send, mark in POINTS:
        group = [server.raw() for _ in range(clients // len(POINTS))]
        for raw in group:
            send(raw)
        for raw in group if mark else ():
            raw.until(mark)
        there += [(raw, MANNERS[number % len(MANNERS)]) for number, raw in enumerate(group)]
    most = server.threads()
    rng.shuffle(there)
    closing = [manner(raw) for raw, manner in there]
    for raw in filter(None, closing):
        raw.rest()
        raw.close()
    return most


def settled(server):
    """Its threads and descriptors, once they have stayed the same for half a second."""
    now, since = None, 0
    while now is None or time.monotonic() - since < 0.5:
        seen = server.threads(), server.descriptors()
        if seen != now:
            now, since = seen, time.monotonic()
        time.sleep(0.02)
    return now


def measure(clients=60, rounds=4, seed=1):
    rng = random.Random(seed)
    memory, most = [], 0
    with Server("--max-connections", str(max(64, 2 * clients))) as server:
        watcher = server.client()

        def stats():
            return watcher.call("stats").last["result"]["structuredContent"]

        vanish(server, 5 * len(POINTS), rng)  # so that most threads for calls are there
        assert wait_for(lambda: stats()["running"] == 0, PATIENCE_S)
        first, descriptors = settled(server)
        threads = [first]
        for number in range(rounds):
            most = max(most, vanish(server, clients, rng))
            assert wait_for(lambda: stats()["running"] == 0, PATIENCE_S), stats()
            assert wait_for(lambda: server.descriptors() == descriptors, PATIENCE_S), (
                number, server.descriptors(), descriptors)
            assert wait_for(lambda: server.threads() <= first + POOL_THREADS, PATIENCE_S), (
                number, server.threads(), first)
            threads.append(settled(server)[0])
            memory.append(rss_mb(server.process.pid))
        assert stats()["completed"] == 0
        binary = server.process.args[0]
    # Pools are full sometime; a leak goes on.
    assert any(after <= before for before, after in zip(threads, threads[1:])), threads
    # A leak stays; a round's own peak does not.
    growth = min(memory[-3:]) - max(memory[:3])
    if not is_sanitized(binary):
        assert growth < 2, memory
    return {"clients_vanished": float(clients * rounds), "threads_most": float(most),
            "threads_left": float(threads[-1] - first), "fds_left": 0.0, "rss_growth_mb": growth,
            "rss_mb": " ".join("%.1f" % mb for mb in memory)}


if __name__ == "__main__":
    main(measure, {"clients": 60, "rounds": 4, "seed": 1})
