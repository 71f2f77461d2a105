"""Traces of several ranks for tests: collectives with chosen times and args, written as a profiler
would. Standard library only."""

import gzip
import json


def kernel(ts, dur, correlation, stream=7, name="ncclDevKernel_AllReduce", **args):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
            "args": {"stream": stream, "correlation": correlation, "External id": correlation,
                     **args}}


def collective(name, dtype, size, elements_in, elements_out, group="0", ranks=None, **more):
    return {"Collective name": name, "dtype": dtype, "Group size": size,
            "In msg nelems": elements_in, "Out msg nelems": elements_out,
            "In split size": "[]", "Out split size": "[]", "Process Group Name": group,
            "Process Group Ranks": ranks or str(list(range(size))), **more}


def trace(events, rank=None, world=None, **top):
    document = {"schemaVersion": 1, **top, "traceEvents": events}
    if rank is not None or world is not None:
        info = {"backend": "nccl", "rank": rank, "world_size": world}
        document["distributedInfo"] = {k: v for k, v in info.items() if v is not None}
    return document


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = document if isinstance(document, str) else json.dumps(document)
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
    return str(path)
