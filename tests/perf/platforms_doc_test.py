#!/usr/bin/env python3
"""The tables of docs/platforms.md say what src/perf/platforms.json says.

    UPDATE_GOLDEN=1 platforms_doc_test.py     rewrites them
"""

import json
import os
import pathlib
import unittest

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
DATA = ROOT / "src/perf/platforms.json"
PAGE = ROOT / "docs/platforms.md"

PEAKS = ["matrix_fp64", "matrix_fp32", "matrix_tf32", "matrix_fp16", "matrix_bf16", "matrix_fp8",
         "matrix_fp6", "matrix_fp4", "matrix_int8", "vector_fp64", "vector_fp32", "vector_fp16",
         "vector_bf16"]


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(names):
    return [row(names), "|" + "---|" * len(names)]


def rates(platform, key, marked, mark):
    """spec -> text, with a mark on those that need one."""
    marks = platform.get(marked, [])
    return {spec: f"{rate:g}{mark if spec in marks else ''}"
            for spec, rate in platform.get(key, {}).items()}


def peak_table(platforms):
    lines = head(["platform", "GB", "GB/s", *PEAKS, "figures"])
    for p in platforms:
        peaks = rates(p, "peak_tflops_dense", "derived", "*")
        assert set(peaks) <= set(PEAKS), peaks
        lines.append(row([p["name"], p["memory_gb"], f"{p['mem_bw_gbps']:g}",
                          *(peaks.get(spec, "-") for spec in PEAKS), p["confidence"]]))
    return lines


def achievable_table(platforms):
    lines = head(["platform", "achievable TFLOP/s"])
    for p in platforms:
        figures = rates(p, "max_achievable_tflops", "not_measured", "†")
        if figures:
            lines.append(row([p["name"], ", ".join(f"{spec} {v}" for spec, v in figures.items())]))
        if "tracelens_tflops" in p:
            lines.append(row([p["name"] + ", `compat: tracelens`",
                              ", ".join(f"{spec} {v:g}" for spec, v in p["tracelens_tflops"].items())]))
    return lines


def name_table(data):
    lines = head(["platform", "device name in a trace", "also known as", "note"])
    for p in data["platforms"]:
        lines.append(row([p["name"], ", ".join(p["device_names"]) or "-",
                          ", ".join(p.get("aliases", [])) or "-", p.get("note", "")]))
    for refused in data["refused"]:
        lines.append(row(["none", ", ".join(refused["device_names"]), "-", refused["why"]]))
    return lines


def filled(page, name, lines):
    """The page with the lines between its two marks of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return before + begin + "\n".join(lines) + "\n" + end + after


class PlatformsPage(unittest.TestCase):
    maxDiff = None

    def test_tables_are_the_data(self):
        data = json.loads(DATA.read_text(encoding="utf-8"))
        page = PAGE.read_text(encoding="utf-8")
        new = filled(page, "peaks", peak_table(data["platforms"]))
        new = filled(new, "achievable", achievable_table(data["platforms"]))
        new = filled(new, "names", name_table(data))
        if os.environ.get("UPDATE_GOLDEN"):
            PAGE.write_text(new, encoding="utf-8")
            page = new
        self.assertEqual(page, new, "UPDATE_GOLDEN=1 writes the tables anew")


if __name__ == "__main__":
    unittest.main()
