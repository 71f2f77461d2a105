#!/usr/bin/env python3
"""What the tools say about the bundled example: both halves of an answer hold the same facts within
the budget, every call that an answer suggests succeeds, and every kind of error says what to do."""

import json
import pathlib
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

ANSWER_BYTES_MAX = 7000
ERROR_BYTES_MAX = 700  # 200 tokens; most of it lists what exists
TRACE = str(program.EXAMPLE)
GROUPINGS = ("op", "category", "kernel", "module", "stream", "step", "phase",
             "iteration")

QUESTIONS = [
    ("load_trace", {}),
    *[("gpu_timeline", {"by": by}) for by in ("all", "stream", "step")],
    *[("ops_summary", {"by": by, "limit": limit}) for by in GROUPINGS for limit in (1, 10, 200)],
    ("ops_summary", {"filter": "no such op"}),
    *[("parent_chain", {"row": row, "mode": mode}) for row in ("op1", "k1", "k3", "cat1", "m1")
      for mode in ("callers", "subtree", "siblings")],
    ("gemm_roofline", {"row": "op1"}),
    ("gemm_roofline", {"m": 4096, "n": 4096, "k": 4096, "platform": "MI300X", "time_us": 300}),
    ("gemm_roofline", {"batch_size": 8, "seq_len": 128, "d_model": 512, "d_ff": 2048}),
    ("category_filter", {}),
    ("category_filter", {"categories": ["gemm", "norm"]}),
    ("collectives", {"traces": [TRACE]}),
    ("digest", {"traces": [TRACE]}),
    ("merge_ranks", {"traces": [TRACE]}),
    *[("category_analysis", {"category": category, "show": show, "limit": limit})
      for category in ("all", "gemm", "attention", "idle", "communication", "memcpy", "fusion")
      for show in ("findings", "operations") for limit in (1, 200)],
    ("category_analysis", {"platform": "MI300X"}),
    *[("idle_gaps", {"by": by, "limit": limit}) for by in ("cause", "module", "step", "gap")
      for limit in (2, 200)],
    *[("host_summary", {"by": by, "limit": limit, "min_percent": least})
      for by in ("overview", "op", "frame", "call", "range", "thread", "step", "sync",
                 "stretch")
      for limit, least in ((2, 0.1), (200, 0))],
    *[("critical_path", {"by": by, "limit": limit}) for by in ("part", "op", "time") for limit in (2, 200)],
    ("what_if", {"changes": ["op1*0.5", {"kernel": "e", "remove": True}, {"graph": True},
                             {"remove_waits": "all"}, {"host_op": "aten::", "factor": 0}]}),
    ("fusion_candidates", {}),
    ("render_report", {}),
    ("render_report", {"reports": ["fair"], "platform": "MI300X"}),
    ("write_findings", {"finding": "f1", "action": "Ask the owner of the module first."}),
    ("write_findings", {"add": ["op1*0.5"], "title": "Half of the first op", "insight": "It is called twice.",
                        "path_b": "Call it once."}),
    ("write_findings", {"derive": [{"name": "all GPU work", "unit": "ms",
                                    "sql": "SELECT sum(dur_ns)/1e6 FROM gpu_work"}]}),
    ("validate", {}),
    ("prioritize", {}),
    ("prioritize", {"plan": ["f1", "gemm.1@80"]}),
    ("perf_report", {}),
    *[("trace_diff", {"candidate": TRACE, "baseline": TRACE, **more})
      for more in ({}, {"by": "role"}, {"at": "op1"}, {"at": "aten::mm", "limit": 1},
                   {"compat": "tracelens"})],
    ("perf_report", {"compat": "tracelens", "output_xlsx": "report.xlsx"}),
]


def cell(value):
    """A structured cell as the text half's table writes it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def table_of(text):
    """Header and rows of the text half's table, the cells trimmed."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[part.strip() for part in line.strip("|").split(" | ")] for line in lines]
    return (rows[0], rows[2:]) if rows else ([], [])


def calls_in(text):
    """The calls that the text half suggests."""
    decoder = json.JSONDecoder()
    for line in text.splitlines():
        match = re.match(r"Next: (\w+) (?=\{)", line)
        if match:
            yield match[1], decoder.raw_decode(line[match.end():])[0]


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        flags = ("--profile", "full", "--allow-root", str(program.EXAMPLE.parent), "--allow-root",
                 folder.name, "--output-root", folder.name + "/out")
        self.session = program.Session(flags)
        self.addCleanup(self.session.__exit__)

    def questions(self):
        for tool, arguments in QUESTIONS:
            no_trace = ("candidate" in arguments or "traces" in arguments or
                        (tool == "gemm_roofline" and "row" not in arguments))
            yield tool, arguments if no_trace else {"trace": TRACE, **arguments}

    def test_both_halves_hold_the_same_facts(self):
        for tool, arguments in self.questions():
            with self.subTest(tool, **{k: v for k, v in arguments.items() if k != "trace"}):
                result = self.session.call(tool, arguments)
                self.assertFalse(result.get("isError"), result)
                text, structured = program.text_of(result), result["structuredContent"]
                line = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
                self.assertLessEqual(len(text.encode()), ANSWER_BYTES_MAX)
                self.assertLessEqual(len(line.encode()), ANSWER_BYTES_MAX)
                self.compare(text, structured)

    def compare(self, text, structured):
        lines = text.splitlines()
        if "trace" in structured:
            self.assertEqual(lines[0], "trace " + structured["trace"])
        self.assertIn(structured["summary"], lines)
        header, rows = table_of(text)
        wanted = structured.get("rows", [])
        self.assertEqual(len(rows), len(wanted))
        if rows:
            self.assertEqual(header, structured["columns"])
        for row, want in zip(rows, wanted):
            self.assertEqual(row[0], cell(want[0]).replace("|", "/"))
            numbers = [(i, value) for i, value in enumerate(want)
                       if isinstance(value, (int, float)) and not isinstance(value, bool)]
            for i, value in numbers:
                self.assertEqual(float(row[i]), value)
        if wanted:
            self.assertEqual(structured["shown"], len(wanted))
        if structured.get("truncated"):
            self.assertIn(f"{structured['shown']} of {structured['total']} rows shown", text)
        if "next_cursor" in structured:
            self.assertIn(structured["next_cursor"], text)
        self.assertEqual([line[6:] for line in lines if line.startswith("Note: ")],
                         structured.get("notes", []))
        for file in structured.get("files", []):
            self.assertIn(file["path"], text)
            self.assertTrue(pathlib.Path(file["path"]).is_file())
        self.assertEqual(list(calls_in(text)), [(call["tool"], call["arguments"])
                                                for call in structured.get("next", [])])
        self.assertLessEqual(len(structured.get("next", [])), 3)

    def test_every_suggested_call_succeeds(self):
        waiting, seen = list(self.questions()), set()
        while waiting:
            tool, arguments = waiting.pop()
            key = json.dumps([tool, arguments], sort_keys=True)
            if key in seen:
                continue
            seen.add(key)
            result = self.session.call(tool, arguments)
            self.assertFalse(result.get("isError"), (tool, arguments, result))
            waiting += [(call["tool"], call["arguments"])
                        for call in result["structuredContent"].get("next", [])]
        self.assertGreater(len(seen), len(QUESTIONS))

    def refused(self, code, tool, arguments, session=None):
        """An error of this code, twice the same; a call that it suggests succeeds."""
        session = session or self.session
        results = [session.call(tool, arguments) for _ in range(2)]
        self.assertEqual(results[0], results[1])
        self.assertTrue(results[0].get("isError"), results[0])
        self.assertNotIn("structuredContent", results[0])
        text = program.text_of(results[0])
        self.assertTrue(text.startswith(f"[{code}] "), text)
        self.assertLessEqual(len(text.encode()), ERROR_BYTES_MAX, text)
        if code not in ("unknown_argument", "bad_value"):  # these list what is allowed instead
            self.assertIn("\nNext: ", text)
        for next_tool, next_arguments in calls_in(text):
            following = session.call(next_tool, next_arguments)
            self.assertFalse(following.get("isError"), following)
        return text

    def test_every_kind_of_error(self):
        trace = self.session.call("load_trace", {"trace": TRACE})["structuredContent"]["trace"]
        cpu_only = self.folder / "cpu.json"
        cpu_only.write_text('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,'
                            '"tid":1,"ts":1,"dur":2}]}')
        no_shapes = self.folder / "shapeless.json"
        no_shapes.write_text(
            '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,'
            '"dur":9},{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,'
            '"ts":2,"dur":1,"args":{"correlation":7}},{"ph":"X","cat":"kernel","name":"gemm",'
            '"pid":0,"tid":7,"ts":20,"dur":5,"args":{"correlation":7,"stream":7}}]}')
        page = self.folder / "page.json"
        page.write_text("<html>")
        mine = self.folder / "out/mine"
        mine.mkdir(parents=True)
        (mine / "gpu_timeline.csv").write_text("mine")
        catalogue = [
            ("unknown_argument", "load_trace", {"trace": TRACE, "trace_id": "x"}),
            ("bad_value", "ops_summary", {"trace": TRACE, "by": "opp"}),
            ("bad_value", "ops_summary", {"trace": TRACE, "platform": "MI300Y"}),
            ("bad_value", "gemm_roofline", {}),
            ("bad_value", "gemm_roofline", {"trace": TRACE, "row": "op3"}),
            ("bad_value", "parent_chain", {"trace": TRACE, "row": "s1"}),
            ("bad_value", "category_filter", {"trace": TRACE, "categories": ["cooking"]}),
            ("bad_value", "category_analysis", {"trace": TRACE, "category": "cooking"}),
            ("bad_value", "category_analysis", {"trace": TRACE, "platform": "abacus"}),
            ("bad_value", "render_report", {"trace": TRACE, "reports": ["nice"]}),
            ("bad_value", "write_findings", {"trace": TRACE, "finding": "f1"}),
            ("bad_value", "write_findings", {"trace": TRACE, "add": ["op1*0.5"]}),
            ("bad_value", "write_findings", {"trace": TRACE, "derive": [{"name": "x", "sql": "SELECT 1"}]}),
            ("bad_value", "write_findings", {"trace": TRACE, "finding": "f1",
                                             "insight": "Occupancy is low."}),
            ("bad_value", "prioritize", {"trace": TRACE, "plan": ["f99"]}),
            ("bad_value", "prioritize", {"trace": TRACE, "plan": ["f1@0"]}),
            ("bad_value", "prioritize", {"trace": TRACE, "plan": ["f1@fast"]}),
            ("unknown_trace", "gpu_timeline", {"trace": "t_00000000"}),
            ("trace_not_found", "load_trace", {"trace": str(self.folder / "none.json")}),
            ("not_allowed", "load_trace", {"trace": "/etc/hostname"}),
            ("not_allowed", "load_trace", {"trace": "https://example.com/trace.json"}),
            ("not_allowed", "perf_report", {"trace": TRACE, "output_dir": "/tmp"}),
            ("not_allowed", "collectives", {"traces": ["/etc"]}),
            ("not_allowed", "collectives", {"traces": [TRACE], "output_dir": "/tmp"}),
            ("not_allowed", "merge_ranks", {"traces": [TRACE, "/etc/hostname"]}),
            ("trace_not_found", "digest", {"traces": [str(self.folder / "none.json")]}),
            ("not_a_trace", "collectives", {"traces": [str(page)]}),
            ("bad_value", "collectives", {"traces": [TRACE], "agg_metrics": ["mode"]}),
            ("not_a_trace", "load_trace", {"trace": str(page)}),
            ("not_a_trace", "load_trace", {"trace": str(program.EXAMPLE.parent)}),
            ("unknown_row", "parent_chain", {"trace": trace, "row": "op999"}),
            ("unknown_row", "gemm_roofline", {"trace": trace, "row": "op999"}),
            ("unknown_row", "trace_diff", {"candidate": trace, "baseline": trace, "at": "op999"}),
            ("trace_not_found", "trace_diff", {"candidate": trace, "baseline": "none.json"}),
            ("stale_cursor", "ops_summary", {"trace": trace, "cursor": "a-12345678"}),
            ("no_gpu_events", "perf_report", {"trace": str(cpu_only), "compat": "tracelens"}),
            ("no_shapes", "gemm_roofline", {"trace": str(no_shapes), "row": "op1"}),
            ("exists", "perf_report", {"trace": trace, "output_dir": "mine"}),
            ("io", "perf_report", {"trace": trace, "output_dir": "mine/gpu_timeline.csv/below"}),
        ]
        for code, tool, arguments in catalogue:
            with self.subTest(code, tool=tool, arguments=arguments):
                self.refused(code, tool, arguments)
        self.assertEqual((mine / "gpu_timeline.csv").read_text(), "mine")

    def test_a_changed_file_makes_its_id_stale(self):
        path = self.folder / "changes.json"
        ids = []
        for name in ("one", "another"):
            path.write_text('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,'
                            '"ts":1,"dur":2}]}' % name)
            ids.append(self.session.call("load_trace", {"trace": str(path)})
                       ["structuredContent"]["trace"])
        text = self.refused("unknown_trace", "gpu_timeline", {"trace": ids[0]})
        self.assertIn("stale", text)
        self.assertIn(ids[1], text)

    def test_a_trace_beyond_the_limit(self):
        with program.Session(("--allow-root", "/", "--max-trace-bytes", "1M")) as session:
            text = self.refused("too_large", "load_trace", {"trace": TRACE}, session)
        self.assertIn("--max-trace-bytes", text)

    def test_without_patience_a_trace_is_loading_and_then_there(self):
        with program.Session(("--allow-root", "/", "--answer-within", "0")) as session:
            result = session.call("gpu_timeline", {"trace": TRACE})
            self.assertFalse(result.get("isError"), result)
            structured = result["structuredContent"]
            self.assertEqual(structured["status"], "loading")
            self.compare(program.text_of(result), structured)
            call = structured["next"][0]
            deadline = time.monotonic() + 60
            while "status" in result["structuredContent"] and time.monotonic() < deadline:
                time.sleep(0.01)
                result = session.call(call["tool"], call["arguments"])
                self.assertFalse(result.get("isError"), result)
            self.assertEqual(result["structuredContent"]["events"], 17350)

    def test_from_the_root_directory_nothing_is_allowed_unasked(self):
        with program.Session(flags=(), cwd="/") as session:
            text = self.refused("not_allowed", "load_trace", {"trace": TRACE}, session)
            self.assertIn("--allow-root", text)
        with program.Session(flags=("--allow-root", str(program.EXAMPLE.parent)),
                             cwd="/") as session:
            relative = {"trace": program.EXAMPLE.name}
            self.assertFalse(session.call("load_trace", relative).get("isError"))
            rows = session.call("category_filter", relative)
            self.assertFalse(rows.get("isError"))
            self.assertNotIn("files", rows["structuredContent"])
            self.refused("not_allowed", "category_filter", {**relative, "output_dir": "x"}, session)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
