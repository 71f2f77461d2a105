#!/usr/bin/env python3
"""docs/ops.md says what src/perf/models/*.json says.

    UPDATE_GOLDEN=1 ops_doc_test.py     writes it anew (as docs/make_ops.py does)
"""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT / "docs"))
import make_ops  # noqa: E402


class OpsPage(unittest.TestCase):
    def test_the_page_is_what_the_rows_make(self):
        if os.environ.get("UPDATE_GOLDEN"):
            make_ops.main()
        self.assertEqual(make_ops.PAGE.read_text(encoding="utf-8"), make_ops.page(),
                         "docs/make_ops.py writes the page anew")

    def test_every_name_is_listed(self):
        page = make_ops.page()
        index = page[page.index("## Index by op"):]
        names = [op for family in make_ops.read_families().values() for row in family.get("rows", [])
                 for op in row.get("ops", [])]
        self.assertGreater(len(names), 500)
        for name in names:
            self.assertIn(f"| `{name}` |", index)

    def test_formulas_are_those_after_inheritance(self):
        rows = make_ops.Rows(make_ops.read_families())
        addmm = rows.flat(rows.by_op["aten::addmm"])
        self.assertEqual(addmm["model"], "gemm.addmm")
        self.assertEqual(addmm["category"], "GEMM")
        self.assertEqual(addmm["unit"], "matrix")
        self.assertEqual(addmm["flops"], rows.by_model["gemm"]["flops"])


if __name__ == "__main__":
    unittest.main()
