"""One recorded call of each family of operators, as a profiler writes it."""

HALF, FLOAT, LONG, BOOL = "c10::BFloat16", "float", "long int", "bool"


def contiguous(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


class T:
    """A tensor argument."""

    def __init__(self, shape, dtype=FLOAT, strides=None):
        self.shape, self.dtype = list(shape), dtype
        self.strides = contiguous(shape) if strides is None else list(strides)


class S:
    """A scalar or a list of scalars, as text."""

    def __init__(self, text):
        self.text = text
        self.dtype = "ScalarList" if text.startswith("[") else "Scalar"


NONE = None


def recorded(args):
    """The four lists of the profiler."""
    out = {"Input Dims": [], "Input type": [], "Input Strides": [], "Concrete Inputs": []}
    for arg in args:
        if isinstance(arg, T):
            row = arg.shape, arg.dtype, arg.strides, ""
        elif isinstance(arg, list):
            row = [t.shape for t in arg], "TensorList", [t.strides for t in arg], ""
        elif isinstance(arg, S):
            row = [], arg.dtype, [], arg.text
        else:
            row = [], "", [], ""
        for key, value in zip(out, row):
            out[key].append(value)
    return out


# What a batch norm and its backward pass share.
X, C = T([4, 8, 6, 6]), T([8])
FAMILIES = [
    ("aten::add", [T([2, 4], HALF), T([2, 4], HALF), S("1.0")]),
    ("aten::mm", [T([16, 24], FLOAT), T([24, 8], FLOAT, [1, 24])]),
    ("aten::mm", [T([16, 24], HALF), T([24, 8], HALF)]),
    ("aten::addmm", [T([8]), T([16, 24]), T([24, 8], FLOAT, [1, 24]), S("1"), S("1")]),
    ("aten::bmm", [T([6, 5, 7], FLOAT, [0, 7, 1]), T([6, 7, 3])]),
    ("aten::baddbmm", [T([2, 5, 3]), T([2, 5, 7]), T([2, 7, 3]), S("0."), S("0.125")]),
    ("aten::convolution", [T([2, 4, 9, 9]), T([8, 4, 3, 3]), NONE, S("[2, 2]"), S("[1, 1]"),
                           S("[1, 1]"), S("False"), S("[0, 0]"), S("1")]),
    ("aten::convolution_backward", [T([2, 8, 5, 5]), T([2, 4, 9, 9]), T([8, 4, 3, 3]), S("[0]"),
                                    S("[2, 2]"), S("[1, 1]"), S("[1, 1]"), S("False"), S("[0, 0]"),
                                    S("1"), S("[True, True, False]")]),
    ("aten::_softmax", [T([3, 17]), S("-1"), S("False")]),
    ("aten::_log_softmax", [T([3, 17]), S("1"), S("False")]),
    ("aten::native_layer_norm", [T([5, 32]), S("[32]"), T([32]), T([32]),
                                 S("1.0000000000000001e-05")]),
    ("aten::native_layer_norm_backward", [T([5, 32]), T([5, 32]), S("[32]"), T([5, 1]), T([5, 1]),
                                          T([32]), T([32]), S("[True, True, True]")]),
    ("aten::native_batch_norm", [X, C, C, C, C, S("True"), S("0.10000000000000001"), S("1e-05")]),
    ("aten::native_batch_norm_backward", [X, X, C, C, C, C, C, S("True"), S("1e-05"),
                                          S("[True, True, True]")]),
    ("aten::native_group_norm", [X, C, C, S("4"), S("8"), S("36"), S("2"), S("1e-05")]),
    ("aten::embedding", [T([50, 8]), T([3, 5], LONG), S("-1"), S("False"), S("False")]),
    ("aten::embedding_dense_backward", [T([3, 5, 8]), T([3, 5], LONG), S("50"), S("-1"),
                                        S("False")]),
    ("aten::index_select", [T([50, 8]), S("0"), T([13], LONG)]),
    ("aten::gather", [T([6, 10]), S("1"), T([6, 3], LONG), S("False")]),
    ("aten::scatter_add_", [T([44]), S("0"), T([30], LONG), T([30])]),
    ("aten::cat", [[T([2, 3, 4]), T([2, 5, 4], FLOAT, [20, 1, 5])], S("1")]),
    ("aten::_foreach_add_", [[T([4, 4]), T([4])], [T([4, 4]), T([4])], S("-0.001")]),
    ("aten::copy_", [T([4, 6], HALF), T([4, 6], FLOAT, [1, 4]), S("False")]),
    ("aten::fill_", [T([7, 3]), S("-3.3895313892515355e+38")]),
    ("aten::topk", [T([4, 30]), S("5"), S("-1"), S("True"), S("True")]),
    ("aten::sort", [T([4, 30], LONG), S("-1"), S("True")]),
    ("aten::nll_loss_forward", [T([6, 10]), T([6], LONG), NONE, S("1"), S("-100")]),
    ("aten::mul", [T([4, 8]), T([4, 8], FLOAT, [8, 1])]),
    ("aten::pow", [T([4, 8]), S("2")]),
    ("aten::add_", [T([5], LONG), T([5], LONG), S("1")]),
    ("aten::div", [T([4, 4], "int"), T([4, 4], "int")]),
    ("aten::sum", [T([4, 8]), S("[0]"), S("True"), NONE]),
    ("aten::mean", [T([4, 8]), S("[-1]"), S("True"), NONE]),
    ("aten::argmax", [T([4, 8]), S("-1"), S("False")]),
    ("aten::cumsum", [T([32], "int"), S("0"), NONE]),
    ("aten::gelu", [T([4, 8]), NONE]),
    ("aten::threshold_backward", [T([4, 8]), T([4, 8]), S("0")]),
    ("aten::max_pool2d_with_indices", [T([2, 3, 8, 8]), S("[3, 3]"), S("[2, 2]"), S("[1, 1]"),
                                       S("[1, 1]"), S("False")]),
    ("aten::max_pool2d_with_indices_backward", [T([2, 3, 4, 4]), T([2, 3, 8, 8]), S("[3, 3]"),
                                                S("[2, 2]"), S("[1, 1]"), S("[1, 1]"), S("False"),
                                                T([2, 3, 4, 4], LONG)]),
    ("aten::masked_fill_", [T([5, 5]), T([5, 5], BOOL), S("0")]),
    ("aten::where", [T([5, 5], BOOL), T([5, 5]), T([5, 5])]),
    ("aten::eq", [T([5, 5], LONG), S("1")]),
    ("aten::clamp_min_", [T([5, 5]), S("0")]),
    ("aten::upsample_bilinear2d", [T([1, 3, 8, 8]), S("[16, 16]"), S("False"), NONE, NONE]),
]
# Values that no profiler has: the first dimension's index.
INDEX = ("aten::index", [T([9, 4]), NONE])
ATTENTION = ("aten::_flash_attention_forward", [
    T([2, 9, 4, 8]), T([2, 9, 4, 8]), T([2, 9, 4, 8]), NONE, NONE, S("9"), S("9"), S("0."),
    S("True"), S("False"), S("0.125"), NONE, NONE, NONE, NONE])


def trace_of(calls):
    """A trace in which each call launches one kernel of 10 us."""
    events = []
    for number, (name, args) in enumerate(calls):
        at = 100 * number
        events += [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 20,
             "args": {"External id": number + 1, **recorded(args)}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
             "ts": at + 5, "dur": 3, "args": {"correlation": number + 1}},
            {"ph": "X", "cat": "kernel", "name": "a_kernel<float>", "pid": 0, "tid": 7,
             "ts": at + 10, "dur": 10, "args": {"correlation": number + 1, "stream": 7,
                                                "device": 0}},
        ]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
            "traceEvents": events}
