#!/usr/bin/env python3
"""reword_phrases.py OUT FILE...: the files of phrases with every word replaced by a random one, into
the folder OUT. Slots, signs, figures and units stay. golden/fixes_test.py holds what a program with
these says against what ours says."""

import json
import pathlib
import random
import re
import sys

MARK = "qzx"  # in every word of ours here, and in no trace
# A slot, or the opening of a choice, whose words come after it; a unit; a word.
PIECES = re.compile(r"(\{\w+|µs|\b(?:ms|us|GB)\b)|[A-Za-z_]\w*")


def reworded(text, rng):
    def other(found):
        return found[0] if found[1] else MARK + "".join(
            rng.choice("abcdefgh") for _ in range(rng.randint(1, 9)))
    return PIECES.sub(other, text)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    for name in sys.argv[2:]:
        path = pathlib.Path(name)
        texts = {key: reworded(text if isinstance(text, str) else " ".join(text), rng)
                 for key, text in json.loads(path.read_text(encoding="utf-8")).items()}
        (out / path.name).write_text(json.dumps(texts, ensure_ascii=False, indent=1),
                                     encoding="utf-8")


if __name__ == "__main__":
    main()
