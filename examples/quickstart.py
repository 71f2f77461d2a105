"""Asks a running jarvis where the GPU time of a trace went, and says it in words.

    quickstart.py JARVIS TRACE OUTPUT_DIR

Speaks MCP (JSON-RPC, one message a line) with `jarvis serve` over its stdin and stdout, as an
agent would. Standard library only."""

import json
import pathlib
import subprocess
import sys
import time


class Failed(Exception):
    pass


class Server:
    """One conversation with `jarvis serve`."""

    def __init__(self, binary, trace, output):
        # It reads beside the trace and writes below the output directory, nowhere else.
        folder = pathlib.Path(trace).resolve().parent
        command = [binary, "serve", "--profile", "full", "--allow-root", str(folder),
                   "--output-root", str(output)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, encoding="utf-8")
        self.last_id = 0

    def send(self, method, params=None, **more):
        message = {"jsonrpc": "2.0", "method": method, **more}
        if params is not None:
            message["params"] = params
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params=None, on_progress=None):
        self.last_id += 1
        self.send(method, params, id=self.last_id)
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.last_id and "method" not in message:
                if "error" in message:
                    raise Failed(f"{method}: {message['error'].get('message')}")
                return message["result"]
            if message.get("method") == "notifications/progress" and on_progress:
                on_progress(message["params"])
        raise Failed(f"{method}: the server ended, status {self.process.wait()}")

    def call(self, tool, on_progress=None, **arguments):
        """The structured answer of a tool."""
        params = {"name": tool, "arguments": arguments}
        if on_progress:
            params["_meta"] = {"progressToken": f"{tool}-{self.last_id + 1}"}
        result = self.ask("tools/call", params, on_progress)
        if result.get("isError"):
            text = "\n".join(part.get("text", "") for part in result.get("content", []))
            raise Failed(f"{tool}: {text}")
        return result["structuredContent"]

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=20)


class Session:
    """Asks one tool after the other about one trace, and says what is asked and answered."""

    def __init__(self, server, trace):
        self.server = server
        self.trace = trace

    def ask(self, question, tool, **arguments):
        words = " ".join(f"{key}={value}" for key, value in arguments.items())
        print(f"\n  {question}\n    -> {tool} {words}".rstrip(), flush=True)
        began = time.monotonic()

        def progress(params):
            print(f"       ... {params.get('message', params['progress'])}", flush=True)

        answer = self.server.call(tool, progress, trace=self.trace, **arguments)
        self.trace = answer.get("trace", self.trace)
        print(f"    <- {answer['summary']} ({(time.monotonic() - began) * 1000:.0f} ms)", flush=True)
        return answer


def rows_of(answer):
    return [dict(zip(answer["columns"], row)) for row in answer.get("rows", [])]


def print_time_rows(rows, name):
    for row in rows:
        share = row.get("percent")
        share = "" if share is None else f"{share:6.1f} %"
        print(f"       {row.get('gpu_ms', row.get('ms')):10.3f} ms {share}  {row[name]}")


def converse(server, trace, output):
    """The questions, from the whole to the line of code; what conclude() needs."""
    hello = server.ask("initialize", {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "quickstart", "version": "1"}})
    server.send("notifications/initialized")
    tools = server.ask("tools/list")["tools"]
    print(f"  {hello['serverInfo']['name']} {hello['serverInfo']['version']}, protocol "
          f"{hello['protocolVersion']}, tools: {', '.join(tool['name'] for tool in tools)}")
    session = Session(server, trace)
    loaded = session.ask("Load the trace; can it be trusted?", "load_trace")
    for row in rows_of(loaded):
        print(f"       {row['quality']}: {row['what']}")
    timeline = rows_of(session.ask("Does the GPU compute, communicate, copy or idle?", "gpu_timeline"))
    print_time_rows(timeline, "part")
    categories = rows_of(session.ask("Which kinds of work take the time?", "ops_summary",
                                     by="category", limit=8))
    print_time_rows(categories, "category")
    ops = rows_of(session.ask("And which ops?", "ops_summary", limit=8))
    print_time_rows(ops, "op")
    gemms = rows_of(session.ask("Which matrix products?", "ops_summary", category="gemm", limit=3))
    callers = []
    for gemm in gemms[:1]:
        callers = rows_of(session.ask(f"Who calls {gemm['op']}?", "parent_chain", row=gemm["row"],
                                      limit=4, depth=3))
        for row in callers:
            print(f"       {row['gpu_ms']:10.3f} ms {row['count']:5}x  {row['module'] or '(no module)'}"
                  f"\n                            {row['code'] or '(no Python frames)'}")
    session.ask("Files for each category, please.", "category_filter", output_dir=str(output))
    session.ask("And the whole report as tables.", "perf_report",
                output_dir=str(output / "perf_report_csvs"), kernel_summary=True,
                short_kernel_study=True)
    return {row["part"]: row for row in timeline}, categories, ops, callers


def conclude(timeline, categories, ops, callers, output, seconds):
    print("\nWhere the time went")
    if timeline:
        total = timeline["total"]["ms"]
        print(f"  Of {total:.1f} ms the GPU computed {timeline['computation']['percent']:.1f} %, waited for "
              f"communication {timeline['exposed_comm']['percent']:.1f} %, copied "
              f"{timeline['exposed_memcpy']['percent']:.1f} % and idled {timeline['idle']['percent']:.1f} %.")
    if categories:
        first = ", ".join(f"{row['percent_gpu']:.0f} % {row['category']}" for row in categories[:3])
        print(f"  Its work was {first}.")
    if ops:
        print(f"  The most expensive op is {ops[0]['op']}: {ops[0]['count']} calls, "
              f"{ops[0]['gpu_ms']:.1f} ms.")
    if callers:
        top = callers[0]
        print(f"  Matrix products come mostly from {top['module'] or top['ops']} "
              f"({top['gpu_ms']:.1f} ms), called at {(top['code'] or '?').split(' < ')[0]}.")
    files = sorted(p for p in output.rglob("*") if p.is_file() and p.name[0] != ".")
    print(f"\n  {len(files)} files in {output}; start with category_data/category_manifest.json")
    for path in files[:6]:
        print(f"    {path.relative_to(output)} ({path.stat().st_size} bytes)")
    print(f"    and {max(len(files) - 6, 0)} more")
    print(f"\n  All answers together took {seconds:.2f} s.")


def main(binary, trace, output):
    output = pathlib.Path(output).resolve()
    output.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    trace = str(pathlib.Path(trace).resolve())
    server = Server(binary, trace, output)
    try:
        findings = converse(server, trace, output)
    except (Failed, BrokenPipeError) as failure:
        server.process.kill()
        print(f"quickstart: {failure}", file=sys.stderr)
        return 1
    server.close()
    conclude(*findings, output, time.monotonic() - began)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
