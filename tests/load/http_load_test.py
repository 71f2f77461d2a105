#!/usr/bin/env python3
"""Streams that stay open and calls at full speed at the same time, then at a fixed rate: every call
gets its own answer, no stream ends, and nothing stays behind. Prints the figures."""

from load_support import Server, is_sanitized, main, program, run_program

# Four threads for tools, two for clients of whom nothing runs, two for groups of such clients.
POOL = 8


def load(server, *sizes):
    return run_program(program("HTTP_LOAD_BINARY"), "--port", server.port,
                       "--pid", server.process.pid, *sizes)


def measure(streams=20, connections=10, seconds=0.5, rate=200):
    program("HTTP_LOAD_BINARY")
    found = {}
    with Server("--max-connections", str(2 * (streams + connections) + 10)) as server:
        base = None
        for name, more in (("", ()), ("_at_rate", ("--rate", rate))):
            got = load(server, "--streams", streams, "--connections", connections,
                       "--seconds", seconds, *more)
            assert got["calls"] > 0 and got["streams_open"] == streams, got
            assert got["threads_during"] >= streams + connections, got
            assert got["fds_after"] == got["fds_before"], got
            base = base or got["threads_before"] + POOL
            assert got["threads_after"] <= base, got
            got["cpu_us_a_call"] = got.pop("server_cpu_s") * 1e6 / got["calls"]
            found.update({key + name: value for key, value in got.items()})
        found["stop_s"] = server.stop()
    found["sanitized"] = float(is_sanitized(server.process.args[0]))
    return found


if __name__ == "__main__":
    main(measure, {"streams": 20, "connections": 10, "seconds": 0.5, "rate": 200})
