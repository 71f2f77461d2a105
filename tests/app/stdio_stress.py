#!/usr/bin/env python3
"""Valid, broken and huge lines in any order: every request is answered exactly once, nothing else
is, and the program ends well.

    stdio_stress.py [BINARY [COUNT [SEED]]]      default: $JARVIS_BINARY 500 1
"""

import json
import os
import random
import subprocess
import sys
import threading

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
MIB = 1 << 20


def request(ident, method, params=None):
    message = {"jsonrpc": "2.0", "id": ident, "method": method}
    if params is not None:
        message["params"] = params
    return json.dumps(message).encode()


def answered_line(rng, ident):
    """A line that is to be answered with this id."""
    call = {"name": rng.choice(["load_trace", "no_such_tool"]),
            "arguments": rng.choice([{}, {"no_such_argument": 1}, {"x": "y" * rng.choice([9, 99999])}])}
    return rng.choice([
        lambda: request(ident, "ping"),
        lambda: request(ident, "tools/list"),
        lambda: request(ident, "tools/list", {"_meta": META}),
        lambda: request(ident, "server/discover", {"_meta": META}),
        lambda: request(ident, "server/discover"),
        lambda: request(ident, "tools/call", call),
        lambda: request(ident, "tools/call", dict(call, _meta=META)),
        lambda: request(ident, "tools/call", {"name": [], "arguments": 7}),
        lambda: request(ident, "initialize", {"protocolVersion": "2025-11-25"}),
        lambda: request(ident, "no/such/" + "method" * rng.choice([1, 1000])),
        lambda: request(ident, "ping", {"junk": "z" * rng.choice([10, MIB])}),
        lambda: request(ident, "ping")[:-1] + b',"params":[1]}',
        lambda: request(ident, "ping").replace(b'"2.0"', b'"1.0"'),
        lambda: request(ident, "ping") + b"\r",
    ])()


def anonymous_line(rng):
    """A line that is to be answered with an error without id."""
    return rng.choice([
        lambda: b"garbage",
        lambda: b"\xff\xfe",
        lambda: b"[" * rng.choice([3, 200, MIB]),
        lambda: b"[]",
        lambda: b"[1,2,3]",
        lambda: b"null",
        lambda: b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        lambda: b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        lambda: b'{"jsonrpc":"2.0"',
        lambda: b'{"a":' * 1000,
        lambda: b"x" * (17 * MIB) if rng.random() < 0.05 else b"x",
    ])()


def silent_line(rng):
    return rng.choice([
        b"", b"   ", b"\r",
        b'{"jsonrpc":"2.0","method":"no/such"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":-5}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}',
        b'{"jsonrpc":"2.0","id":3,"result":{}}',
        b'{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":""}}',
    ])


def lines(rng, count):
    """[(line, the id of its answer)]; the id is None for an anonymous one, "" for silence."""
    made = []
    for number in range(1, count + 1):
        kind = rng.random()
        if kind < 0.7:
            ident = rng.choice([number, "s%d" % number])
            made.append((answered_line(rng, ident), ident))
        elif kind < 0.9:
            made.append((anonymous_line(rng), None))
        else:
            made.append((silent_line(rng), ""))
    return made


def send(pipe, made):
    for line, _ in made:
        pipe.write(line + b"\n")
    pipe.write(request("last", "ping"))  # without a line end
    pipe.close()


def main(arguments):
    binary = arguments[0] if arguments else os.environ.get("JARVIS_BINARY")
    if not binary:
        print("no program to test")
        return 77
    count = int(arguments[1]) if len(arguments) > 1 else 500
    seed = int(arguments[2]) if len(arguments) > 2 else 1
    made = lines(random.Random(seed), count)
    process = subprocess.Popen([binary, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    sender = threading.Thread(target=send, args=(process.stdin, made))
    sender.start()
    answers = [json.loads(line) for line in process.stdout]
    sender.join()
    code = process.wait(20)

    wanted = sorted(repr(ident) for _, ident in made if ident not in (None, "")) + [repr("last")]
    got = sorted(repr(a["id"]) for a in answers if "id" in a)
    anonymous_wanted = sum(ident is None for _, ident in made)
    anonymous_got = sum("id" not in a for a in answers)
    problems = []
    if code != 0:
        problems.append("exit code %d" % code)
    if got != sorted(wanted):
        missing = set(wanted) - set(got)
        problems.append("%d answers for %d requests; missing %s"
                        % (len(got), len(wanted), sorted(missing)[:5]))
    if anonymous_got != anonymous_wanted:
        problems.append("%d answers without id for %d lines" % (anonymous_got, anonymous_wanted))
    for answer in answers:
        if ("result" in answer) == ("error" in answer) or answer.get("jsonrpc") != "2.0":
            problems.append("malformed " + json.dumps(answer)[:200])
    print("\n".join(problems) or "%d lines, every request answered once" % count)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
