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
import resource
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
        self.assertEqual(len(json.loads(schema.stdout)["rows"]), 15)
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


# Of each function that questions may use, a question (or several) whose answer is SQLite's own.
FUNCTIONS = {
    "->": "'[1,[2,3]]' -> 1", "->>": "'{\"a\":\"x\"}' ->> 'a'", "abs": "abs(-7.5)",
    "acos": "acos(0.5)", "acosh": "acosh(1.5)", "asin": "asin(0.5)", "asinh": "asinh(0.5)",
    "atan": "atan(0.5)", "atan2": "atan2(1, 2)", "atanh": "atanh(0.5)",
    "avg": "(SELECT avg(v) FROM t)", "ceil": "ceil(1.2)", "ceiling": "ceiling(-1.2)",
    "char": "char(233, 66)", "coalesce": "coalesce(NULL, 2)", "cos": "cos(1)", "cosh": "cosh(1)",
    "count": "(SELECT count(*) || count(v) FROM t)",
    "cume_dist": "(SELECT group_concat(c) FROM (SELECT cume_dist() OVER (ORDER BY v) c FROM t))",
    "current_date": "length(current_date)", "current_time": "length(current_time)",
    "current_timestamp": "length(current_timestamp)", "date": "date('2026-01-31', '+1 month')",
    "datetime": "datetime(1e9, 'unixepoch')", "degrees": "degrees(1)",
    "dense_rank": "(SELECT group_concat(c) FROM (SELECT dense_rank() OVER (ORDER BY v) c FROM t))",
    "exp": "exp(1)",
    "first_value": "(SELECT first_value(v) OVER (ORDER BY v DESC) FROM t LIMIT 1)",
    "floor": "floor(-1.5)", "format": "format('%05d|%,d|%q', 42, 1234567, 'a''b')",
    "glob": "'cudaLaunchKernel' GLOB 'cuda*[K-M]ernel'", "group_concat":
    "(SELECT group_concat(v, '/') FROM t)", "hex": "hex('é')", "ifnull": "ifnull(NULL, 'x')",
    "iif": "iif(1 > 2, 'a', 'b')", "instr": "instr('ünter', 'nt')", "json": "json(' [ 1 , 2 ] ')",
    "json_array": "json_array(1, 'a', NULL)", "json_array_length": "json_array_length('[1,[2]]')",
    "json_extract": "json_extract('{\"a\":[1,2]}', '$.a[1]', '$.a')",
    "json_group_array": "(SELECT json_group_array(v) FROM t)",
    "json_group_object": "(SELECT json_group_object(v, v) FROM t)",
    "json_insert": "json_insert('[1]', '$[#]', 2)", "json_object": "json_object('a', 1)",
    "json_quote": "json_quote('a\"b')", "json_remove": "json_remove('[1,2]', '$[0]')",
    "json_replace": "json_replace('[1,2]', '$[0]', 9)", "json_set": "json_set('{}', '$.a', 1)",
    "json_type": "json_type('[1.5]', '$[0]')", "json_valid": "json_valid('{]')",
    "julianday": "julianday('2026-01-01')",
    "lag":
    "(SELECT group_concat(ifnull(c, 'none')) FROM (SELECT lag(v) OVER (ORDER BY v) c FROM t))",
    "last_value": "(SELECT last_value(v) OVER (ORDER BY v DESC) FROM t LIMIT 1)",
    "lead": "(SELECT lead(v, 1, 'none') OVER (ORDER BY v) FROM t LIMIT 1)",
    "length": "length('ünter')", "like": "'CUDA_x%' LIKE 'cuda\\_x\\%' ESCAPE '\\'",
    "likelihood": "likelihood(3, 0.5)", "likely": "likely(3)", "ln": "ln(2)", "log": "log(2, 8)",
    "log10": "log10(5)", "log2": "log2(5)", "lower": "lower('ÄBc')",
    "ltrim": "ltrim('xxayx', 'x')",
    "max": "max(1, '2') || (SELECT max(v) FROM t)", "min": "min(2, 1) || (SELECT min(v) FROM t)",
    "mod": "mod(7, 3)",
    "nth_value": "(SELECT nth_value(v, 2) OVER () FROM t LIMIT 1)",
    "ntile": "(SELECT group_concat(c) FROM (SELECT ntile(2) OVER (ORDER BY v) c FROM t))",
    "nullif": "ifnull(nullif(1, 1), 'null')",
    "percent_rank":
    "(SELECT group_concat(c) FROM (SELECT percent_rank() OVER (ORDER BY v) c FROM t))",
    "pi": "pi()", "pow": "pow(2, 0.5)", "power": "power(2, 3)",
    "printf": "printf('%.3f %s', 2.5, 'x')",
    "quote": "quote('a''b')", "radians": "radians(90)", "random": "typeof(random())",
    "randomblob": "length(randomblob(5))",
    "rank": "(SELECT group_concat(c) FROM (SELECT rank() OVER (ORDER BY v) c FROM t))",
    "replace": "replace('aabaa', 'aa', 'c')", "round": "round(2.567, 1)",
    "row_number": "(SELECT group_concat(c) FROM (SELECT row_number() OVER (ORDER BY v) c FROM t))",
    "rtrim": "rtrim('xay  ') || '|'", "sign": "sign(-3)", "sin": "sin(1)", "sinh": "sinh(1)",
    "soundex": "soundex('Robert')", "sqlite_version": "sqlite_version()", "sqrt": "sqrt(2)",
    "strftime": "strftime('%H:%M:%f', 0.25, 'unixepoch')", "substr": "substr('ünter', 2, 2)",
    "substring": "substring('ünter', -2)", "sum": "(SELECT sum(v) FROM t)", "tan": "tan(1)",
    "tanh": "tanh(1)", "time": "time(0.5)", "total": "(SELECT total(v) FROM t)",
    "trim": "trim('  a ') || '|'", "trunc": "trunc(-1.5)", "typeof": "typeof(x'00')",
    "unicode": "unicode('é')", "unixepoch": "unixepoch('2026-01-01')", "unlikely": "unlikely(0)",
    "upper": "upper('äbc')", "zeroblob": "length(zeroblob(9))"}
A_TABLE = "WITH t(v) AS (VALUES (1), (2.5), (2), (2), (NULL)) "


class Functions(unittest.TestCase):
    def test_each_that_is_allowed_gives_what_sqlite_gives(self):
        schema = (ROOT / "src/query/functions.cpp").read_text(encoding="utf-8")
        allowed = re.findall(r'"([^"]+)"', re.search(r"kAllowed\[\] = \{(.*?)\};", schema, re.S)[1])
        self.assertEqual(sorted(FUNCTIONS), sorted(allowed))
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            sql = A_TABLE + "SELECT " + ", ".join(f"({one}) || ''" for one in FUNCTIONS.values())
            answers = zip(FUNCTIONS, ask(BUNDLED, sql)[0], database.execute(sql).fetchone())
            for name, got, expected in answers:
                with self.subTest(name):
                    self.assertEqual(got, expected)

    def test_none_else(self):
        for call in ("fts3_tokenizer('simple')", "json_patch('{}', '{}')", "sqlite_source_id()",
                     "load_extension('x')", "changes()", "subtype(1)", "sqlite_log(1, 'x')",
                     "rtreedepth(x'00')", "sqlite_compileoption_get(0)", "last_insert_rowid()"):
            with self.subTest(call):
                ran = run("query", BUNDLED, f"SELECT {call}")
                self.assertEqual(ran.returncode, 1, ran.stdout)
                self.assertIn("[bad_value]", ran.stderr)
                self.assertIn("not authorized to use function", ran.stderr)
        for table in ("sqlite_master", "SQLITE_SCHEMA", "pragma_function_list", "dbstat",
                      "sqlite_stmt", "fts3tokenize('simple')", "main.sqlite_master"):
            with self.subTest(table):
                self.assertEqual(run("query", BUNDLED, f"SELECT * FROM {table}").returncode, 1)
                self.assertEqual(run("query", BUNDLED, f"SELECT 1 FROM {table}").returncode, 1)


def large(expression, a="replace(hex(zeroblob(225000)), '00', 'aa')", b="0"):
    """A question about two long texts."""
    return f"WITH x(a, b) AS MATERIALIZED (SELECT {a}, {b}) SELECT {expression} FROM x"


def often(expression, a_column, columns):
    return ", ".join(["+".join([expression] * a_column)] * columns)


A_LIST = "'['||replace(hex(zeroblob(230000)),'00','1,')||'1]'"
DIGITS = "replace(hex(zeroblob(450000)),'0','1')"
COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n{}) "


def nested(step):
    parts = ", ".join(f"t{i}(a) AS ({step.replace('t', f't{i - 1}')})" for i in range(1, 40))
    return f"WITH t0(a) AS (SELECT 1), {parts} SELECT count(*) FROM t39"


# Questions that would take from seconds to days, each in its own way.
HOSTILE = {
    "instr": large(often("instr(a, b)", 8, 30), b="substr(a, 1, 200000) || 'b'").replace(
        "substr(a,", "substr(replace(hex(zeroblob(225000)), '00', 'aa'),"),
    "replace": large(often("length(replace(a,'a',''))", 7, 20)),
    "rtrim of many characters": COUNT.format(" WHERE i < 200000") + (
        "SELECT sum(length(rtrim('x' || g, g || 'y'))) "
        "FROM (SELECT group_concat(char(i + 1000), '') g FROM n), n"),
    "trim": large(often("length(trim(a,b))", 7, 20),
                  b="replace(hex(zeroblob(99000)),'00','é')||'a'"),
    "LIKE": large("sum(a LIKE '%" + "a_%" * 300 + "b') OVER (), " +
                  often("(a LIKE '%a_b')", 8, 30)),
    "GLOB": large(often("(a GLOB '*[" + "b" * 500 + "]c')", 1, 30)),
    "json": large(often("json_extract(a||'','$[229999]')", 4, 60), A_LIST),
    "json_set": large(often("length(json_set(a||''," + ",".join(["'$[#]',1"] * 24) + "))", 1, 60),
                      A_LIST),
    "json_each": large("count(*)", A_LIST).replace(
        "FROM x", "FROM x, json_each(x.a) e, json_each(x.a) f"),
    "strftime": large(often("length(strftime(a,'now'))", 7, 20),
                      "replace(hex(zeroblob(225000)),'00','%j')"),
    "numbers": large(often("-a", 30, 200), DIGITS),
    "comparisons": large(often("(a=b COLLATE NOCASE)", 4, 190), b="a||'b'").replace(
        ", a||'b')", ", replace(hex(zeroblob(225000)), '00', 'AA'))"),
    "concatenation": large(often("((a||'')>'')", 7, 190)) + (
        ", (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12))"),
    "printf": large(often("length(printf('%-*s',899000,''))", 7, 20)),
    "sorting": COUNT.format("") + "SELECT i FROM n ORDER BY printf('%0200d', i * 7919 % 100003)",
    "distinct rows": COUNT.format("") + "SELECT DISTINCT i * 7919 FROM n",
    "windows": COUNT.format(" WHERE i < 1000000") + (
        "SELECT length(group_concat(i) OVER (ORDER BY i ROWS 100000 PRECEDING)) FROM n"),
    "compiling products": nested("SELECT x.a + y.a FROM t x, t y"),
    "compiling unions": nested("SELECT a FROM t UNION ALL SELECT a FROM t"),
    "compiling joins": "SELECT count(*) FROM " + ", ".join(f"gpu_work g{i}" for i in range(64)) +
                       " WHERE " + " AND ".join(f"g{i}.id = g{i + 1}.stream + g{i * 7 % 64}.dur_ns"
                                                for i in range(63)),
    "products of tables": "SELECT count(*) FROM host_calls a, host_calls b, host_calls c "
                          "WHERE a.name || b.name LIKE '%' || c.name || 'x'",
}


class Hostile(unittest.TestCase):
    def test_no_question_outlives_its_time(self):
        refused = 0
        for name, sql in HOSTILE.items():
            with self.subTest(name):
                # Far more than it takes, far less than it would.
                ran = subprocess.run([program.BINARY, "query", BUNDLED, sql, "--timeout-s", "0.1"],
                                     capture_output=True, text=True, timeout=60, check=False)
                if ran.returncode == 0:
                    continue  # a fast machine has answered it in time
                refused += 1
                self.assertEqual(ran.returncode, 1, ran.stdout[:300])
                self.assertRegex(ran.stderr, r"^jarvis: \[(timeout|out_of_memory)\] ")
        self.assertGreater(2 * refused, len(HOSTILE))

    def test_a_question_of_many_calls_is_refused(self):
        ran = run("query", BUNDLED, "SELECT " + ", ".join(["abs(1)+abs(2)"] * 190))
        self.assertIn("[too_large]", ran.stderr)
        self.assertIn("more than 300 places", ran.stderr)


class Export(unittest.TestCase):
    def test_a_database_that_sqlite_opens(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "out.db"
            ran = run("export", BUNDLED, "--sqlite", file)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            database = sqlite3.connect(file)
            names = {row[0] for row in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'")}
            self.assertEqual(len(names), 15)
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

    def test_refused_memory_is_told_as_that(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "out.db"
            refused = 0
            for megabytes in range(100, 420, 20):
                ran = subprocess.run(
                    [program.BINARY, "export", BUNDLED, "--sqlite", file, "--overwrite"],
                    capture_output=True, text=True, timeout=120, check=False,
                    preexec_fn=lambda size=megabytes << 20: resource.setrlimit(
                        resource.RLIMIT_AS, (size, size)))
                refused += ran.returncode != 0
                self.assertNotIn("512 MB", ran.stderr)
            self.assertGreater(refused, 0)

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
