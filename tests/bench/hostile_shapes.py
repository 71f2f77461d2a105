"""Traces whose shape makes careless code slow: each kind is valid and has one dimension that grows.

    hostile_shapes.py KIND N OUT
    hostile_shapes.py --list

growth.py runs every tool on growing ones and prints how the cost grows. Standard library only."""

import json
import sys

DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 80000000000, "computeMajor": 9,
          "computeMinor": 0, "numSms": 132}
ADD_KERNEL = "void at::native::vectorized_elementwise_kernel<%d, at::native::CUDAFunctor_add<float>>(int)"
KINDS = {}


def kind(maker):
    KINDS[maker.__name__] = maker
    return maker


def span(name, ts, dur, pid=1, tid=1, cat="cpu_op", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def op(name, ts, dur, i, tid=1, **args):
    return span(name, ts, dur, tid=tid,
                **{"External id": i, "Input Dims": [[128, 128]], "Input type": ["float"], **args})


def runtime(name, ts, dur, i, tid=1, **args):
    return span(name, ts, dur, tid=tid, cat="cuda_runtime", **{"correlation": i, "External id": i, **args})


def launch(ts, i, tid=1):
    return runtime("cudaLaunchKernel", ts, 1, i, tid)


def kernel(name, ts, dur, i, stream=7, **args):
    return span(name, ts, dur, pid=0, tid=stream, cat="kernel",
                **{"correlation": i, "External id": i, "device": 0, "stream": stream, "grid": [1, 1, 1],
                   "block": [128, 1, 1], **args})


def python(name, ts, dur, i, parent):
    return span(name, ts, dur, cat="python_function", **{"Python id": i, "Python parent id": parent})


def calls(n, name=lambda i: "aten::op%d" % (i % 9), tid=lambda i: 1, stream=lambda i: 7, kernel_name=lambda i: "k",
          **args):
    """n operations one after the other, each with a launch and a kernel."""
    events = []
    for i in range(n):
        ts = 1000 + i * 10
        events += [op(name(i), ts, 8, i, tid(i), **args), launch(ts + 2, i, tid(i)),
                   kernel(kernel_name(i), ts + 4, 5, i, stream(i))]
    return events


def work_below(n, every, name=lambda i: "aten::mm", kernel_name=lambda i: "k"):
    """A short call with its kernel for every so many of n events that are nested around it."""
    events = []
    for i in range(0, n, every):
        ts = 1000 + n + i * 2
        events += [op(name(i), ts, 4, i), launch(ts, i), kernel(kernel_name(i), ts + 1, 2, i)]
    return events


@kind
def flat(n):
    return calls(n, name=lambda i: "aten::mm")


@kind
def distinct(n):
    return calls(n, name=lambda i: "aten::op%d" % i, kernel_name=lambda i: "kernel_%d" % i)


@kind
def nested(n):
    """One stack of n calls."""
    events = [op("aten::op%d" % (i % 7), 1000 + i, 8 * n - 2 * i, i) for i in range(n)]
    for i in range(0, n, 10):
        events += [launch(1000 + n + i * 2, i), kernel("k", 1000 + n + i * 2 + 1, 2, i)]
    return events


@kind
def nested_py(n):
    events = [python("f.py(%d): f%d" % (i, i), 1000 + i, 8 * n - 2 * i, i + 1, i) for i in range(n)]
    return events + work_below(n, 10)


@kind
def nested_mod(n):
    events = [python("nn.Module: M%d_%d" % (i, i), 1000 + i, 8 * n - 2 * i, i + 1, i) for i in range(n)]
    return events + work_below(n, 4, lambda i: "aten::op%d" % i, lambda i: "k%d" % i)


@kind
def layers(n):
    """n modules of one class one after the other, each with four calls."""
    events = [python("nn.Module: Model_0", 900, 60 * n + 200, 1, 0)]
    for i in range(n):
        ts = 1000 + i * 60
        events.append(python("nn.Module: Layer_%d" % i, ts, 55, i + 2, 1))
        for j, name in enumerate(["aten::mm", "aten::add", "aten::mul", "aten::mm"]):
            call = i * 4 + j
            events += [op(name, ts + 2 + j * 12, 8, call), launch(ts + 4 + j * 12, call),
                       kernel("k%d" % j, ts + 6 + j * 12, 5, call)]
    return events


@kind
def stagger_cpu(n):
    """Calls of one thread that overlap and are never nested."""
    events = []
    for i in range(n):
        events += [op("aten::op%d" % (i % 9), 1000 + i, n, i), launch(1000 + i, i),
                   kernel("k", 1000 + i * 3, 2, i)]
    return events


@kind
def stagger_gpu(n):
    events = []
    for i in range(n):
        ts = 1000 + i * 10
        events += [op("aten::op%d" % (i % 9), ts, 8, i), launch(ts + 2, i), kernel("k", 1000 + i, n, i)]
    return events


@kind
def streams(n):
    """All kernels at the same time, one on each stream."""
    events = []
    for i in range(n):
        ts = 1000 + i * 10
        events += [op("aten::op%d" % (i % 9), ts, 8, i), launch(ts + 2, i),
                   kernel("k", 1000 + i, 10 * n, i, stream=i)]
    return events


@kind
def streams_seq(n):
    return calls(n, stream=lambda i: i)


@kind
def threads(n):
    return calls(n, tid=lambda i: i)


@kind
def samecorr(n):
    events = []
    for i in range(n):
        ts = 1000 + i * 10
        events += [op("aten::op%d" % (i % 9), ts, 8, 1), launch(ts + 2, 1), kernel("k", ts + 4, 5, 1)]
    return events


@kind
def sameseq(n):
    events = calls(n, name=lambda i: "aten::mm", **{"Sequence number": 5, "Fwd thread id": 0})
    for i in range(n, 2 * n):
        ts = 1000 + i * 10
        events += [op("MmBackward0", ts, 8, i, tid=2, **{"Sequence number": 5, "Fwd thread id": 1}),
                   launch(ts + 2, i, tid=2), kernel("k", ts + 4, 5, i)]
    return events


@kind
def manykernels(n):
    """One call with n kernels of different names."""
    events = [op("aten::mm", 1000, 10 * n, 1)]
    for i in range(n):
        ts = 1001 + i * 8
        events += [launch(ts, i), kernel("kernel_%d" % i, ts + 2, 5, i)]
    return events


@kind
def graphs(n):
    """n replays of a graph of four kernels."""
    events = []
    for i in range(n):
        ts = 1000 + i * 50
        events.append(runtime("cudaGraphLaunch", ts, 5, i))
        events += [kernel("k%d" % j, ts + 6 + j * 10, 9, i, **{"graph id": 1, "graph node id": j})
                   for j in range(4)]
    return events


@kind
def one_graph(n):
    """One replay of a graph of n kernels."""
    events = [runtime("cudaGraphLaunch", 1000, 5, 1)]
    events += [kernel("k%d" % (i % 9), 1010 + i * 10, 9, 1, **{"graph id": 1, "graph node id": i})
               for i in range(n)]
    return events + calls(5)


@kind
def dims(n):
    """n different sets of arguments of one operation."""
    events = []
    for i in range(n):
        ts = 1000 + i * 10
        events += [op("aten::mm", ts, 8, i, **{"Input Dims": [[i + 1, 7], [7, 9]], "Input type": ["float", "float"]}),
                   launch(ts + 2, i), kernel("k", ts + 4, 5, i)]
    return events


@kind
def steps(n):
    events = []
    for i in range(n):
        events.append(span("ProfilerStep#%d" % i, 1000 + i * 10, 9, cat="user_annotation"))
    return events + flat(n)


@kind
def annots(n):
    """Nested annotations, on the GPU too."""
    events = []
    for i in range(n):
        events += [span("a%d" % i, 1000 + i, 8 * n - 2 * i, cat="user_annotation"),
                   span("a%d" % i, 1000 + i, 8 * n - 2 * i, pid=0, tid=7, cat="gpu_user_annotation")]
    return events + work_below(n, 4)


@kind
def stagger_annots(n):
    """Annotations that overlap and are never nested, around calls that are one after the other."""
    events = []
    for i in range(n):
        ts = 1000 + i * 10
        events += [span("a%d" % (i % 9), ts, 10 * n, cat="user_annotation"),
                   span("a%d" % (i % 9), ts, 10 * n, pid=0, tid=7, cat="gpu_user_annotation")]
    return events + calls(n)


@kind
def nccl(n):
    events = []
    for i in range(n):
        ts = 1000 + i * 20
        comm = {"External id": i, "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024,
                "dtype": "Float", "Group size": 2, "Process Group Name": "%d" % (i % 50),
                "Process Group Ranks": "[0, 1]"}
        events += [span("c10d::allreduce_", ts, 10, **{"External id": i}),
                   span("record_param_comms", ts + 1, 8, **comm), launch(ts + 3, i),
                   kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", ts + 5, 10, i, 20,
                          **{**comm, "Process Group Description": "x"})]
    return events


@kind
def nccl_groups(n):
    events = nccl(n)
    for i, event in enumerate(events):
        if "Process Group Name" in event["args"]:
            event["args"]["Process Group Name"] = str(i)
    return events


@kind
def dupes(n):
    """The same three events n times."""
    return [op("aten::mm", 1000, 8, 1), launch(1002, 1), kernel("k", 1004, 5, 1)] * n


@kind
def arrows(n):
    events = flat(n)
    for i in range(n):
        events += [{"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 1002 + i * 10, "cat": "ac2g", "name": "ac2g"},
                   {"ph": "f", "id": 1, "pid": 0, "tid": 7, "ts": 1004 + i * 10, "cat": "ac2g", "name": "ac2g",
                    "bp": "e"}]
    return events


@kind
def beginend(n):
    events = [{"ph": "B", "cat": "cpu_op", "name": "a%d" % i, "pid": 1, "tid": 1, "ts": 1000 + i} for i in range(n)]
    events += [{"ph": "E", "pid": 1, "tid": 1, "ts": 1000 + n + i} for i in range(n)]
    return events + flat(100)


@kind
def chain_elem(n):
    """A chain of elementwise calls: one candidate for fusion of n members."""
    return calls(n, name=lambda i: "aten::add", kernel_name=lambda i: ADD_KERNEL % 4,
                 **{"Input Dims": [[1024, 1024], [1024, 1024]], "Input type": ["float", "float"]})


@kind
def chain_distinct(n):
    events = []
    for i in range(n):
        ts = 1000 + i * 10
        shapes = {"Input Dims": [[1024, i + 1], [1024, i + 1]], "Input type": ["float", "float"]}
        events += [op("aten::add", ts, 8, i, **shapes), launch(ts + 2, i), kernel(ADD_KERNEL % i, ts + 4, 5, i)]
    return events


@kind
def repeats(n):
    """The same product of the same tensors n times, between casts: work that is done again."""
    events = []
    for i in range(n):
        ts = 1000 + i * 20
        tensor = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"],
                  "Concrete Inputs": ["", ""]}
        events += [op("aten::_to_copy", ts, 8, 2 * i), launch(ts + 2, 2 * i), kernel("cast", ts + 4, 5, 2 * i),
                   op("aten::mm", ts + 10, 8, 2 * i + 1, **tensor), launch(ts + 12, 2 * i + 1),
                   kernel("gemm", ts + 14, 5, 2 * i + 1)]
    return events


@kind
def memcpys(n):
    """Copies that the host waits for, one by one."""
    events = []
    for i in range(n):
        ts = 1000 + i * 20
        events += [runtime("cudaMemcpyAsync", ts, 2, i),
                   span("Memcpy HtoD (Pageable -> Device)", ts + 3, 4, pid=0, tid=7, cat="gpu_memcpy",
                        **{"correlation": i, "device": 0, "stream": 7, "bytes": 100}),
                   runtime("cudaStreamSynchronize", ts + 9, 5, 10 * n + i)]
    return events + flat(5)


@kind
def waits(n):
    """Two streams that wait for each other by events, and a host that polls."""
    events = calls(n, stream=lambda i: 7 + i % 2)
    for i in range(n):
        ts = 1008 + i * 10
        events += [runtime("cudaEventRecord", ts + 0.1, 0.1, 10 * n + i),
                   runtime("cudaStreamWaitEvent", ts + 0.3, 0.1, 20 * n + i),
                   runtime("cudaEventQuery", ts + 0.5, 0.1, 30 * n + i)]
    return events


@kind
def allocator(n):
    """n changes of the allocated memory beside the calls."""
    events = flat(n)
    for i in range(n):
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1,
                       "ts": 1003 + i * 10,
                       "args": {"Addr": 4096 + i % 97, "Bytes": 512 if i % 2 else -512, "Total Allocated": 1 << 20,
                                "Total Reserved": 1 << 24, "Device Type": 1, "Device Id": 0}})
    return events


def write(name, n, path):
    document = {"deviceProperties": [DEVICE], "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
                "traceEvents": KINDS[name](n)}
    with open(path, "w") as out:
        json.dump(document, out)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(" ".join(KINDS))
    elif len(sys.argv) == 4 and sys.argv[1] in KINDS:
        write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(__doc__)
