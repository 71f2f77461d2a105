"""What the tests of the report about all ranks share: ranks made of events, and the tables that come of them."""

import csv
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from rank_traces import trace, write  # noqa: E402


def table(out, name):
    with open(pathlib.Path(out) / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text):
    return None if text == "" else float(text)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.runs = 0

    def report(self, *traces, **arguments):
        """The answer and the directory of the tables."""
        self.runs += 1
        out = self.path / f"out{self.runs}"
        answer = program.ask("collectives", traces=[str(t) for t in traces] or
                             [str(self.path / "in")], output_dir=str(out), **arguments)
        return answer, out

    def ranks(self, events_of, world=4, **top):
        for rank in range(world):
            write(self.path / "in" / f"rank{rank}_trace.json",
                  trace(events_of(rank), rank, world, **top))

    def near(self, row, **expected):
        for column, value in expected.items():
            column = column.replace("__", " ")
            if isinstance(value, (int, float)):
                self.assertAlmostEqual(number(row[column]), value, delta=1e-6 * max(1, abs(value)),
                                       msg=column)
            else:
                self.assertEqual(row[column], value, column)


def tables_of(out):
    return {path.name: path.read_text() for path in sorted(pathlib.Path(out).glob("*.csv"))}


def rows_of(answer):
    return [dict(zip(answer["columns"], row)) for row in answer["rows"]]


def lines_of(out):
    return (pathlib.Path(out) / "ranks_analysis_fair.md").read_text(encoding="utf-8").splitlines()
