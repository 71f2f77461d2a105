#!/usr/bin/env python3
"""Each phrase is said somewhere, and whoever says it gives each slot that its text names."""

import json
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
TEXTS = ROOT / "src/phrases/texts"
USE = re.compile(r"\bphrases::(\w+)::(k\w+)")
GIVEN = re.compile(r'\{"(\w+)",')


def constant(key):
    return "k" + "".join(word[0].upper() + word[1:] for word in key.split("_"))


def call_around(text, at):
    """The call Say(...) whose first argument begins at `at`; None: it is no such call."""
    if not text[:at].endswith("Say("):
        return None
    depth = 1
    for end in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[at:end]
    return None


def uses():
    """(file, constant) -> of each place the slots that it gives: those of the call, or of its file
    where the phrase is chosen before."""
    found = {}
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        for use in USE.finditer(text):
            call = call_around(text, use.start())
            found.setdefault((use[1], use[2]), []).append(
                (path.name, set(GIVEN.findall(text if call is None else call))))
    return found


class Slots(unittest.TestCase):
    def test_each_phrase_is_said_and_each_slot_given(self):
        places = uses()
        for path in sorted(TEXTS.glob("*.json")):
            for key, text in json.loads(path.read_text(encoding="utf-8")).items():
                with self.subTest(phrase=f"{path.stem}.{key}"):
                    said = places.get((path.stem, constant(key)), [])
                    self.assertTrue(said, "no code says it")
                    words = text if isinstance(text, str) else " ".join(text)
                    for where, given in said:
                        missing = set(re.findall(r"\{(\w+)", words)) - given
                        self.assertFalse(missing, f"{where} does not give it")


if __name__ == "__main__":
    unittest.main()
