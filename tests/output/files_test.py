#!/usr/bin/env python3
"""Opens what the writers write with other people's programs: the workbook with openpyxl and with
LibreOffice, the drawings with an XML parser."""

import csv
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile
import zlib

try:
    import openpyxl
except ImportError:
    openpyxl = None
    # Debian's packages belong to Debian's Python, which need not be the first in PATH.
    DEBIANS = "/usr/bin/python3"
    if sys.executable != DEBIANS and os.path.exists(DEBIANS) and __name__ == "__main__":
        os.execv(DEBIANS, [DEBIANS, "-B", *sys.argv])

BINARY = os.environ.get("JARVIS_BINARY", "")
WRITER = pathlib.Path(BINARY).parent / "tests/output_test"
OFFICE = shutil.which("soffice")


def pixels(png):
    """Width, height and rows of (red, green, blue) of a PNG of three or four bytes a pixel."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and colour in (2, 6)
    size = 3 if colour == 2 else 4
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(data)
    rows, before = [], bytes(width * size)
    for y in range(height):
        start = y * (width * size + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
        for x in range(len(line)):
            left = line[x - size] if x >= size else 0
            up, corner = before[x], before[x - size] if x >= size else 0
            nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        rows.append([tuple(line[x:x + 3]) for x in range(0, len(line), size)])
        before = bytes(line)
    return width, height, rows


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY or not WRITER.exists():
            raise unittest.SkipTest("JARVIS_BINARY names no build with tests/output_test")
        cls.made = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.made.name)
        subprocess.run([WRITER], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "JARVIS_SAMPLE_DIR": cls.made.name})

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    def test_drawings_are_xml_without_scripts(self):
        for name in ("roofline.svg", "nothing.svg"):
            root = xml.etree.ElementTree.parse(self.folder / name).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            for element in root.iter():
                self.assertNotIn("script", element.tag)
                self.assertFalse([a for a in element.attrib if a.startswith("on") or "href" in a])

    def test_every_chart_is_xml_without_scripts(self):
        charts = list(self.folder.glob("chart_*.svg"))
        self.assertEqual(len(charts), 16)
        for chart in charts:
            for element in xml.etree.ElementTree.parse(chart).getroot().iter():
                self.assertNotIn("script", element.tag)
                self.assertFalse([a for a in element.attrib if a.startswith("on") or "href" in a])

    def test_a_picture_has_its_shapes_and_its_words(self):
        width, height, rows = pixels((self.folder / "sample.png").read_bytes())
        self.assertEqual((width, height), (120, 80))
        self.assertEqual(rows[2][2], (255, 255, 255))
        self.assertEqual(rows[40][40], (0x00, 0x77, 0xbb))
        words = [rows[y][x] for y in range(40, 64) for x in range(64, 112)]
        self.assertGreater(sum(max(pixel) < 128 for pixel in words), 20)

    def test_a_machine_without_librsvg_is_told_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "librsvg-2.so.2").write_bytes(b"no library")
            run = subprocess.run(
                [BINARY, "gemm_roofline", "--m", "64", "--n", "64", "--k", "64", "--platform", "MI300X",
                 "--chart", f"{folder}/roof.png"], cwd=folder, capture_output=True, text=True,
                env={**os.environ, "LD_LIBRARY_PATH": folder})
            self.assertNotEqual(run.returncode, 0)
            self.assertIn("librsvg2-2", run.stderr)
            self.assertFalse(pathlib.Path(folder, "roof.png").exists())

    def test_every_part_of_the_workbook_is_xml(self):
        with zipfile.ZipFile(self.folder / "sample.xlsx") as book:
            self.assertIsNone(book.testzip())
            for part in book.infolist():
                self.assertEqual(part.date_time, (1980, 1, 1, 0, 0, 0))
                xml.etree.ElementTree.fromstring(book.read(part))

    @unittest.skipUnless(openpyxl, "python3-openpyxl is not installed")
    def test_openpyxl_reads_what_was_written(self):
        book = openpyxl.load_workbook(self.folder / "sample.xlsx")
        self.assertEqual(book.sheetnames, ["ops_summary", "ops_summary~2", "no columns",
                                           "bad_name_ _____ and far too lon"])
        sheet = book["ops_summary"]
        rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
        self.assertEqual(rows[0], ["name", "count", "gpu_us", "percent (%)", "shape", "linked"])
        self.assertEqual(rows[1][0:2], ["aten::mm", 96])
        self.assertAlmostEqual(rows[1][2], 1234.5678901234567, delta=1e-12)
        self.assertEqual(rows[1][3:], [12.345678, "((4096, 8192), (8192, 4096))", True])
        self.assertEqual(rows[2][1], "9007199254740993")
        self.assertEqual(rows[2][2], 1e-9)
        self.assertEqual(rows[2][4:], ["  blanks  ", False])
        self.assertEqual(rows[3][2:], [None, None, None, None])
        # openpyxl leaves the escaped underscore of "_x0041_" as it is in the file; Excel does not.
        self.assertEqual(rows[4][0],
                         "bell\ufffd <b>&amp;\nline \ufffd _x005F_x0041_ https://a.example")
        self.assertEqual(len(rows[4][4]), 32767)
        self.assertTrue(rows[4][4].endswith("x [cut]"))
        self.assertEqual(rows[5][4], "\U0001f600 \u00e4")
        for row, text in ((3, "=1+1"), (4, "{=SUM(A1:A2)}"), (6, "+cmd|' /C calc'!A0")):
            cell = sheet.cell(row=row, column=1)
            self.assertEqual((cell.value, cell.data_type), (text, "s" if cell.data_type == "s"
                                                            else "inlineStr"))
            self.assertIsNone(cell.hyperlink)
        self.assertEqual(sheet.freeze_panes, "A2")
        self.assertEqual(sheet.auto_filter.ref, "A1:F6")
        self.assertTrue(sheet["A1"].font.bold)
        self.assertEqual(sheet["B2"].number_format, "0")
        self.assertEqual(sheet["C2"].number_format, "0.000")
        self.assertEqual(sheet["C3"].number_format, "0.000E+00")
        self.assertEqual(sheet["D2"].number_format, '0.00"%"')
        self.assertEqual(sheet.column_dimensions["E"].width > 50, True)
        self.assertEqual(book.properties.created.year, 2000)

    @unittest.skipUnless(OFFICE, "libreoffice-calc-nogui is not installed")
    def test_libreoffice_reads_what_was_written(self):
        ran = subprocess.run(
            [OFFICE, f"-env:UserInstallation=file://{self.made.name}/profile", "--headless",
             # Comma, quotes, UTF-8, from line 1; cells as they are shown; the first sheet.
             "--convert-to",
             "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,1",
             "--outdir", self.made.name, str(self.folder / "sample.xlsx")],
            capture_output=True, text=True, timeout=300,
            env={**os.environ, "HOME": self.made.name})
        made = sorted(self.folder.glob("sample*.csv"))
        self.assertTrue(made, ran.stdout + ran.stderr)
        with open(made[0], encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0][0], "name")
        self.assertEqual(rows[1][:4], ["aten::mm", "96", "1234.568", "12.35%"])
        self.assertEqual(rows[2][0], "=1+1")
        self.assertEqual(rows[3][0], "{=SUM(A1:A2)}")
        self.assertEqual(rows[4][0], "bell\ufffd <b>&amp;\nline \ufffd _x0041_ https://a.example")
        self.assertTrue(rows[4][4].endswith("[cut]"))


if __name__ == "__main__":
    unittest.main()
