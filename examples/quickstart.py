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

    def __init__(self, binary):
        self.process = subprocess.Popen([binary, "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")
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
        """The structured answer of a tool, and its text."""
        params = {"name": tool, "arguments": arguments}
        if on_progress:
            params["_meta"] = {"progressToken": f"{tool}-{self.last_id + 1}"}
        result = self.ask("tools/call", params, on_progress)
        text = "\n".join(part.get("text", "") for part in result.get("content", []))
        if result.get("isError"):
            raise Failed(f"{tool}: {text}")
        return result.get("structuredContent") or {}, text

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=20)


class Answer:
    """A tool's table: rows by name of column, and the summary."""

    def __init__(self, structured, text):
        self.columns = [c if isinstance(c, str) else c.get("name") or c.get("key")
                        for c in structured.get("columns", [])]
        self.rows = [row if isinstance(row, dict) else dict(zip(self.columns, row))
                     for row in structured.get("rows", [])]
        self.summary = structured.get("summary")
        self.total = structured.get("total", len(self.rows))
        self.shown = structured.get("shown", len(self.rows))
        self.files = structured.get("files") or []
        self.trace = structured.get("trace")
        self.text = text

    def headline(self):
        if isinstance(self.summary, str):
            return self.summary.strip().splitlines()[0]
        if isinstance(self.summary, dict):
            return ", ".join(f"{k} {shown(v)}" for k, v in list(self.summary.items())[:6])
        lines = self.text.strip().splitlines()
        return lines[0] if lines else "(no text)"


def shown(value):
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = str(value)
    return text if len(text) <= 90 else text[:87] + "..."


def field(row, *names):
    """The first of the named columns that the row has; a name may be a part of a column's."""
    for name in names:
        if row.get(name) is not None:
            return row[name]
    for name in names:
        for column, value in row.items():
            if name in column.lower() and value is not None:
                return value
    return None


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def name_of(row, by="op"):
    names = ("category", "op_category") if by == "category" else ("op", "name", "category")
    return shown(field(row, *names, "type") or "?")


def time_of(row):
    return number(field(row, "gpu_time_us", "gpu_time", "kernel_time_us", "time_us", "time_ms",
                        "time", "total"))


class Session:
    def __init__(self, server, trace):
        self.server = server
        self.trace = trace
        self.asked = 0

    def ask(self, question, tool, show_progress=False, **arguments):
        """One question: says what is asked, then the headline of what came back."""
        self.asked += 1
        words = " ".join(f"{key}={value}" for key, value in arguments.items() if key != "trace")
        print(f"\n  {question}\n    -> {tool} {words}".rstrip(), flush=True)
        began = time.monotonic()
        last = [0.0]

        def progress(params):
            if params.get("progress", 0) - last[0] > 0.2 * (params.get("total") or 1):
                last[0] = params["progress"]
                print(f"       ... {params.get('message', shown(params['progress']))}", flush=True)

        structured, text = self.server.call(tool, progress if show_progress else None,
                                            trace=self.trace, **arguments)
        answer = Answer(structured, text)
        took = (time.monotonic() - began) * 1000
        print(f"    <- {answer.headline()} ({took:.0f} ms)", flush=True)
        return answer

    def try_ask(self, question, tool, **arguments):
        try:
            return self.ask(question, tool, **arguments)
        except Failed as failure:
            print(f"    <- no answer: {failure}")
            return None


def print_rows(answer, count, by="op"):
    for row in answer.rows[:count]:
        share = field(row, "percent", "share", "pct")
        time_text = f"{time_of(row):14.3f}"
        share_text = f"{number(share):6.1f} %" if share is not None else ""
        print(f"       {time_text} {share_text}  {name_of(row, by)}")


def find_gemm(ops):
    for row in ops.rows:
        category = str(field(row, "category", "op_category") or "").lower()
        if "gemm" in category or name_of(row) in ("aten::mm", "aten::addmm", "aten::bmm"):
            return row
    return ops.rows[0] if ops.rows else None


def converse(server, trace, output):
    hello = server.ask("initialize", {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "quickstart", "version": "1"}})
    server.send("notifications/initialized")
    who = hello.get("serverInfo", {})
    tools = server.ask("tools/list")["tools"]
    print(f"  {who.get('name')} {who.get('version')}, protocol {hello['protocolVersion']}, "
          f"{len(tools)} tools")
    session = Session(server, trace)
    loaded = session.ask("Load the trace.", "load_trace", show_progress=True)
    if isinstance(loaded.trace, str):
        session.trace = loaded.trace
    elif isinstance(loaded.trace, dict) and loaded.trace.get("id"):
        session.trace = loaded.trace["id"]
    timeline = session.ask("How much of the time does the GPU work?", "gpu_timeline")
    print_rows(timeline, 10)
    groups = session.ask("Which kinds of work take the time?", "ops_summary", by="category",
                         limit=8)
    print_rows(groups, 8, "category")
    ops = session.ask("And which ops?", "ops_summary", by="op", limit=15)
    print_rows(ops, 6)
    parents = None
    gemm = find_gemm(ops)
    if gemm is not None and field(gemm, "row") is not None:
        parents = session.try_ask(f"Who calls {name_of(gemm)}?", "parent_chain",
                                  row=field(gemm, "row"))
        if parents:
            for row in parents.rows[:6]:
                print(f"       {name_of(row)}")
    session.try_ask("Only the GEMMs, please.", "category_filter", category="GEMM",
                    output_dir=str(output))
    report = session.ask("The whole report, as files.", "perf_report", output_dir=str(output))
    return session, timeline, groups, ops, gemm, report


def conclude(timeline, groups, ops, output, seconds):
    print("\nWhere the time went")
    idle = [row for row in timeline.rows if "idle" in name_of(row).lower()]
    if idle:
        share = field(idle[0], "percent", "share", "pct")
        print(f"  The GPU had nothing to do for {time_of(idle[0]):.3f}"
              + (f" ({number(share):.1f} % of the trace)." if share is not None else "."))
    exposed = [row for row in timeline.rows if "exposed_comm" in name_of(row).lower()]
    if exposed and time_of(exposed[0]) > 0:
        print(f"  Communication with nothing beside it took {time_of(exposed[0]):.3f}.")
    if groups.rows:
        total = sum(time_of(row) for row in groups.rows) or 1.0
        first = groups.rows[:3]
        print("  Of the kernels' time, " + ", ".join(
            f"{100 * time_of(row) / total:.0f} % is {name_of(row, 'category')}" for row in first) + ".")
    if ops.rows:
        print(f"  The most expensive op is {name_of(ops.rows[0])}.")
    files = sorted(p for p in output.rglob("*") if p.is_file())
    print(f"\n  {len(files)} files in {output}:")
    for path in files[:12]:
        print(f"    {path.relative_to(output)} ({path.stat().st_size} bytes)")
    if len(files) > 12:
        print(f"    and {len(files) - 12} more")
    print(f"\n  All of it took {seconds:.1f} s.")


def main(binary, trace, output):
    output = pathlib.Path(output).resolve()
    output.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    server = Server(binary)
    try:
        _, timeline, groups, ops, _, _ = converse(server, trace, output)
    except (Failed, BrokenPipeError, KeyError) as failure:
        server.process.kill()
        print(f"quickstart: {failure}", file=sys.stderr)
        return 1
    server.close()
    conclude(timeline, groups, ops, output, time.monotonic() - began)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
