"""What batched_replay.py is made of: tensors as a trace describes them, operators by name, timing.

Needs torch and nothing else. Everything that comes from the trace is data: it is looked up in
tables or compared with patterns, never evaluated."""

import math
import re
import statistics
import time

import torch

# What the profiler calls element types -> the attribute of torch. Types that a torch does not have
# are a stated reason to leave an entry out.
DTYPES = {
    "float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "long int": "int64", "long": "int64", "long long": "int64", "int": "int32",
    "short int": "int16", "short": "int16", "signed char": "int8", "char": "int8",
    "unsigned char": "uint8", "bool": "bool", "unsigned short": "uint16",
    "unsigned short int": "uint16", "unsigned int": "uint32", "unsigned long": "uint64",
    "unsigned long int": "uint64", "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128", "c10::complex<c10::Half>": "complex32",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2": "float8_e5m2", "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
    "c10::Float8_e8m0fnu": "float8_e8m0fnu", "c10::Float4_e2m1fn_x2": "float4_e2m1fn_x2",
}
OPERATOR_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*::[A-Za-z_][A-Za-z0-9_]*\Z")
OVERLOAD_NAME = re.compile(r"[A-Za-z0-9_]*\Z")

# Which Python modules register the operators of a namespace. Others are imported only if the user
# names them (--import): the name in an entry comes from a trace.
MODULES = {"aten": (), "prim": (), "aiter": ("aiter",), "_rocm_C": ("vllm._rocm_C",),
           "_C": ("vllm._C",), "_C_cache_ops": ("vllm._C",), "vllm": ("vllm", "vllm._C"),
           "torchvision": ("torchvision",), "fbgemm": ("fbgemm_gpu",), "sgl_kernel": ("sgl_kernel",),
           "flash_attn": ("flash_attn",), "xformers": ("xformers",),
           "transformer_engine": ("transformer_engine.pytorch",)}
# Spellings of one operator in releases of its package.
ALIASES = {"wvSplitK": "wvSpltK", "wvSpltK": "wvSplitK"}

SHORT_US = 20.0  # below this a launch costs as much as the kernel
L2_BYTES = 256 << 20
WAIT_CYCLES = 200_000  # some hundred microseconds


class Unreplayable(Exception):
    """An entry that cannot be run here, with the reason."""


class TooLarge(Unreplayable):
    """... because it needs more memory than there is."""


# Tensors

def dtype_of(name):
    attribute = DTYPES.get(name)
    if attribute is None:
        raise Unreplayable(f"element type {name!r} is not known")
    dtype = getattr(torch, attribute, None)
    if dtype is None:
        raise Unreplayable(f"torch {torch.__version__} has no {attribute}")
    return dtype


def storage_elements(shape, strides):
    """Elements from the first to the last that a tensor touches, and how far before its first
    element negative strides reach."""
    if 0 in shape:
        return 0, 0
    before = sum((size - 1) * -stride for size, stride in zip(shape, strides) if stride < 0)
    after = sum((size - 1) * stride for size, stride in zip(shape, strides) if stride > 0)
    return 1 + before + after, before


def contiguous_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def strides_of(config):
    """As recorded, else those of a dense tensor."""
    return config.get("strides") or contiguous_strides(config["shape"])


def tensors_of(value):
    if isinstance(value, dict) and "shape" in value:
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from tensors_of(element)


def fill(flat, config, generator):
    """Fills a flat buffer by the entry's rule. The buffer is all storage of the tensor, so zero
    strides and overlaps need no care."""
    rule = config.get("init", "normal")
    if rule is None or flat.numel() == 0:
        return
    if not (flat.dtype.is_floating_point or flat.dtype.is_complex):
        if rule == "randint":
            low = int(config.get("low", 0))
            high = max(int(config.get("high", low + 1)), low + 1)
            flat.copy_(torch.randint(low, high, flat.shape, generator=generator,
                                     device=generator.device))
        elif rule == "offsets":
            last = int(config.get("high", 0))
            flat.copy_(torch.linspace(0, last, flat.numel() + 1)[:-1].floor().to(flat.dtype))
        elif rule == "bernoulli":
            flat.copy_(torch.randint(0, 2, flat.shape, generator=generator,
                                     device=generator.device))
        else:  # integers have no normal distribution
            flat.fill_(1 if rule == "ones" else 0)
        return
    if rule in ("zeros", "ones"):
        flat.fill_(0.0 if rule == "zeros" else 1.0)
        return
    # Small types have no random numbers of their own: made in float32, piece by piece, and cast.
    narrow = flat.dtype not in (torch.float32, torch.float64)
    step = 1 << 24
    for start in range(0, flat.numel(), step):
        piece = flat[start:start + step]
        made = torch.empty(piece.shape, dtype=torch.float32 if narrow else flat.dtype,
                           device=flat.device)
        if rule == "uniform":
            made.uniform_(0.5, 1.5, generator=generator)
        else:
            made.normal_(0.0, float(config.get("std", 1.0)), generator=generator)
        piece.copy_(made)


def build_tensor(config, device, generator, dtype=None):
    """A tensor of the given sizes and strides: with zero strides, overlaps and steps backwards."""
    shape = [int(size) for size in config["shape"]]
    strides = config.get("strides")
    strides = contiguous_strides(shape) if strides is None else [int(step) for step in strides]
    if len(strides) != len(shape) or any(size < 0 for size in shape):
        raise Unreplayable("sizes and strides of a tensor do not fit each other")
    if any(step < 0 for step in strides):
        raise Unreplayable("torch has no tensors with negative strides")
    wanted = dtype_of(config["dtype"]) if dtype is None else dtype
    elements, _ = storage_elements(shape, strides)
    try:
        flat = torch.empty(elements, dtype=wanted, device=device)
    except (RuntimeError, MemoryError) as error:
        raise TooLarge(f"no memory for a tensor of {elements} elements") from error
    fill(flat, config, generator)
    if 0 in shape:
        return torch.empty_strided(shape, strides, dtype=wanted, device=device)
    return flat.as_strided(shape, strides)


# Arguments

def number_of(value, arg_type):
    """JSON has no infinity: those stand as text."""
    if isinstance(value, str) and arg_type.rstrip("?") in ("float", "Scalar", "number"):
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}.get(value.lower(), value)
    return value


class Builder:
    """Makes the values of an entry's arguments."""

    def __init__(self, device, seed, cast=None):
        self.device = device
        self.cast = cast or {}  # dtype -> the dtype that stands in for it
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)

    def tensor(self, config):
        dtype = None
        if self.cast:
            attribute = DTYPES.get(config["dtype"])
            dtype = self.cast.get(attribute)
        return build_tensor(config, self.device, self.generator, dtype)

    def value(self, arg):
        value, arg_type = arg["value"], arg["arg_type"]
        if arg_type.startswith("Device"):
            return torch.device(self.device)
        if isinstance(value, dict):
            return self.tensor(value)
        if isinstance(value, list) and arg_type.startswith("Tensor"):
            return [None if one is None else self.tensor(one) for one in value]
        return number_of(value, arg_type)

    def call(self, entry):
        """name -> value, in the order of the schema; and which of them are keyword-only."""
        ir = entry["replay_ir"]
        values = {arg["arg_name"]: self.value(arg) for arg in ir["list_pos_args"]}
        keywords = {arg["arg_name"]: self.value(arg) for arg in ir["list_kwargs"]}
        return values, keywords


# Operators

def check_name(name):
    if not isinstance(name, str) or not OPERATOR_NAME.match(name) or "__" in name.split("::")[0]:
        raise Unreplayable("the entry's name is no operator's")


def load_namespace(namespace):
    """Imports what registers the operators of a namespace. -> modules that are missing."""
    missing = []
    for module in MODULES.get(namespace, ()):
        try:
            __import__(module)
        except Exception as error:  # packages with broken libraries fail in their own ways
            missing.append(f"{module} ({type(error).__name__})")
    return missing


def packet_of(name):
    check_name(name)
    namespace, op = name.split("::")
    missing = []
    for attempt in range(2):
        for spelling in filter(None, (op, ALIASES.get(op))):
            try:
                return getattr(getattr(torch.ops, namespace), spelling)
            except (AttributeError, RuntimeError):
                continue
        if attempt == 0:
            missing = load_namespace(namespace)
    hint = ""
    if missing:
        hint = f"; install {', '.join(missing)}"
    elif namespace not in MODULES:
        hint = f"; name the module that registers {namespace} with --import"
    raise Unreplayable(f"no operator {name} in torch {torch.__version__}{hint}")


def overload_of(packet, overload):
    name = overload or "default"
    if not OVERLOAD_NAME.match(name):
        raise Unreplayable("the entry's overload has no operator's name")
    try:
        return getattr(packet, name)
    except AttributeError:
        raise Unreplayable(f"torch {torch.__version__} has no overload {name} of it") from None


def call_arguments(schema, positional, keywords):
    """Arguments of an entry, made for another release's schema, as this torch takes them.
    -> positional values, keyword values, names that this torch does not know."""
    given = {**positional, **keywords}
    args, named = [], {}
    order = list(positional)
    for place, arg in enumerate(schema.arguments):
        if arg.name in given:
            value = given.pop(arg.name)
        elif arg.name == "input_dtype":  # was a tensor of that type
            value = next(v.dtype for v in given.values() if torch.is_tensor(v))
        elif place < len(order) and order[place] in given and not arg.kwarg_only and \
                torch.is_tensor(given[order[place]]) == ("Tensor" in str(arg.type)):
            value = given.pop(order[place])  # renamed since
        elif arg.has_default_value():
            value = arg.default_value
        elif "Optional" in str(arg.type):
            value = None
        else:
            raise Unreplayable(f"this torch wants an argument {arg.name} that the trace has not")
        if arg.kwarg_only:
            named[arg.name] = value
        else:
            args.append(value)
    dropped = [name for name, value in given.items() if value is not None]
    return args, named, dropped


# Timing

def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def statistics_of(samples):
    ordered = sorted(samples)
    return {"mean_us": statistics.fmean(ordered), "median_us": statistics.median(ordered),
            "std_us": statistics.pstdev(ordered), "min_us": ordered[0], "max_us": ordered[-1],
            "iterations": len(ordered)}


def time_on_cpu(call, warmup, iters, deadline):
    for _ in range(warmup):
        call()
        if time.perf_counter() > deadline:
            break
    samples = []
    for _ in range(iters):
        start = time.perf_counter_ns()
        call()
        samples.append((time.perf_counter_ns() - start) / 1000)
        if time.perf_counter() > deadline:
            break
    return statistics_of(samples)


def time_on_gpu(call, warmup, iters, deadline, flush):
    for _ in range(warmup):
        call()
        if time.perf_counter() > deadline:
            break
    torch.cuda.synchronize()
    # The GPU waits while the host gets ahead, so that the time of launching is not measured: a trace
    # has the time of the kernels alone.
    wait = getattr(torch.cuda, "_sleep", None)
    samples = []
    for _ in range(iters):
        if flush is not None:
            flush.sum()
        if wait is not None:
            wait(WAIT_CYCLES)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) * 1000)
        if time.perf_counter() > deadline:
            break
    return statistics_of(samples)


def time_batch(call, count):
    """Of one of many calls in a row: the time on the GPU, and the host's for launching it."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin = time.perf_counter()
    start.record()
    for _ in range(count):
        call()
    end.record()
    host_us = (time.perf_counter() - begin) * 1e6 / count
    end.synchronize()
    return start.elapsed_time(end) * 1000 / count, host_us


def benchmark(call, device, warmup, iters, seconds, flush_l2=False):
    """Median, mean and spread of a call in microseconds, within about `seconds`."""
    deadline = time.perf_counter() + seconds
    if device != "cuda":
        return time_on_cpu(call, warmup, iters, deadline)
    flush = torch.empty(L2_BYTES // 4, device="cuda") if flush_l2 else None
    result = time_on_gpu(call, warmup, iters, deadline, flush)
    if result["median_us"] < SHORT_US:
        # Events cost some microseconds too; a batch spreads that over many calls.
        result["batched_us"], result["host_us"] = time_batch(call, 200)
        result["launch_bound"] = result["host_us"] > 0.8 * result["batched_us"]
    return result


def best_time(result):
    return min(result["median_us"], result.get("batched_us", result["median_us"]))
