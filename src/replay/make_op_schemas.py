#!/usr/bin/env python3
"""Writes data/op_schemas_*.txt, the schemas of PyTorch's operators, from the torch that is installed.

    make_op_schemas.py            writes the table
    make_op_schemas.py --check    exits 1 if the table is not what this torch gives

The table is what make_replay matches recorded arguments with, so that the program needs no torch.
Operators that are younger than the torch at hand are added from data/newer_op_schemas.txt; they
come last, so a schema of the real registry always has precedence. Needs torch and nothing else."""

import pathlib
import re
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parent / "data"
NEWER = FOLDER / "newer_op_schemas.txt"


def op_name(schema):
    return re.split(r"[.(]", schema, maxsplit=1)[0]


def registered():
    """Schemas of aten that have to do with tensors, in the order of the registry."""
    for schema in map(str, torch._C._jit_get_all_schemas()):
        # "..." takes any arguments, so nothing can be matched with it.
        if schema.startswith("aten::") and "Tensor" in schema and "..." not in schema:
            yield schema


def by_name(schemas):
    # Stable: the overloads of one operator keep the registry's order, in which they are tried.
    return sorted(dict.fromkeys(schemas), key=op_name)


def make_tables():
    """File name -> text. Two files, as a compiler reads literals of so many characters at most."""
    newer = [line for line in NEWER.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    known = by_name(registered())
    have = set(known)
    schemas = by_name([*known, *(schema for schema in newer if schema not in have)])
    tables = {}
    for part, rows in (("a_to_l", [s for s in schemas if s[6:] < "m"]),
                       ("m_to_z", [s for s in schemas if s[6:] >= "m"])):
        tables[f"op_schemas_{part}.txt"] = "\n".join(
            ["# Made by make_op_schemas.py. Do not edit.", f"# torch {torch.__version__}", *rows, ""])
    return tables


def main():
    for name, text in make_tables().items():
        path = FOLDER / name
        if "--check" in sys.argv[1:]:
            if path.read_text(encoding="utf-8") != text:
                sys.exit(f"{name} is not what torch {torch.__version__} gives")
            continue
        path.write_text(text, encoding="utf-8")
        rows = text.count("\n") - 2
        print(f"{path}: {rows} schemas of torch {torch.__version__}")


if __name__ == "__main__":
    main()
