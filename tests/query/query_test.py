#!/usr/bin/env python3
"""jarvis query and jarvis export: twenty questions whose answers are worked out here from the file
itself, on the bundled trace and on a large one; what must not get through; the exported database.

    query_test.py [unittest arguments]
"""

import contextlib
import csv
import gzip
import io
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
BUNDLED = ROOT / "examples/data/transformer_step.json.gz"
LARGE = pathlib.Path(os.environ.get("JARVIS_TEST_DATA", ROOT.parent / "shared")) / (
    "traces/norm-layers/trace.json.gz")
WORK = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}


def run(*arguments):
    return subprocess.run([program.BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False)


def ask(trace, sql):
    ran = run("query", trace, sql, "--csv")
    if ran.returncode != 0:
        raise AssertionError(ran.stderr)
    return list(csv.reader(io.StringIO(ran.stdout)))[1:]


def ns(us):
    return round(float(us) * 1000)


class Events:
    """A trace as the standard library reads it."""

    def __init__(self, path):
        with gzip.open(path) as file:
            self.all = json.load(file)["traceEvents"]
        self.x = [dict(event, uid=uid) for uid, event in enumerate(self.all)
                  if event.get("ph") == "X"]
        self.work = [event for event in self.x if event.get("cat") in WORK]
        self.ops = [event for event in self.x if event.get("cat") == "cpu_op"]
        self.frames = [event for event in self.x if event.get("cat") == "python_function"]
        self.calls = [event for event in self.x
                      if event.get("cat") in ("cuda_runtime", "cuda_driver")]

    def by_correlation(self):
        return {event["args"]["correlation"]: event for event in self.calls
                if "correlation" in event.get("args", {})}


def questions(events):
    """Of each question its SQL and the rows that are the answer, all of them texts."""
    kernels = [event for event in events.work if event["cat"] == "kernel"]
    yield "SELECT count(*) FROM gpu_work", [[len(events.work)]]
    yield ("SELECT kind, count(*) FROM gpu_work GROUP BY kind ORDER BY kind",
           sorted([kind, sum(event["cat"] == cat for event in events.work)]
                  for cat, kind in WORK.items() if any(e["cat"] == cat for e in events.work)))
    yield "SELECT sum(dur_ns) FROM gpu_work", [[sum(ns(e["dur"]) for e in events.work)]]
    longest = max(events.work, key=lambda event: (ns(event["dur"]), -event["uid"]))
    yield ("SELECT id, name, dur_ns FROM gpu_work ORDER BY dur_ns DESC, id LIMIT 1",
           [[longest["uid"], longest["name"], ns(longest["dur"])]])
    yield ("SELECT min(start_ns), max(end_ns) FROM gpu_work",
           [[min(ns(e["ts"]) for e in events.work),
             max(ns(e["ts"]) + ns(e["dur"]) for e in events.work)]])
    yield ("SELECT count(DISTINCT name) FROM gpu_work WHERE kind = 'kernel'",
           [[len({event["name"] for event in kernels})]])
    yield ("SELECT count(*), sum(count), sum(gpu_ns) FROM kernels",
           [[len({event["name"] for event in events.work}), len(events.work),
             sum(ns(e["dur"]) for e in events.work)]])
    streams = {}
    for event in events.work:
        streams[event["args"]["stream"]] = streams.get(event["args"]["stream"], 0) + 1
    yield ("SELECT stream, count(*) FROM gpu_work GROUP BY stream ORDER BY stream",
           sorted([stream, count] for stream, count in streams.items()))
    calls = events.by_correlation()
    linked = [event for event in events.work if event["args"].get("correlation") in calls]
    yield "SELECT count(*) FROM gpu_work WHERE launch_id IS NOT NULL", [[len(linked)]]
    yield ("SELECT c.name, count(*) FROM gpu_work w JOIN host_calls c ON c.id = w.launch_id "
           "GROUP BY c.name ORDER BY c.name",
           sorted([name, sum(calls[e["args"]["correlation"]]["name"] == name for e in linked)]
                  for name in {calls[e["args"]["correlation"]]["name"] for e in linked}))
    yield ("SELECT max(w.start_ns - c.start_ns) FROM gpu_work w JOIN host_calls c "
           "ON c.id = w.launch_id",
           [[max(ns(e["ts"]) - ns(calls[e["args"]["correlation"]]["ts"]) for e in linked)]])
    yield "SELECT count(*) FROM ops", [[len(events.ops)]]
    yield ("SELECT name, count(*) AS n FROM ops GROUP BY name ORDER BY n DESC, name LIMIT 5",
           sorted(([name, sum(e["name"] == name for e in events.ops)]
                   for name in {e["name"] for e in events.ops}),
                  key=lambda row: (-row[1], row[0]))[:5])
    yield ("SELECT count(*) FROM ops WHERE dims LIKE '[[%'",
           [[sum(str(e.get("args", {}).get("Input Dims", "")).startswith("[[")
                 for e in events.ops)]])
    yield ("SELECT count(*) FROM ops o, json_each(o.dims) WHERE json_array_length(value) = 2",
           [[sum(len(shape) == 2 for e in events.ops
                 for shape in e.get("args", {}).get("Input Dims", [])
                 if isinstance(shape, list))]])
    yield ("SELECT count(*), sum(dur_ns) FROM host_calls WHERE kind = 'runtime' AND "
           "name GLOB '*Synchronize'",
           [[sum(e["name"].endswith("Synchronize") for e in events.calls),
             sum(ns(e["dur"]) for e in events.calls if e["name"].endswith("Synchronize"))
             if any(e["name"].endswith("Synchronize") for e in events.calls) else ""]])
    yield ("SELECT count(*) FROM python_frames WHERE file IS NOT NULL",
           [[sum(bool(re.search(r"\(-?\d+\): ", e["name"])) for e in events.frames)]])
    yield ("SELECT count(*) FROM python_frames WHERE module IS NOT NULL",
           [[sum(e["name"].startswith("nn.Module: ") for e in events.frames)]])
    middle = sorted(ns(e["ts"]) for e in events.work)[len(events.work) // 2]
    yield (f"SELECT count(*) FROM gpu_work WHERE start_ns BETWEEN {middle - 10**5} AND "
           f"{middle + 10**5}",
           [[sum(abs(ns(e["ts"]) - middle) <= 10**5 for e in events.work)]])
    yield ("SELECT count(*) FROM gpu_work a JOIN gpu_work b ON b.start_ns > a.start_ns AND "
           "b.start_ns < a.end_ns",
           [[sum(ns(a["ts"]) < start < ns(a["ts"]) + ns(a["dur"]) for a in events.work
                 for start in [ns(b["ts"]) for b in events.work])]])


class Answers(unittest.TestCase):
    def check(self, path):
        events = Events(path)
        asked = 0
        for sql, expected in questions(events):
            with self.subTest(sql):
                self.assertEqual(ask(path, sql), [[str(cell) for cell in row] for row in expected])
            asked += 1
        self.assertEqual(asked, 20)

    def test_bundled(self):
        self.check(BUNDLED)

    def test_large(self):
        if not LARGE.exists():
            self.skipTest(f"{LARGE} is not there")
        self.check(LARGE)

    def test_ids_are_those_of_other_tools(self):
        row = ask(BUNDLED, "SELECT row, name FROM ops WHERE row IS NOT NULL LIMIT 1")[0]
        ran = run("parent_chain", BUNDLED, "--row", row[0], "--json")
        self.assertIn(row[1], ran.stdout)
        finding = ask(BUNDLED, "SELECT id FROM findings WHERE rank = 1")
        plan = run("prioritize", BUNDLED, "--plan", finding[0][0], "--json")
        self.assertEqual(plan.returncode, 0, plan.stderr)

    def test_the_schemas_own_questions_have_answers(self):
        schema = run("query", BUNDLED, "--json")
        self.assertEqual(len(json.loads(schema.stdout)["rows"]), 14)
        text = (ROOT / "src/query/relation.cpp").read_text(encoding="utf-8")
        found = re.findall(r'\{"[^"]+\?",\s*((?:"[^"]*"\s*)+)\}', text)
        self.assertEqual(len(found), 5)
        for parts in found:
            ask(BUNDLED, "".join(re.findall(r'"([^"]*)"', parts)))


class Refusals(unittest.TestCase):
    def refuse(self, sql, *words):
        ran = run("query", BUNDLED, sql)
        self.assertEqual(ran.returncode, 1, ran.stdout)
        for word in words:
            self.assertIn(word, ran.stderr)

    def test_iterations_of_a_server(self):
        names = ["execute_context_2(40)_generation_0(0)", "execute_context_0(0)_generation_3(3)"]
        events = []
        for number, name in enumerate(names):
            begin = 1000 + 500 * number
            host = {"ph": "X", "pid": 1, "tid": 1}
            events += [
                {**host, "cat": "user_annotation", "name": name, "ts": begin, "dur": 300},
                {**host, "cat": "cpu_op", "name": "aten::mm", "ts": begin + 10, "dur": 20},
                {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": begin + 12,
                 "dur": 5, "args": {"correlation": number + 1}},
                {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": begin + 50,
                 "dur": 100, "args": {"correlation": number + 1, "stream": 7}}]
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "trace.json")
            trace.write_text(json.dumps({"traceEvents": events}))
            self.assertEqual(
                ask(trace, "SELECT name, phase, start_ns, context_requests, generation_requests, "
                    "gpu_busy_ns, gpu_count, period_ns FROM iterations ORDER BY start_ns"),
                [[names[0], "prefill", "1000000", "2", "0", "100000", "1", "500000"],
                 [names[1], "decode", "1500000", "0", "3", "100000", "1", ""]])
        self.assertEqual(ask(BUNDLED, "SELECT count(*) FROM iterations"), [["0"]])

    def test_nothing_but_reading(self):
        for sql in ("CREATE TABLE t(a)", "ATTACH '/tmp/x.db' AS x", "PRAGMA database_list",
                    "SELECT load_extension('x')", "VACUUM INTO '/tmp/x.db'", "DELETE FROM gpu_work",
                    "SELECT * FROM pragma_database_list", "BEGIN", "DROP TABLE gpu_work",
                    "INSERT INTO gpu_work(id) VALUES (1)", "CREATE VIRTUAL TABLE a USING gpu_work"):
            with self.subTest(sql):
                self.refuse(sql, "[bad_value]")
        self.refuse("SELECT 1; SELECT 2", "one statement")
        self.refuse("/* nothing */", "no statement")

    def test_wrong_names_get_the_nearest(self):
        self.refuse("SELECT start FROM gpu_work", "start_ns")
        self.refuse("SELECT 1 FROM gpuwork", "did you mean gpu_work?")

    def test_endless_and_huge_questions_end(self):
        endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) "
        ran = run("query", BUNDLED, endless + "SELECT count(*) FROM t", "--timeout-s", "0.2")
        self.assertIn("[timeout]", ran.stderr)
        ran = run("query", BUNDLED, "SELECT hex(zeroblob(100000000))")
        self.assertIn("[too_large]", ran.stderr)
        ran = run("query", BUNDLED, endless + "SELECT group_concat(hex(randomblob(1000))) FROM t")
        self.assertEqual(ran.returncode, 1)
        self.refuse("SELECT " + "(" * 3000 + "1" + ")" * 3000, "SQL:")

    def test_an_answer_keeps_its_budget(self):
        ran = run("query", BUNDLED, "SELECT * FROM host_calls", "--limit", "500", "--json")
        self.assertLess(len(ran.stdout), 8000)
        self.assertGreater(json.loads(ran.stdout)["total"], 500)
        self.assertTrue(json.loads(ran.stdout)["truncated"])

    def test_explain(self):
        plan = ask(BUNDLED, "EXPLAIN QUERY PLAN SELECT * FROM gpu_work WHERE id = 7")
        self.assertIn("gpu_work", plan[0][-1])


class Export(unittest.TestCase):
    def test_a_database_that_sqlite_opens(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "out.db"
            ran = run("export", BUNDLED, "--sqlite", file)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            database = sqlite3.connect(file)
            names = {row[0] for row in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'")}
            self.assertEqual(len(names), 14)
            for table in names:
                count = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                self.assertEqual(str(count), ask(BUNDLED, f"SELECT count(*) FROM {table}")[0][0])
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            plan = database.execute(
                "EXPLAIN QUERY PLAN SELECT * FROM gpu_work WHERE start_ns > 5").fetchall()
            self.assertIn("USING INDEX", str(plan))
            database.close()
            self.assertNotEqual(run("export", BUNDLED, "--sqlite", file).returncode, 0)
            self.assertEqual(run("export", BUNDLED, "--sqlite", file, "--overwrite").returncode, 0)

    def test_a_database_that_pandas_reads(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "out.db"
            run("export", BUNDLED, "--sqlite", file)
            with contextlib.closing(sqlite3.connect(file)) as database:
                work = pandas.read_sql("SELECT * FROM gpu_work", database)
        self.assertEqual([[str(len(work)), str(work.dur_ns.sum())]],
                         ask(BUNDLED, "SELECT count(*), sum(dur_ns) FROM gpu_work"))


if __name__ == "__main__":
    unittest.main()
