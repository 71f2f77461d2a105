#!/usr/bin/env python3
"""The report's workbook holds what its CSV files hold, sheet by sheet: read by openpyxl and by
LibreOffice, as far as they are installed."""

import csv
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

try:
    import openpyxl
except ImportError:
    openpyxl = None
    # Debian's packages belong to Debian's Python, which need not be the first in PATH.
    DEBIANS = "/usr/bin/python3"
    if sys.executable != DEBIANS and os.path.exists(DEBIANS) and __name__ == "__main__":
        os.execv(DEBIANS, [DEBIANS, "-B", *sys.argv])

OFFICE = shutil.which("soffice")
TEXT_MAX = 32767  # of a cell in Excel
RELATIVE = 1e-9


def read_csv(path):
    csv.field_size_limit(1 << 30)
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def number(text):
    """None for a text, "nan" and "inf" among them."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Workbook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.made.name)
        cls.book = cls.folder / "book" / "report.xlsx"
        answer = program.ask("perf_report", trace=str(program.EXAMPLE),
                             output_dir=str(cls.folder / "csv"), output_xlsx=str(cls.book),
                             kernel_summary=True, short_kernel_study=True)
        cls.files = {}
        for entry in answer["files"]:
            path = pathlib.Path(entry["path"])
            if path.suffix == ".csv":
                cls.files[path.stem] = read_csv(path)
        assert "unified_perf_summary" in cls.files and len(cls.files) > 15

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    def same(self, sheet, rows):
        """`rows`: cells as text, as the CSV file has them, or as values."""
        wanted = self.files[sheet]
        self.assertEqual(len(rows), len(wanted), sheet)
        numbers = 0
        for r, (got, want) in enumerate(zip(rows, wanted)):
            got = list(got) + [""] * (len(want) - len(got))
            self.assertEqual(len(got), len(want), (sheet, r))
            for c, (a, b) in enumerate(zip(got, want)):
                place = (sheet, r, wanted[0][c])
                value, other = number(b), None
                if isinstance(a, (int, float)) and not isinstance(a, bool):
                    other = float(a)
                elif value is not None:
                    other = number(str(a))
                if value is not None and other is not None:
                    self.assertLessEqual(abs(other - value), RELATIVE * abs(value), place)
                    numbers += 1
                elif len(b) > TEXT_MAX or str(a).endswith("[cut]"):
                    self.assertEqual(a[:1000], b[:1000], place)
                elif isinstance(a, bool) or b in ("True", "False"):
                    self.assertEqual(str(a).lower(), b.lower(), place)
                else:
                    self.assertEqual("" if a is None else a, b, place)
        return numbers

    @unittest.skipUnless(openpyxl, "python3-openpyxl is not installed")
    def test_openpyxl_reads_the_numbers_of_the_csv_files(self):
        book = openpyxl.load_workbook(self.book, read_only=True)
        self.assertEqual(book.sheetnames, list(self.files))
        numbers = 0
        for name in book.sheetnames:
            rows = [list(row) for row in book[name].iter_rows(values_only=True)]
            numbers += self.same(name, rows)
        self.assertGreater(numbers, 5000)

    @unittest.skipUnless(OFFICE, "libreoffice-calc-nogui is not installed")
    def test_libreoffice_reads_the_numbers_of_the_csv_files(self):
        ran = subprocess.run(
            [OFFICE, f"-env:UserInstallation=file://{self.made.name}/profile", "--headless",
             # Comma, quotes, UTF-8, from line 1; cells as they are, not as shown; every sheet.
             "--convert-to",
             "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
             "--outdir", str(self.folder / "office"), str(self.book)],
            capture_output=True, text=True, timeout=300, env={**os.environ, "HOME": self.made.name})
        made = {path.stem.partition("-")[2]: path for path in (self.folder / "office").glob("*.csv")}
        self.assertEqual(set(made), set(self.files), ran.stdout + ran.stderr)
        numbers = sum(self.same(name, read_csv(path)) for name, path in made.items())
        self.assertGreater(numbers, 5000)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
