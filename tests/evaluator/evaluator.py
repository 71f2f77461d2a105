#!/usr/bin/env python3
"""Scores a report of an analysis from 0 to 100, by rules alone. It shares no code with the program:
it reads the report as a reader does, and the machine files beside it for what is true.

    evaluator.py DIRECTORY [REPORT]     prints the items and what was lost

weight  item        rule
15      structure   headings, summary table, labels, no placeholders, links that lead somewhere
25      numbers     figures in prose stand in a table of the report, tables agree with the files
15      coverage    every finding, every row of at least 5 % of the window, unattributed time
15      priority    the findings' order; titles name the category or the op
10      claims      nothing that needs hardware counters, no efficiency above 100 % as a success
10      paths       Path A, Path B or both for each recommendation, none of them empty, a
                  reproducer where one is due
5       brevity     summary of at most 20 lines, recommendations of at most 10
5       limits      claimed savings fit into the window and into the busy time
"""

import bisect
import csv
import json
import pathlib
import re
import sys

WEIGHTS = {"structure": 15, "numbers": 25, "coverage": 15, "priority": 15, "claims": 10,
           "paths": 10, "brevity": 5, "limits": 5}
HEADINGS = ["Executive Summary", "Recommendations", "Detailed Analysis", "Appendix"]
PLACEHOLDERS = re.compile(r"(?<!\S)(?:X ms|[YZW]%)|<(?:Brief Title|Library|[Mm]odel|platform|scale|"
                          r"precision|architecture)>|\{\{|\bTODO\b")
FORBIDDEN = re.compile(r"\b(occupanc\w*|bank conflicts?|coalesc\w*|uncoalesced|cache (?:hit|miss)\w*|"
                       r"hit rates?|wavefronts?|register (?:spill\w*|pressure)|\w+ divergence|"
                       r"(?:memory|instruction|pipeline|warp) stalls?|root causes?|throttl\w*|"
                       r"stragglers?|winner|better (?:vendor|platform)|guarantee\w*)\b", re.I)
EXCUSE = re.compile(r"counter|rocprof|nsight|all ranks|other ranks", re.I)
csv.field_size_limit(1 << 30)  # call stacks are long
SUMMARY_LINES = 20
CARD_LINES = 10
SIGNIFICANT = 5.0  # percent of the window

SCALES = {"ns": ("ms", 1e-6), "us": ("ms", 1e-3), "µs": ("ms", 1e-3), "ms": ("ms", 1),
          "s": ("ms", 1e3), "%": ("%", 1), "TB/s": ("TB/s", 1), "GB/s": ("TB/s", 1e-3),
          "TFLOPS/s": ("TFLOPS", 1), "TFLOPS": ("TFLOPS", 1), "GB": ("MB", 1e3), "MB": ("MB", 1),
          "×": ("x", 1), "x": ("x", 1), "calls": ("n", 1), "call": ("n", 1), "kernels": ("n", 1),
          "gaps": ("n", 1), "gap": ("n", 1), "instances": ("n", 1), "rows": ("n", 1),
          "row": ("n", 1), "findings": ("n", 1), "copies": ("n", 1)}
UNIT = "|".join(re.escape(unit) for unit in sorted(SCALES, key=len, reverse=True))
FIGURE = re.compile(rf"(?<![\w.\-])(\d[\d,]*(?:\.\d+)?)(?: ?(?:to|–|-) ?(\d[\d,]*(?:\.\d+)?))?"
                    rf" ?({UNIT})(?![\w/])")


def value_of(text):
    return float(text.replace(",", ""))


def half_unit(text):
    return 0.5 * 10 ** -len(text.partition(".")[2])


def figures(text):
    """(value, tolerance, unit, as written) of every number with a unit."""
    found = []
    for match in FIGURE.finditer(text):
        unit, scale = SCALES[match[3]]
        for number in (match[1], match[2]):
            if number:
                tolerance = 0 if unit == "n" else half_unit(number) * scale
                found.append((value_of(number) * scale, tolerance, unit,
                              f"{number} {match[3]}"))
    return found


def prose_of(line):
    line = re.sub(r"<!--.*?-->|<a [^>]*>|</a>", "", line)
    line = re.sub(r"`[^`]*`", " ", line)
    return re.sub(r"\]\([^)]*\)", " ", line).replace("*", "").replace("[", "")


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


class Report:
    def __init__(self, path):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.tables = []  # (header, rows)
        self.prose = []
        table = None
        for line in self.lines:
            if line.startswith("|"):
                cells = cells_of(line)
                if table is None:
                    table = (cells, [])
                    self.tables.append(table)
                elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                    table[1].append(cells)
                continue
            table = None
            if line.strip() and line.strip() != "---":
                self.prose.append(line.strip())
        self.headings = [(len(m[1]), m[2]) for m in
                         (re.match(r"(#+) (.*)", line) for line in self.lines) if m]
        self.cards = self.find_cards()

    def section(self, heading):
        inside, lines = False, []
        for line in self.lines:
            if line.startswith("## "):
                inside = line[3:].strip() == heading
            elif inside:
                lines.append(line)
        return lines

    def find_cards(self):
        cards, card = [], None
        for line in self.section("Recommendations"):
            match = re.match(r"### \S+ Priority (\d+): (.*)", line)
            if match:
                card = {"number": int(match[1]), "title": match[2], "lines": [line]}
                cards.append(card)
            elif line.startswith("#") or line.strip() == "---":
                card = None
            elif card is not None and line.strip():
                card["lines"].append(line)
        return cards


def label(card, name):
    for line in card["lines"]:
        if line.startswith(f"**{name}**"):
            return line.partition(":")[2].strip()
    return ""


class Truth:
    """What the machine files beside the report say."""

    def __init__(self, folder):
        self.numbers = []
        self.findings = []
        for path in sorted(folder.rglob("*.json")):
            if path.name == "fusion_candidates.json" or "replay" in path.name:
                continue
            data = json.loads(path.read_text(encoding="utf-8"))
            self.collect(data)
            if path.name.endswith("_findings.json"):
                self.findings += data
        for path in sorted((folder / "perf_report_csvs").glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.reader(file):
                    for cell in row:
                        try:
                            self.numbers.append(abs(float(cell)))
                        except ValueError:
                            pass
        self.numbers.sort()
        self.findings.sort(key=lambda finding: finding["global_rank"])
        self.operations = []
        for path in sorted((folder / "category_data").glob("*_metrics.json")):
            self.operations += json.loads(path.read_text(encoding="utf-8")).get("operations", [])
        manifest = json.loads((folder / "category_data/category_manifest.json")
                              .read_text(encoding="utf-8"))
        self.accounting = manifest.get("time_accounting") or {}
        use = manifest.get("gpu_utilization") or {}
        self.window_ms = use.get("total_time_ms") or 0
        priority = json.loads((folder / "priority_data.json").read_text(encoding="utf-8"))
        self.recorded_ms = priority["recorded_ms"] or 0
        self.wall_ms = priority["wall_ms"] or 0
        self.has_gpu = bool(use)
        self.idle_percent = use.get("idle_time_percent")
        self.exposed_comm_percent = use.get("exposed_comm_time_percent")
        self.busy_ms = self.window_ms * (100 - (use.get("idle_time_percent") or 0)) / 100

    def collect(self, data):
        if isinstance(data, dict):
            data = list(data.values())
        if isinstance(data, list):
            for one in data:
                self.collect(one)
        elif isinstance(data, (int, float)) and not isinstance(data, bool):
            self.numbers.append(abs(float(data)))

    def has(self, value, tolerance):
        """Some file has this figure, in whatever unit of the same kind."""
        for scale in (1, 1e3, 1e-3, 1e2, 1e-2, 1e6, 1e-6):
            wanted = value * scale
            slack = tolerance * scale * 1.01 + abs(wanted) * 6e-4
            at = bisect.bisect_left(self.numbers, wanted - slack)
            if at < len(self.numbers) and self.numbers[at] <= wanted + slack:
                return True
        return False


class Score:
    def __init__(self):
        self.items = {}
        self.lost = []

    def set(self, item, share, *why):
        share = max(0.0, min(1.0, share))
        self.items[item] = WEIGHTS[item] * share
        self.lost += [f"{item}: {reason}" for reason in why]

    @property
    def total(self):
        return sum(self.items.values())


def share_of(good, all_of_them):
    return good / all_of_them if all_of_them else 1.0


def score_structure(report, folder, has_gpu, score):
    faults = []
    at = 0
    second = [text for level, text in report.headings if level == 2]
    for heading in HEADINGS:
        if heading not in second[at:]:
            faults.append(f"heading {heading!r} is missing or out of order")
        else:
            at = second.index(heading, at) + 1
    summary = report.section("Executive Summary")
    if has_gpu and not any(line.startswith("| Metric") for line in summary):
        faults.append("the summary has no table of metrics")
    if has_gpu and not any(line.startswith("| Rank") for line in summary):
        faults.append("the summary has no ranking of bottlenecks")
    for line in report.prose:
        if PLACEHOLDERS.search(prose_of(line)):
            faults.append("placeholder: " + line[:80])
    for card in report.cards:
        faults += [f"recommendation {card['number']} has no {name}"
                   for name in ("Issue", "Action", "Impact") if not label(card, name)]
    anchors = set(re.findall(r'<a id="([^"]+)"', report.text))
    anchors |= {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
                for _, text in report.headings}
    for line in report.lines:
        for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`]*`", "", line)):
            there = (target[1:] in anchors if target.startswith("#")
                     else target.startswith("http") or (folder / target).exists())
            if not there:
                faults.append(f"link to {target} leads nowhere")
    score.set("structure", 1 - 0.2 * len(faults), *faults)


def unit_of(header, cell_unit):
    if cell_unit:
        return cell_unit
    if "%" in header:
        return "%"
    match = re.search(r"\((ms|us|µs)\)", header)
    return SCALES[match[1]][0] if match else None


def table_figures(report):
    found = []
    for header, rows in report.tables:
        for row in rows:
            for column, cell in zip(header, row):
                text = prose_of(cell).strip().lstrip("~+-−<≤ ")
                with_unit = figures(text)
                found += with_unit
                plain = re.match(r"(\d[\d,]*(?:\.\d+)?)(?![\w.,(])", text)
                if plain and not with_unit:
                    found.append((value_of(plain[1]), half_unit(plain[1]),
                                  unit_of(column, None), plain[1]))
    return found


def notes_figures(folder):
    """Figures of the tables of the working notes and of the findings' own files."""
    found = []
    for path in sorted([*folder.glob("*_rough.md"), *folder.glob("analysis.md"),
                        *folder.glob("*_findings/*.md")]):
        found += table_figures(Report(path))
    return found


def agrees(figure, table):
    value, tolerance, unit, _ = figure
    return any(abs(value - other) <= tolerance * 1.001 + 1e-9 * value
               for other, _, kind, _ in table if kind in (unit, None))


def wrong_metrics(report):
    """The parts of a step do not add up to it."""
    for header, rows in report.tables:
        if header[:2] != ["Metric", "Value"] or not header[-1].startswith("Share"):
            continue
        shares = [figures(row[-1])[0][0] for row in rows if figures(row[-1])]
        values = [figures(row[1])[0][0] for row in rows if figures(row[1])]
        faults = []
        if abs(sum(shares[1:]) - shares[0]) > 2.5:
            faults.append(f"parts add up to {sum(shares[1:]):.1f} %")
        if abs(sum(values[1:]) - values[0]) > 0.03 * values[0]:
            faults.append(f"parts add up to {sum(values[1:]):.4g} of {values[0]:.4g}")
        return faults
    return []


def score_numbers(report, truth, folder, score):
    table = table_figures(report)
    cited = table + notes_figures(folder)
    prose = [figure for line in report.prose for figure in figures(prose_of(line))]
    unmatched = [figure[3] for figure in prose if not agrees(figure, cited)]
    # Derived ones (projections, other metrics of a pattern) are sums and quotients of the files'.
    direct = [figure for figure in table if figure[2] in ("ms", "TB/s", "TFLOPS")]
    missing = [figure[3] for figure in direct if not truth.has(figure[0], figure[1])]
    in_prose = share_of(len(prose) - len(unmatched), len(prose))
    # A wrong figure of twenty is a wrong report: the share counts threefold.
    prose_part = 1 - min(1.0, 3 * (1 - in_prose)) if unmatched else 1.0
    table_part = share_of(len(direct) - len(missing), len(direct))
    wrong = wrong_metrics(report)
    score.set("numbers",
              0.7 * prose_part + 0.3 * min(1.0, table_part / 0.85) - 0.2 * len(wrong), *wrong,
              *[f"{text} stands in no table" for text in unmatched],
              *([f"{len(missing)} of {len(direct)} figures of tables are in no file: "
                 f"{missing[:8]}"] if table_part < 0.85 else []))
    score.table_share = table_part


def score_coverage(report, truth, score):
    faults = []
    numbers = {card["number"] for card in report.cards}
    # Those beyond the cards are rows of a table of their own; beyond that they are counted.
    further = report.text.partition("### Further findings")[2].partition("\n## ")[0]
    rows = {int(n) for cell in re.findall(r"^\| (\d+(?:, \d+)*) \|", further, re.M)
            for n in cell.split(", ")}
    numbers |= rows
    if "more stand in `priority_data.json`" in further:
        numbers |= {finding["global_rank"] for finding in truth.findings
                    if finding["global_rank"] > max(rows)}
    findings = [finding["global_rank"] for finding in truth.findings]
    covered = [rank for rank in findings if rank in numbers]
    faults += [f"finding {rank} is missing" for rank in findings if rank not in numbers]
    if not findings and not re.search(r"nothing to fix|no finding", report.text, re.I) and truth.window_ms:
        faults.append("no findings, and the report does not say so")
    large = {op["name"] for op in truth.operations
             if (op.get("percent_of_total") or 0) >= SIGNIFICANT}
    named = [name for name in large if name[:60].replace("|", "\\|") in report.text]
    faults += [f"{name} takes 5 % or more and is not named" for name in large
               if name not in named]
    unlinked = self_share(truth.accounting.get("unlinked_kernel_ms"), truth.busy_ms)
    if unlinked > 5 and not re.search(r"no launch|without a launch|unlinked", report.text, re.I):
        faults.append(f"{unlinked:.1f} % of GPU work is unattributed and not mentioned")
    share = 0.6 * share_of(len(covered), len(findings)) + 0.4 * share_of(len(named), len(large))
    if any("unattributed" in fault or "does not say so" in fault for fault in faults):
        share -= 0.3
    score.set("coverage", share, *faults)


def self_share(part, whole):
    return 100 * part / whole if part and whole else 0


def score_priority(report, truth, score):
    faults = []
    order = [card["number"] for card in report.cards]
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1:]]
    concordant = sum(1 if a < b else -1 for a, b in pairs)
    tau = concordant / len(pairs) if pairs else 1.0
    if tau < 1:
        faults.append(f"Kendall tau {tau:.2f}")
    by_rank = {finding["global_rank"]: finding for finding in truth.findings}
    good = 0
    for card in report.cards:
        finding = by_rank.get(card["number"])
        if finding is None:
            faults.append(f"recommendation {card['number']} is no finding")
            continue
        words = [finding["subject"], *re.split(r"[_\s]", finding["category"])]
        title = card["title"].lower()
        own = (finding.get("text") or {}).get("title", "").lower()
        if title == own or any(word and word.lower() in title for word in words):
            good += 1
        else:
            faults.append(f"title {card['title']!r} names neither category nor op")
    score.set("priority", 0.6 * max(0.0, tau) + 0.4 * share_of(good, len(report.cards)), *faults)


def sentences(report):
    for line in report.prose:
        yield from re.split(r"(?<=[.!?]) ", prose_of(line))


def score_claims(report, score):
    faults = []
    for sentence in sentences(report):
        if FORBIDDEN.search(sentence) and not EXCUSE.search(sentence):
            faults.append("claims: " + sentence[:100])
        over = [float(n) for n in re.findall(r"(?<![+\-\d.])(\d+(?:\.\d+)?) ?%", sentence)]
        if (re.search(r"roof|peak|efficien", sentence, re.I) and any(n > 100 for n in over)
                and "anomal" not in sentence.lower()):
            faults.append("above the roof without a word of it: " + sentence[:100])
    for header, rows in report.tables:
        if "Efficiency" not in header or header[0] == "Category":
            continue
        column = header.index("Efficiency")
        for row in rows:
            match = re.match(r"(\d+(?:\.\d+)?)%", row[column]) if column < len(row) else None
            if match and float(match[1]) > 100.05 and "ANOMALY" not in " ".join(row).upper():
                faults.append("an efficiency of " + match[0] + " in a table without ANOMALY")
    score.set("claims", 1 - 0.5 * len(faults), *faults)


def score_paths(report, truth, score):
    faults, good = [], 0
    for card in report.cards:
        # A path that nothing is known of is left out; one that is named says something.
        named = [name for name in ("Path A", "Path B")
                 if any(line.startswith(f"**{name}**") for line in card["lines"])]
        lacking = [name for name in named if not label(card, name)] if named else ["path"]
        good += not lacking
        faults += [f"recommendation {card['number']} has no {name}" for name in lacking]
    due = [finding for finding in truth.findings if finding.get("replay_recommended")]
    offered = bool(re.search(r"replay|reproducer", report.text, re.I))
    if due and not offered:
        faults.append("a reproducer is due and not offered")
    score.set("paths", share_of(good, len(report.cards)) - (0.3 if due and not offered else 0),
              *faults)


def score_brevity(report, score):
    faults = []
    summary = [line for line in report.section("Executive Summary")
               if line.strip() and line.strip() != "---"]
    if len(summary) > SUMMARY_LINES:
        faults.append(f"the summary has {len(summary)} lines")
    faults += [f"recommendation {card['number']} has {len(card['lines'])} lines"
               for card in report.cards if len(card["lines"]) > CARD_LINES]
    score.set("brevity", 1 - 0.5 * len(faults), *faults)


def score_limits(report, truth, score):
    claimed = idle = 0.0
    by_rank = {finding["global_rank"]: finding for finding in truth.findings}
    for card in report.cards:
        times = [value for value, _, unit, _ in figures(prose_of(label(card, "Impact")).split(";")[0].split("% of ")[0])
                 if unit == "ms"]
        high = max(times, default=0.0)
        if (by_rank.get(card["number"]) or {}).get("category") == "cpu_idle":
            idle += high
        else:
            claimed += high
    faults = []
    if not truth.has_gpu:
        # A recording of the CPU alone: all that can be saved is time of its steps.
        claimed, idle = 0, claimed + idle
    if claimed > truth.busy_ms * 1.005 + 0.05:
        faults.append(f"savings of {claimed:.2f} ms in a busy time of {truth.busy_ms:.2f} ms")
    # Host time before and after the GPU's window is of the recording, too.
    most = max(truth.window_ms, truth.recorded_ms) if truth.has_gpu else truth.wall_ms
    if claimed + idle > most * 1.005 + 0.05:
        faults.append(f"savings of {claimed + idle:.2f} ms in a recording of {most:.2f} ms")
    score.set("limits", 0 if faults else 1, *faults)


def evaluate(folder, name="standalone_analysis_fair.md"):
    folder = pathlib.Path(folder)
    report, truth, score = Report(folder / name), Truth(folder), Score()
    score_structure(report, folder, truth.window_ms > 0, score)
    score_numbers(report, truth, folder, score)
    score_coverage(report, truth, score)
    score_priority(report, truth, score)
    score_claims(report, score)
    score_paths(report, truth, score)
    score_brevity(report, score)
    score_limits(report, truth, score)
    return score


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    score = evaluate(*sys.argv[1:])
    for item, points in score.items.items():
        print(f"{points:5.1f} of {WEIGHTS[item]:2}  {item}")
    print(f"{score.total:5.1f}")
    for reason in score.lost:
        print("  " + reason)


if __name__ == "__main__":
    main()
