"""What every page of ours is held to: readable text, no wider than the window, quiet."""

import json

CONTRAST_MIN = 4.5  # of text on what is behind it, as accessibility guidelines have it

_PAIRS = """(() => { const seen = {}; const solid = (e) => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; }
  return "rgb(255, 255, 255)"; };
  for (const e of document.querySelectorAll(SELECTOR)) {
    seen[getComputedStyle(e).color + " on " + solid(e)] = e.outerHTML.slice(0, 80); }
  return seen; })()"""


def luminance(colour):
    parts = [float(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3]]
    linear = [(c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4)
              for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def check_contrast(test, page, selector):
    """Every pair of text and background among the elements, of which there are several."""
    pairs = page.value(_PAIRS.replace("SELECTOR", json.dumps(selector)))
    test.assertGreaterEqual(len(pairs), 2)
    for pair, example in pairs.items():
        light, deep = sorted((luminance(colour) for colour in pair.split(" on ")), reverse=True)
        test.assertGreaterEqual((light + 0.05) / (deep + 0.05), CONTRAST_MIN, f"{pair}: {example}")


def check_quiet(test, page, width):
    """Nothing on the console, nothing asked of the network, no page wider than the window."""
    test.assertEqual(page.complaints, [])
    test.assertEqual([url for url in page.requests if not url.startswith(("file:", "data:"))], [])
    test.assertLessEqual(page.value("document.documentElement.scrollWidth"), width)
