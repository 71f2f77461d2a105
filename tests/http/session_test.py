#!/usr/bin/env python3
"""Whole conversations over HTTP, in both eras: what a client of each sees."""

import json
import re
import sys
import time

from http_support import META, Server, events, run, wait_for


def test_stateless_conversation():
    with Server() as server:
        client = server.client()
        found = client.stateless("server/discover", ident="probe-1")
        assert found.status == 200 and not found.is_stream and found.last["id"] == "probe-1"
        assert "Mcp-Session-Id" not in found.headers
        assert "2026-07-28" in found.last["result"]["supportedVersions"]
        tools = client.stateless("tools/list").last["result"]["tools"]
        assert [tool["name"] for tool in tools][:3] == ["echo", "slow", "stats"]
        answer = client.call("echo", {"text": "x"})
        assert answer.last["result"]["structuredContent"] == {"text": "x"}
        assert answer.headers["Content-Type"] == "application/json"
        # All of it on one connection.
        assert client.stateless("nothing/such").status == 404


def test_stateless_progress_is_a_stream():
    with Server() as server:
        answer = server.client().call("slow", {"ms": 900, "steps": 3}, meta={"progressToken": 0})
        assert answer.status == 200 and answer.is_stream
        progress = [m["params"] for m in answer.messages[:-1]]
        assert progress and all(p["progressToken"] == 0 for p in progress)
        assert [p["progress"] for p in progress] == sorted({p["progress"] for p in progress})
        assert answer.last["result"]["content"][0]["text"] == "done"
        assert answer.headers["Cache-Control"] == "no-store"
        assert re.match(r"event: message\ndata: {.*}\n\nevent: message\n", answer.text)


def test_slow_answers_open_a_stream_and_quick_ones_do_not():
    with Server() as server:
        client = server.client()
        began = time.monotonic()
        response = client.call("slow", {"ms": 1000}, wait=False)
        opened = time.monotonic() - began
        assert response.headers["Content-Type"] == "text/event-stream"
        assert opened < 0.8, opened
        assert events(response.read().decode())[-1]["result"]
        # The connection goes on after the stream.
        assert client.call("echo").status == 200
        only_json = client.call("slow", {"ms": 400}, headers={"Accept": "application/json"})
        assert not only_json.is_stream and only_json.last["result"]
        only_events = client.call("echo", headers={"Accept": "text/event-stream"})
        assert only_events.is_stream and only_events.last["result"]
        assert client.call("echo", headers={"Accept": "text/html"}).status == 406


def test_hanging_up_cancels_a_stateless_call():
    with Server() as server:
        watcher = server.client()
        stats = lambda: watcher.call("stats").last["result"]["structuredContent"]
        for wait_s in (0.05, 0.4):  # before the stream is open, and after
            before = stats()["stopped"]
            client = server.client()
            if wait_s < 0.1:
                client.connection.request("POST", "/mcp", json.dumps(
                    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                        "name": "slow", "arguments": {"ms": 20000}, "_meta": META}}),
                    {"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
                     "Mcp-Method": "tools/call", "Mcp-Name": "slow"})
                time.sleep(wait_s)
                client.connection.sock.close()
            else:
                response = client.call("slow", {"ms": 20000}, wait=False)
                time.sleep(wait_s)
                response.close()
            client.close()
            assert wait_for(lambda: stats()["stopped"] == before + 1, 2), stats()
        assert stats()["running"] == 0


def test_listening_ends_with_a_result_at_shutdown():
    with Server() as server:
        response = server.client().stateless("subscriptions/listen", {"notifications": {}},
                                             wait=False, ident="listen:0")
        first = b""
        while not first.endswith(b"\n\n"):
            first += response.read1(1)
        acknowledged = events(first.decode())[0]
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        took = server.stop()
        last = events(response.read().decode())[-1]
        assert last["id"] == "listen:0" and last["result"]["resultType"] == "complete"
        assert took < 2, took


def test_the_headers_of_2026_must_agree_with_the_body():
    with Server() as server:
        client = server.client()
        mismatch = -32020
        cases = [
            ({"MCP-Protocol-Version": None}, 400, mismatch),
            ({"MCP-Protocol-Version": "2025-11-25"}, 400, mismatch),
            ({"Mcp-Method": None}, 400, mismatch),
            ({"Mcp-Method": "TOOLS/CALL"}, 400, mismatch),
            ({"Mcp-Name": None}, 400, mismatch),
            ({"Mcp-Name": "slow"}, 400, mismatch),
            ({"Mcp-Name": "ec%68o"}, 400, mismatch),  # nothing is decoded behind our back
            ({"Mcp-Name": "=?base64?ZWNo?="}, 400, mismatch),
            ({"Mcp-Name": "=?base64?ZWNobw?="}, 400, mismatch),
            ({"Mcp-Name": "=?base64?ZWNobw==?="}, 200, None),
            ({"Mcp-Name": "  echo  "}, 200, None),
            ({"Mcp-Session-Id": "whatever", "Last-Event-ID": "1"}, 200, None),
        ]
        for headers, status, code in cases:
            answer = client.call("echo", headers=headers, ident="x")
            assert answer.status == status, (headers, answer.status, answer.text)
            assert answer.last["id"] == "x"
            assert code is None or answer.error == code, headers
        unknown = client.stateless("server/discover", headers={"MCP-Protocol-Version": "2099-01-01"},
                                   meta={"io.modelcontextprotocol/protocolVersion": "2099-01-01"})
        assert unknown.status == 400 and unknown.error == -32022
        assert unknown.last["error"]["data"]["requested"] == "2099-01-01"
        bare = client.request("tools/list", {}, {"MCP-Protocol-Version": "2026-07-28"})
        assert bare.status == 400 and bare.error == -32602
        assert client.stateless("initialize", {}).status == 404
        assert client.stateless("ping").error == -32601
        no_tool = client.call("nothing")
        assert no_tool.status == 400 and no_tool.error == -32602


def test_session_from_handshake_to_its_end():
    with Server() as server:
        client = server.client()
        hello = client.handshake()
        session = client.headers["Mcp-Session-Id"]
        assert re.fullmatch(r"[0-9a-f]{32}", session)
        assert hello.last["result"]["protocolVersion"] == "2025-11-25"
        assert client.request("ping").last["result"] == {}
        assert len(client.request("tools/list").last["result"]["tools"]) > 3
        answer = client.request("tools/call", {
            "name": "slow", "arguments": {"ms": 900, "steps": 3}, "_meta": {"progressToken": "p"}})
        assert answer.is_stream and answer.messages[0]["params"]["progressToken"] == "p"
        assert answer.last["result"]["structuredContent"]["steps"] == 3
        assert client.ask("DELETE").status == 200
        assert client.request("ping").status == 404
        assert client.ask("DELETE").status == 404
        other = server.client()
        other.handshake("2025-06-18")
        assert other.headers["Mcp-Session-Id"] != session


def test_session_rules():
    with Server() as server:
        client = server.client()
        assert client.request("ping").status == 400
        assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 400
        assert client.request("ping", headers={"Mcp-Session-Id": "0" * 32}).status == 404
        assert client.ask("GET").status == 405 and client.ask("DELETE").status == 405
        assert client.ask("PUT").headers["Allow"] == "GET, POST, DELETE"
        client = server.client()
        client.handshake()
        for version, status in (("2025-03-26", 200), ("1999-01-01", 400), ("2026-07-28", 400)):
            got = client.request("ping", headers={"MCP-Protocol-Version": version})
            assert got.status == status, version
        assert client.request("ping", headers={"MCP-Protocol-Version": None}).status == 200
        assert client.request("no/such").error == -32601
        assert client.post({"jsonrpc": "2.0", "id": 3, "result": {}}).status == 202
        assert client.post([]).status == 400  # batches are of 2025-03-26
        assert client.post("{").error == -32700
        assert client.post('{"id":4,"method":"ping"}').last["id"] == 4
        # A stateless request does not mind the session.
        assert client.stateless("server/discover").status == 200


def test_batches_of_2025_03_26():
    with Server() as server:
        client = server.client()
        client.handshake("2025-03-26")
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        news = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        answer = client.post([ping, news, dict(ping, id=2)])
        assert [a["id"] for a in answer.last] == [1, 2]
        assert client.post([news, news]).status == 202
        assert client.post([]).status == 400


def test_cancelling_in_a_session():
    with Server() as server:
        client, other = server.client(), server.client()
        client.handshake()
        other.headers = client.headers
        response = client.request("tools/call", {"name": "slow", "arguments": {"ms": 20000}},
                                  wait=False, ident=7)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled",
                  "params": {"requestId": 7}}
        assert other.post(cancel).status == 202
        assert events(response.read().decode()) == []  # the stream ends, without an answer
        # The client is answered at once, the tool notices a moment later.
        watcher = server.client()
        stopped = lambda: watcher.call("stats").last["result"]["structuredContent"]["stopped"]
        assert wait_for(lambda: stopped() == 1)


def test_hanging_up_does_not_cancel_in_a_session_but_its_end_does():
    with Server() as server:
        watcher = server.client()
        stats = lambda: watcher.call("stats").last["result"]["structuredContent"]
        client = server.client()
        client.handshake()
        call = {"name": "slow", "arguments": {"ms": 700}}
        response = client.request("tools/call", call, wait=False)
        response.close()
        client.close()
        assert wait_for(lambda: stats()["completed"] == 1)
        call["arguments"]["ms"] = 20000
        again = server.client(**client.headers)
        response = again.request("tools/call", call, wait=False)
        assert server.client(**client.headers).ask("DELETE").status == 200
        assert "[cancelled]" in response.read().decode()
        assert stats() == {"running": 0, "stopped": 1, "completed": 1}


def first_id(response):
    """Of a stream that can be resumed: its first event has an id and nothing else."""
    lines = []
    while not lines or lines[-1]:
        lines.append(response.readline().decode().rstrip("\n"))
    assert lines[0].startswith("id: ") and "data: " in lines and any(
        line.startswith("retry: ") for line in lines), lines
    return lines[0][4:]


def test_a_broken_stream_is_resumed():
    with Server() as server:
        client = server.client()
        client.handshake()
        call = {"name": "slow", "arguments": {"ms": 800, "steps": 4},
                "_meta": {"progressToken": 1}}
        response = client.request("tools/call", call, wait=False, ident=9)
        ident = first_id(response)
        response.close()
        client.close()
        back = server.client(**client.headers)
        seen = back.ask("GET", headers={"Last-Event-ID": ident})
        assert seen.status == 200 and seen.last["id"] == 9 and "result" in seen.last
        progress = [m["params"]["progress"] for m in seen.messages[:-1]]
        assert progress == sorted(set(progress)) and progress
        # From the middle, and from the end; a stream that is over still has its events.
        ids = [line[4:] for line in seen.text.split("\n") if line.startswith("id: ")]
        for at, left in ((ids[0], len(ids) - 1), (ids[-1], 0)):
            again = server.client(**client.headers).ask("GET", headers={"Last-Event-ID": at})
            assert again.status == 200 and len(again.messages) == left, at
        # Of another session it is none.
        other = server.client()
        other.handshake()
        response = other.open("GET", headers={"Last-Event-ID": ident})
        assert response.status == 200 and first_id(response)
        assert server.client(**other.headers).ask("DELETE").status == 200
        assert events(response.read().decode()) == []


def test_streams_of_older_revisions_have_no_ids():
    with Server() as server:
        client = server.client()
        client.handshake("2025-06-18")
        answer = client.request("tools/call", {"name": "slow", "arguments": {"ms": 300}})
        assert answer.is_stream and "id:" not in answer.text.split("data:")[0]


def test_news_of_a_session_go_to_its_general_stream_only():
    with Server() as server:
        client = server.client()
        client.handshake()
        stream = server.client(**client.headers).open("GET")
        ident = first_id(stream)
        answer = client.request("tools/call", {"name": "test_trigger_tool_change"})
        assert len(answer.messages) == 1
        lines = [stream.readline().decode() for _ in range(4)]
        assert "notifications/tools/list_changed" in lines[2], lines
        assert lines[0].startswith("id: " + ident.split("-")[0] + "-2")


def test_a_call_that_asks_its_client_in_a_session():
    with Server() as server:
        client = server.client()
        answer = client.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "test", "version": "1"}})
        client.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        response = client.request("tools/call", {"name": "test_elicitation"}, wait=False, ident=5)
        first_id(response)
        lines = [response.readline().decode() for _ in range(4)]
        question = json.loads(lines[2][6:])
        assert question["method"] == "elicitation/create"
        other = server.client(**client.headers)
        assert other.post({"jsonrpc": "2.0", "id": question["id"], "result": {
            "action": "accept", "content": {"username": "a", "email": "b"}}}).status == 202
        final = events(response.read().decode())[-1]
        assert final["id"] == 5 and "action=accept" in final["result"]["content"][0]["text"]
        # Without the capability there is nobody to ask.
        bare = server.client()
        bare.handshake()
        refused = bare.request("tools/call", {"name": "test_elicitation"})
        assert refused.last["error"]["code"] == -32021


def test_tasks_outlive_their_connection():
    with Server() as server:
        meta = {"io.modelcontextprotocol/clientCapabilities": {
            "extensions": {"io.modelcontextprotocol/tasks": {}}}}
        client = server.client()
        made = client.call("slow_compute", {"seconds": 0.5}, meta=meta).last["result"]
        assert made["resultType"] == "task" and re.fullmatch("[0-9a-f]{32}", made["taskId"])
        client.close()
        other = server.client()

        def state():
            return other.stateless("tasks/get", {"taskId": made["taskId"]}, meta=meta,
                                   headers={"Mcp-Name": made["taskId"]}).last["result"]
        assert state()["status"] == "working"
        assert wait_for(lambda: state()["status"] == "completed")
        assert "done" in state()["result"]["content"][0]["text"]
        missing = other.stateless("tasks/get", {"taskId": "0" * 32}, meta=meta,
                                  headers={"Mcp-Name": "0" * 32})
        assert missing.status == 400 and missing.error == -32602


def test_general_stream():
    with Server() as server:
        client = server.client()
        client.handshake()
        stream = server.client(**client.headers)
        assert stream.ask("GET", headers={"Accept": "application/json"}).status == 406
        response = stream.open("GET")
        assert response.status == 200
        assert server.client(**client.headers).ask("GET").status == 409
        stream.close()
        response.close()
        # A client that comes back gets its stream again.
        assert wait_for(lambda: server.client(**client.headers).open("GET").status == 200)
        assert client.ask("DELETE").status == 200


def test_sessions_expire_and_make_room():
    with Server("--session-timeout", "1") as server:
        client = server.client()
        client.handshake()
        time.sleep(0.6)
        assert client.request("ping").status == 200
        time.sleep(1.3)
        assert client.request("ping").status == 404
    with Server() as server:
        client = server.client()
        client.handshake()
        first = client.headers.pop("Mcp-Session-Id")
        client.headers.pop("MCP-Protocol-Version")
        ids = {first}
        for _ in range(256):
            client.handshake()
            ids.add(client.headers.pop("Mcp-Session-Id"))
            client.headers.pop("MCP-Protocol-Version")
        assert len(ids) == 257
        assert client.request("ping", headers={"Mcp-Session-Id": first}).status == 404


if __name__ == "__main__":
    sys.exit(run(globals()))
