#!/usr/bin/env python3
"""docs/tools.md says what tools_schema/*.json and the list of profiles say.

    UPDATE_GOLDEN=1 tools_doc_test.py     writes it anew (as docs/make_tools.py does)
"""

import json
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT / "docs"))
import make_tools  # noqa: E402


class ToolsPage(unittest.TestCase):
    def test_the_page_is_what_the_schemas_make(self):
        if os.environ.get("UPDATE_GOLDEN"):
            make_tools.main()
        self.assertEqual(make_tools.PAGE.read_text(encoding="utf-8"), make_tools.page(),
                         "docs/make_tools.py writes the page anew")

    def test_every_tool_is_listed(self):
        self.assertEqual(set(make_tools.listed()), set(make_tools.read_schemas()))

    def test_profiles_are_those_that_a_server_shows(self):
        golden = ROOT / "tests/golden/profiles.json"
        for profile, shown in json.loads(golden.read_text(encoding="utf-8")).items():
            with self.subTest(profile):
                listed = {name for name, where in make_tools.listed().items() if profile in where}
                self.assertEqual(listed, set(shown["tools"]))


if __name__ == "__main__":
    unittest.main()
