#!/usr/bin/env python3
"""Writes docs/ops.md, the list of all operators with a model, from src/perf/models/*.json.

    docs/make_ops.py            writes the page
    docs/make_ops.py --check    exits 1 if the page is not what it should be

Standard library only."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ROOT / "src/perf/models"
PAGE = ROOT / "docs/ops.md"
NO_BACKWARD = "fail('no backward formulas')"
INHERITED = ("category", "backward_category", "sheet")  # beside the quantities

INTRO = """# Operators with a performance model

Made by `docs/make_ops.py` from `src/perf/models/*.json`; do not edit. [models.md](models.md) says what a
model is and what the words in its formulas mean. A formula stands here as it is evaluated, after
inheritance; names in it that are no parameters are quantities of the same row, in the family's file.
"""


def read_families():
    """stem -> the file's content, in the order of names."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(MODELS.glob("*.json"))}


class Rows:
    def __init__(self, families):
        rows = [row for family in families.values() for row in family.get("rows", [])]
        self.by_model = {row["model"]: row for row in rows}
        self.by_op = {op: row for row in rows for op in row.get("ops", [])}

    def flat(self, row):
        """A row's members together with what it inherits."""
        out = {}
        at = row
        while at is not None:
            for key, value in at.items():
                own = key in ("model", "like", "ops", "prefixes", "note")
                if not own or at is row:
                    out.setdefault(key, value)
            like = at.get("like")
            at = self.by_model.get(like) or self.by_op.get(like) if like else None
        out.setdefault("sheet", out.get("category", ""))
        return out


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|") or "-"


def code(text):
    if isinstance(text, bool):
        text = str(text).lower()
    text = cell(text)
    return text if text == "-" else f"``{text}``" if "`" in text else f"`{text}`"


def row_of(cells):
    return "| " + " | ".join(cells) + " |"


def head(names):
    return [row_of(names), "|" + "---|" * len(names)]


def names_of(row):
    names = [code(op) for op in row.get("ops", [])]
    return names + [f"`{prefix}`..." for prefix in row.get("prefixes", [])]


def family_lines(stem, family, rows):
    served = [rows.flat(row) for row in family["rows"] if row.get("ops") or row.get("prefixes")]
    bases = [row for row in family["rows"] if not (row.get("ops") or row.get("prefixes"))]
    lines = ["", f"## {stem}", "", family.get("about", "")]
    if bases:
        lines += ["", "To inherit from: " + ", ".join(code(row["model"]) for row in bases) + "."]
    if not served:
        return lines
    lines += ["", *head(["model", "ops", "category", "sheet", "parameters", "backward", "note"])]
    for row in served:
        backward = row.get("backward_flops", NO_BACKWARD) != NO_BACKWARD
        lines.append(row_of([
            code(row["model"]), "<br>".join(names_of(row)), cell(row.get("category", "")),
            cell(row["sheet"]), code(", ".join(name.split("=")[0] for name in row.get("params", []))),
            "yes" if backward else "no", cell(row.get("note", ""))]))
    lines += ["", *head(["model", "FLOPs", "bytes", "unit", "precision"])]
    for row in served:
        lines.append(row_of([code(row["model"]), code(row.get("flops", "")),
                             code(row.get("bytes", "")), cell(row.get("unit", "")),
                             code(row.get("precision", ""))]))
    return lines


def category_lines(families):
    lines = ["", "## Names with a category and no model", "", *head(["category", "ops"])]
    for family in families.values():
        for category, names in sorted(family.get("category_only", {}).items()):
            lines += [row_of([cell(category), code(name)]) for name in names]
    return lines


def index_lines(families):
    entries = sorted((op, stem, row["model"]) for stem, family in families.items()
                     for row in family.get("rows", [])
                     for op in row.get("ops", []) + [p + "..." for p in row.get("prefixes", [])])
    lines = ["", "## Index by op", "", f"{len(entries)} names.", "", *head(["op", "model", "family"])]
    return lines + [row_of([code(op), code(model), f"[{stem}](#{stem})"])
                    for op, stem, model in entries]


def page():
    families = read_families()
    rows = Rows(families)
    stems = [stem for stem, family in families.items() if family.get("rows")]
    lines = [INTRO, "Families: " + ", ".join(f"[{stem}](#{stem})" for stem in stems) +
             ". [Index by op](#index-by-op)."]
    for stem in stems:
        lines += family_lines(stem, families[stem], rows)
    return "\n".join(lines + category_lines(families) + index_lines(families)) + "\n"


def main():
    made = page()
    if sys.argv[1:] == ["--check"]:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == made else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
