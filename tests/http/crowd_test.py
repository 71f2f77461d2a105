#!/usr/bin/env python3
"""Many clients at once, clients that vanish, and an end in the middle of it all. Prints what it
measured."""

import json
import sys
import threading
import time

from http_support import Server, run, wait_for

STREAMS = 50


def listen(server):
    client = server.client()
    return client, client.stateless("subscriptions/listen", {"notifications": {}}, wait=False)


def test_streams_and_calls_at_once():
    with Server() as server:
        streams = [listen(server) for _ in range(STREAMS)]
        assert all(response.status == 200 for _, response in streams)
        times, failures = [], []

        def work():
            client = server.client()
            for number in range(50):
                began = time.monotonic()
                answer = client.call("echo", {"text": str(number)}, ident=5)
                times.append(time.monotonic() - began)
                if answer.last["result"]["structuredContent"] != {"text": str(number)}:
                    failures.append(answer.text)

        workers = [threading.Thread(target=work) for _ in range(10)]
        began = time.monotonic()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        took = time.monotonic() - began
        assert not failures and len(times) == 500, failures[:1]
        times.sort()
        print("        %d streams open: %.0f calls/s, median %.1f ms, p99 %.1f ms" % (
            STREAMS, len(times) / took, times[250] * 1e3, times[495] * 1e3))
        slow = []

        def wait_for_slow():
            slow.append(server.client().call("slow", {"ms": 300}, meta={"progressToken": 1}))

        workers = [threading.Thread(target=wait_for_slow) for _ in range(STREAMS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(slow) == STREAMS and all("result" in answer.last for answer in slow)
        took = server.stop()
        print("        stopped in %.2f s with %d streams open" % (took, STREAMS))
        assert took < 2, took


def test_vanished_clients_leave_nothing():
    with Server() as server:
        watcher = server.client()
        stats = lambda: watcher.call("stats").last["result"]["structuredContent"]
        for _ in range(30):
            server.client().call("echo")
        assert wait_for(lambda: server.threads() <= 12)
        threads, descriptors = server.threads(), server.descriptors()
        streams = [listen(server) for _ in range(STREAMS)]
        calls = []
        for _ in range(20):
            client = server.client()
            calls.append((client, client.call("slow", {"ms": 30000}, wait=False)))
        handshakes = []
        for _ in range(10):
            client = server.client()
            client.handshake()
            handshakes.append((client, client.open("GET")))
        assert server.threads() >= threads + STREAMS
        began = time.monotonic()
        for client, response in streams + calls + handshakes:
            response.close()
            client.close()
        # The pool of the calls may have grown to its four and the two for further clients.
        assert wait_for(lambda: server.threads() <= threads + 6), (server.threads(), threads)
        print("        %d clients vanished, threads gone after %.0f ms" % (
            len(streams + calls + handshakes), (time.monotonic() - began) * 1e3))
        assert wait_for(lambda: server.descriptors() <= descriptors)
        assert wait_for(lambda: stats()["running"] == 0)
        # Those that waited for a thread were never begun.
        assert stats()["completed"] == 0


def begin_slow(client):
    """In a session; nobody waits for the answer."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "slow", "arguments": {"ms": 60000}}}
    client.connection.request("POST", "/mcp", json.dumps(body), {
        "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
        **client.headers})


def test_many_sessions_of_one_address_starve_no_other():
    with Server() as server:
        crowd = []
        for _ in range(60):
            client = server.client()
            client.handshake()
            begin_slow(client)
            crowd.append(client)
        # Another address; in a session and without.
        other = server.client(source="127.0.0.2")
        for number in range(20):
            answer = other.call("echo", {"text": str(number)})
            assert answer.last["result"]["structuredContent"] == {"text": str(number)}
        other = server.client(source="127.0.0.2")
        other.handshake()
        answer = other.request("tools/call", {"name": "echo", "arguments": {"text": "a"}})
        assert answer.last["result"]["structuredContent"] == {"text": "a"}
        for client in crowd:
            client.close()


def test_many_sessions_of_one_connection_starve_no_other():
    with Server() as server:
        maker = server.client()
        crowd = []
        for _ in range(60):
            maker.headers.pop("Mcp-Session-Id", None)
            maker.handshake()
            client = server.client()
            client.headers = dict(maker.headers)
            begin_slow(client)
            crowd.append(client)
        other = server.client()
        for number in range(20):
            answer = other.call("echo", {"text": str(number)})
            assert answer.last["result"]["structuredContent"] == {"text": str(number)}
        for client in crowd:
            client.close()


def test_stops_in_the_middle_of_calls_and_half_requests():
    with Server() as server:
        clients = []
        for _ in range(10):
            client = server.client()
            clients.append((client, client.call("slow", {"ms": 30000}, wait=False)))
        half = [server.raw().send("POST /mcp HTTP/1.1\r\nHost: loc") for _ in range(10)]
        idle = [server.raw() for _ in range(10)]
        took = server.stop()
        print("        stopped in %.2f s with 10 calls, 10 half requests, 10 idle" % took)
        assert took < 2, took
        for client, response in clients:
            assert "[cancelled]" in response.read().decode()
        assert half and idle


if __name__ == "__main__":
    sys.exit(run(globals()))
