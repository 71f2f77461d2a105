"""Whether a server stays within its memory limit, whatever is loaded and asked.

    memory_limit.py JARVIS LIMIT_MB COPIES TRACE...

Loads COPIES copies of each trace (other bytes, so that each is a trace of its own), asks the tools that keep
what they found out, and prints the resident memory after every tenth of it, and the most that there was. What
is beyond the limit is the program itself and what one call takes while it runs. Standard library only."""

import gzip
import pathlib
import sys
import tempfile

from tool_latency import Server

TOOLS = [("load_trace", {}), ("gpu_timeline", {}), ("ops_summary", {"by": "module"}), ("prioritize", {}),
         ("host_summary", {}), ("idle_gaps", {}), ("what_if", {"changes": [{"row": "op1", "factor": 0.5}]})]


def resident(process, what="VmRSS"):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def copies_of(traces, count, folder):
    """An empty member at the end of a gzip file changes its bytes and none of its text."""
    for number in range(count):
        for at, trace in enumerate(traces):
            data = pathlib.Path(trace).read_bytes()
            if not data.startswith(b"\x1f\x8b"):
                data = gzip.compress(data, 1)
            copy = pathlib.Path(folder) / f"trace_{at}_{number}.json.gz"
            copy.write_bytes(data + gzip.compress(b"", mtime=number + 1))
            yield str(copy)
            copy.unlink()


def main(binary, limit_mb, count, traces):
    server = Server(binary, ["--memory-limit", f"{limit_mb}M"])
    server.ask("server/discover", {})
    print(f"without a trace: {resident(server.process):.0f} MB")
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        total = count * len(traces)
        for done, trace in enumerate(copies_of(traces, count, folder), 1):
            for tool, arguments in TOOLS:
                answer = server.ask("tools/call", {"name": tool, "arguments": {"trace": trace, **arguments}})
                faults += "result" not in answer or answer["result"].get("isError", False)
            if done % max(1, total // 10) == 0:
                print(f"{done} traces: {resident(server.process):.0f} MB", flush=True)
    most = resident(server.process, "VmHWM")
    print(f"at most {most:.0f} MB, the limit is {limit_mb} MB; {faults} calls failed")
    server.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
