#!/usr/bin/env python3
"""Corrections of what a trace is of: into the reports, kept when they are written anew, taken back."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402


class Corrections(unittest.TestCase):
    def ask(self, **arguments):
        return program.ask("workload", trace=str(program.EXAMPLE), **arguments)

    def values(self, answer):
        return {row[0]: (row[1], row[2]) for row in answer["rows"]}

    def title(self, folder):
        return (folder / "standalone_analysis_fair.md").read_text(encoding="utf-8").split("\n")[0]

    def test_round_trip(self):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made) / "out"
            found = self.ask(output_dir=str(folder))
            self.ask(output_dir=str(folder), set=["model=My model 7", "phase = decode"])
            self.assertTrue(self.title(folder).startswith("# My model 7 - "), self.title(folder))
            # Whoever writes the files next keeps what was given.
            program.ask("category_filter", trace=str(program.EXAMPLE), output_dir=str(folder))
            self.assertTrue(self.title(folder).startswith("# My model 7 - "), self.title(folder))
            info = json.loads((folder / "metadata/model_info.json").read_text(encoding="utf-8"))
            self.assertEqual(info["fields"]["model"],
                             {"value": "My model 7", "certainty": "given", "evidence": ["given"]})
            kept = self.values(self.ask(output_dir=str(folder)))
            self.assertEqual(kept["phase"], ("decode", "given"))
            back = self.ask(output_dir=str(folder), set=["model=", "phase="])
            self.assertEqual(back["rows"], found["rows"])

    def test_unknown_field(self):
        ran = program.call("workload", trace=str(program.EXAMPLE), set=["colour=red"])
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("expected field=value", ran.stderr)

    def test_shapes(self):
        answer = self.ask(show="shapes")
        self.assertEqual(answer["columns"][:3], ["n", "op", "shapes"])
        self.assertGreater(len(answer["rows"]), 2)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
