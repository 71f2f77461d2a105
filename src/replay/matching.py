"""Finds the schema of an entry that was made without one: an operator of a package that only this
machine has. The same rules as in the program that wrote the entry."""

import re

import utils

INTEGER = re.compile(r"[+-]?[0-9]+\Z")
INTEGERS = ("int", "SymInt", "ScalarType", "Layout", "MemoryFormat")


class NoMatch(Exception):
    pass


def plain_value(base, text):
    """A number or a flag as the profiler wrote it."""
    lower = text.strip().lower()
    if base == "bool" and lower in ("true", "false"):
        return lower == "true"
    if base in INTEGERS or base in ("Scalar", "number"):
        if INTEGER.match(lower):
            return int(lower)
    if base in ("Scalar", "number") and lower in ("true", "false"):
        return lower == "true"
    if base in ("float", "Scalar", "number"):
        try:
            return float(lower)
        except ValueError:
            pass
    raise NoMatch(f"{text[:40]!r} is no {base}")


def list_value(base, text):
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        raise NoMatch(f"{text[:40]!r} is no list")
    inner = text[1:-1].strip()
    return [plain_value(base, part) for part in inner.split(",")] if inner else []


def type_parts(arg_type):
    """"Tensor(a!)?[]" -> ("Tensor", is a list, may be None)"""
    text = re.sub(r"\([^()]*\)", "", arg_type)
    optional = text.endswith("?")
    text = text.rstrip("?")
    is_list = text.endswith("]")
    base = re.sub(r"\?$", "", text[:text.index("[")]) if is_list else text
    return base, is_list, optional


def tensor_config(shape, dtype, strides):
    fits = isinstance(strides, list) and len(strides) == len(shape)
    return {"shape": shape, "dtype": dtype, "strides": strides if fits else None,
            "init": "normal" if dtype.startswith(("float", "double", "c10::")) else "zeros"}


def match_arg(arg, dims, dtype, strides, text):
    base, is_list, optional = type_parts(arg["arg_type"])
    if base == "Tensor":
        if is_list and dims and isinstance(dims[0], list):
            steps = strides if isinstance(strides, list) and len(strides) == len(dims) else \
                [None] * len(dims)
            return [tensor_config(d, "float", s) for d, s in zip(dims, steps)]
        if dtype in utils.DTYPES and not is_list:
            return tensor_config(dims, dtype, strides)
        if dtype == "" and not dims:
            return None
        raise NoMatch(f"{arg['arg_name']} is {arg['arg_type']}, recorded is {dtype[:40]!r}")
    if dtype in utils.DTYPES or dims:
        raise NoMatch(f"{arg['arg_name']} is {arg['arg_type']}, recorded is a tensor")
    if text == "":
        if arg["has_default"]:
            return arg["default"]
        if optional:
            return None
        if base == "str":
            # The profiler drops text; this is what those operators are called with.
            return "auto"
        if base in ("Device", "Generator"):
            return None
        raise NoMatch(f"the value of {arg['arg_name']} was not recorded")
    return list_value(base, text) if is_list else plain_value(base, text)


def local_args(schema):
    for arg in schema.arguments:
        text = str(arg.type)
        # Printed for Python: Optional[Tensor], List[int]; the entry's form is that of a schema.
        optional = text.startswith("Optional[")
        text = text[9:-1] if optional else text
        text = re.sub(r"^List\[Optional\[(.*)\]\]\Z", r"\1?[]", text)
        text = re.sub(r"^List\[(.*)\]\Z", r"\1[]", text)
        default = arg.default_value if arg.has_default_value() else None
        yield {"arg_name": arg.name, "arg_type": text + ("?" if optional else ""),
               "has_default": arg.has_default_value(), "default": default,
               "keyword_only": arg.kwarg_only}


def column(raw, name, count, otherwise):
    values = raw.get(name) or []
    return values if len(values) == count else [otherwise] * count


def match_schema(schema, raw):
    dims = raw["Input Dims"]
    args = list(local_args(schema))
    if len(args) < len(dims):
        raise NoMatch(f"{len(dims)} arguments recorded, {len(args)} in the schema")
    types = column(raw, "Input type", len(dims), "")
    strides = column(raw, "Input Strides", len(dims), None)
    texts = column(raw, "Concrete Inputs", len(dims), "")
    positional, keywords = [], []
    for place, arg in enumerate(args):
        if place < len(dims):
            value = match_arg(arg, dims[place], types[place], strides[place], texts[place])
        elif arg["has_default"]:
            value = arg["default"]
        else:
            raise NoMatch(f"no value for {arg['arg_name']}")
        (keywords if arg["keyword_only"] else positional).append(
            {"arg_name": arg["arg_name"], "arg_type": arg["arg_type"], "value": value})
    return {"list_pos_args": positional, "list_kwargs": keywords}


def match_entry(entry):
    """The entry with arguments by the schema that this machine's operator has."""
    packet = utils.packet_of(entry["op_name"])
    reasons = []
    for overload in packet.overloads():
        operator = utils.overload_of(packet, "" if overload == "default" else overload)
        try:
            replay_ir = match_schema(operator._schema, entry["raw"])
        except NoMatch as error:
            reasons.append(f"{overload}: {error}")
            continue
        return {**entry, "replay_ir": replay_ir,
                "resolved_overload": "" if overload == "default" else overload}
    raise utils.Unreplayable("no overload fits: " + "; ".join(reasons[:3]))
