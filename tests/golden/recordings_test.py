#!/usr/bin/env python3
"""Recordings of Nsight Systems and rocprofv3: small databases made here, and those of
$JARVIS_TEST_DATA/traces/inputs with what is expected of them, where they are there.

    recordings_test.py [unittest arguments]
"""

import collections
import csv
import hashlib
import io
import json
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

INPUTS = program.DATA / "traces/inputs"
EXPECTED = program.DATA / "expected/inputs"
GPU_SQL = ("SELECT device, kind, name, start_ns, end_ns, stream, launch_id, bytes FROM gpu_work "
           "ORDER BY start_ns")


def rows(path, sql):
    ran = subprocess.run([program.BINARY, "query", str(path), sql, "--csv"], capture_output=True,
                         text=True, timeout=120)
    if ran.returncode != 0:
        raise AssertionError(ran.stderr)
    return list(csv.DictReader(io.StringIO(ran.stdout)))


def union(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a >= end:
            total += b - a
            end = b
        elif b > end:
            total += b - end
            end = b
    return total


def gpus_of(work):
    """The GPUs of GPU work as expected files have them, by lane."""
    by = collections.defaultdict(list)
    for row in work:
        by[row["device"]].append(row)
    found = {}
    for lane, mine in by.items():
        spans = [(int(r["start_ns"]), int(r["end_ns"])) for r in mine]
        kernels = collections.Counter()
        sums = collections.Counter()
        copies = collections.defaultdict(lambda: [0, 0, 0])
        for row, (start, end) in zip(mine, spans):
            if row["kind"] == "kernel":
                kernels[row["name"]] += 1
                sums[row["name"]] += end - start
            else:
                one = copies[row["name"]]
                one[0] += 1
                one[1] += end - start
                one[2] += int(row["bytes"] or 0)
        first, last = min(s[0] for s in spans), max(s[1] for s in spans)
        top = sorted(kernels, key=lambda n: (-sums[n], n))[:12]
        found[lane] = {
            "first_ns": first, "last_ns": last, "busy_ns": union(spans),
            "sum_ns": sum(b - a for a, b in spans),
            "streams": dict(collections.Counter(r["stream"] for r in mine)),
            "kernels": sum(kernels.values()), "kernel_names": len(kernels),
            "kernel_sum_ns": sum(sums.values()),
            "top_kernels": [{"name": n, "count": kernels[n], "sum_ns": sums[n]} for n in top],
            "copies": [{"name": n, "count": c[0], "sum_ns": c[1], "bytes": c[2]}
                       for n, c in sorted(copies.items())],
        }
    return found


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Expected(unittest.TestCase):
    """Events, GPUs and links of real and made recordings."""

    def setUp(self):
        program.need_binary()
        if not EXPECTED.is_dir():
            self.skipTest(f"no {EXPECTED}")

    def samples(self):
        for folder in (EXPECTED, EXPECTED / "made"):
            for file in sorted(folder.glob("*.json")):
                want = json.loads(file.read_text())
                at = INPUTS / folder.relative_to(EXPECTED)
                if file.name.startswith("rocprofv3-text."):
                    name = {"json": "5005_results.json", "csv": "5005_kernel_trace.csv"}
                    yield at / "rocprofv3-text" / name[file.stem.split(".")[1]], want
                for ending in (".sqlite", ".db"):
                    if (at / (file.stem + ending)).is_file():
                        yield at / (file.stem + ending), want

    def test_gpu_work_and_links(self):
        seen = 0
        for path, want in self.samples():
            if not want.get("gpus"):
                continue
            seen += 1
            with self.subTest(path.name):
                work = rows(path, GPU_SQL)
                linked = [r for r in work if r["launch_id"]]
                self.assertEqual(len(work), want["links"]["gpu_work"])
                self.assertEqual(len(linked), want["links"]["linked"])
                self.assertEqual(sum(r["kind"] == "kernel" for r in linked),
                                 want["links"]["kernels_linked"])
                got = gpus_of(work)
                for gpu in want["gpus"]:
                    mine = got[str(gpu["lane_pid"])]
                    for key, value in mine.items():
                        self.assertEqual(value, gpu[key], f"{gpu['lane_pid']} {key}")
                self.assertEqual(len(got), len(want["gpus"]))
        self.assertGreater(seen, 10)

    def test_host_events(self):
        kinds = {"op": "cpu_op", "annotation": "user_annotation", "runtime": "runtime",
                 "driver": "driver"}
        for path, want in self.samples():
            if not want.get("gpus"):
                continue
            with self.subTest(path.name):
                got = {kinds[r["kind"]]: int(r["n"]) for r in
                       rows(path, "SELECT kind, count(*) AS n FROM host_calls GROUP BY kind")}
                self.assertEqual(got, {k: n for k, n in want["events"].items() if k in kinds.values()})

    def test_ranges(self):
        kinds = {"cpu_op": "op", "user_annotation": "annotation"}
        for path, want in self.samples():
            if path.name.startswith("bad"):
                continue
            for one in want.get("ranges", {}).get("top", []):
                with self.subTest(f"{path.name}: {one['name']}"):
                    name = one["name"].replace("'", "''")
                    got = rows(path, "SELECT count(*) AS n, sum(dur_ns) AS ns FROM host_calls WHERE "
                                     f"kind='{kinds[one['kind']]}' AND name='{name}'")[0]
                    self.assertEqual((int(got["n"]), int(got["ns"])), (one["count"], one["host_ns"]))

    def test_what_is_refused(self):
        made = INPUTS / "made"
        for name, what, then in (
                ("bad-empty.sqlite", "is empty (0 bytes)", ""),
                ("bad-head-only.sqlite", "cut off in its first 100 bytes", ""),
                ("bad.nsys-rep", "report of Nsight Systems",
                 "nsys export --type=sqlite --include-blobs=true"),
                ("bad-something-else.db", "moz_places", "rocprofv3"),
                ("bad-rpd.db", "RPD of rocmProfileData", "rpd2tracing.py"),
                ("bad-view.sqlite", "something else", ""),
                ("nsys-empty.sqlite", "nothing was recorded", "--trace=cuda,nvtx,osrt")):
            with self.subTest(name):
                ran = program.call("load_trace", trace=str(made / name), timeout=20)
                self.assertEqual(ran.returncode, 1)
                self.assertIn("[not_a_trace]", ran.stderr)
                self.assertIn(what, ran.stderr)
                self.assertIn(then, ran.stderr)

    def test_damage_is_said(self):
        for name, words in (("bad-truncated.sqlite", ("81 pages", "64 whole", "RUNTIME end early")),
                            ("bad-pages.sqlite", ("KERNEL end early",))):
            with self.subTest(name):
                answer = program.ask("load_trace", trace=str(INPUTS / "made" / name))
                self.assertTrue(answer["partial"])
                text = json.dumps(answer["rows"])
                for word in words:
                    self.assertIn(word, text)

    def test_secrets_stay_where_they_are(self):
        path = INPUTS / "made/rocpd-two-gpus.db"
        self.assertIn(b"do-not-show-this", path.read_bytes())
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, JARVIS_CACHE=folder + "/cache")
            ran = subprocess.run([program.BINARY, "analyze", str(path), "--output-dir", folder + "/out"],
                                 capture_output=True, env=environment, timeout=300)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            texts = [ran.stdout, ran.stderr]
            texts += [p.read_bytes() for p in pathlib.Path(folder).rglob("*") if p.is_file()]
            self.assertGreater(len(texts), 5)
            for text in texts:
                self.assertNotIn(b"do-not-show-this", text)

    def test_counters(self):
        made = INPUTS / "made"
        for name, waves in (("rocpd-two-gpus.db", 1005), ("rocpd-merged.db", 1608)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                answer = program.ask("rocprof_counters", path=str(made / name), output_dir=folder,
                                     group_by="kernel")
                self.assertEqual(answer["counters"], ["SQ_WAVES"])
                with open(pathlib.Path(folder) / "rocprof_kernels.csv") as file:
                    gemm = [r for r in csv.DictReader(file) if r["kernel_name"] == "gemm(float*)"][0]
                self.assertEqual(float(gemm["waves_per_dispatch"]) * int(gemm["counted"]), waves)


# ---------------------------------------------------------------- made here


def global_id(pid, tid=0):
    return 1 << 56 | pid << 24 | tid


class Made(unittest.TestCase):
    def setUp(self):
        program.need_binary()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "run.sqlite"

    def export(self, pids=(10,), tables=""):
        """An export in which each process runs two steps of one op with one kernel on its GPU 0."""
        db = sqlite3.connect(self.path)
        db.executescript("""
          CREATE TABLE StringIds (id INTEGER, value TEXT);
          INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'cudaLaunchKernel_v7000'),
            (3, 'aten::mm, seq = 4, op_id = 9, sizes = [[64, 32], [32, 16]]');
          CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
          INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.24.0');
          CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT, deviceId INT, streamId INT,
            correlationId INT, globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT,
            gridZ INT, blockX INT, blockY INT, blockZ INT);
          CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, "end" INT, globalTid INT,
            correlationId INT, nameId INT, eventClass INT);
          CREATE TABLE NVTX_EVENTS (start INT, "end" INT, eventType INT, text TEXT, textId INT,
            globalTid INT, domainId INT);
          CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT);
          CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);""")
        for place, pid in enumerate(pids):
            tid = global_id(pid, pid)
            db.execute("INSERT INTO TARGET_INFO_GPU VALUES (?, 'NVIDIA H100', 132)", (place,))
            db.execute("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, 0, ?)", (place, pid))
            for step in range(2):
                at = 1000 + 10_000 * step
                db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, 'step', NULL, ?, 0)",
                           (at, at + 9000, tid))
                db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, 3, ?, 0)",
                           (at + 10, at + 900, tid))
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 2, 0)",
                           (at + 100, at + 200, tid, 7 + step))
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 1, 1, 4, 1,"
                           " 1, 128, 1, 1)", (at + 300, at + 800 + place, 7 + step, global_id(pid)))
        if tables:
            db.executescript(tables)
        db.commit()
        db.close()
        return self.path

    def test_links_stay_in_their_process(self):
        path = self.export((10, 11))
        work = rows(path, "SELECT g.device, g.dur_ns, c.pid FROM gpu_work g JOIN host_calls c "
                          "ON c.id = g.launch_id ORDER BY g.device, g.start_ns")
        self.assertEqual([(r["device"], r["dur_ns"], r["pid"]) for r in work],
                         [("0", "500", "10"), ("0", "500", "10"), ("1", "501", "11"),
                          ("1", "501", "11")])

    def test_ranks_and_shapes(self):
        path = self.export((10, 11))
        facts = program.ask("load_trace", trace=str(path))
        self.assertEqual([(p["pid"], p["rank"], p["gpus"]) for p in facts["processes"]],
                         [("10", 0, [0]), ("11", 1, [1])])
        self.assertEqual(facts["dialect"], "nsight systems 3.24.0")
        op = rows(path, "SELECT name, dims, sequence, gpu_count FROM ops")[0]
        self.assertEqual((op["name"], op["dims"], op["sequence"], op["gpu_count"]),
                         ("aten::mm", "[[64, 32], [32, 16]]", "4", "1"))

    def test_the_same_with_one_thread_and_two(self):
        path = self.export((10, 11))
        answers = []
        for cores in ("0", "0-1"):
            ran = subprocess.run(["taskset", "-c", cores, program.BINARY, "call", "load_trace",
                                  json.dumps({"trace": str(path)})], capture_output=True, timeout=60)
            answers.append(ran.stdout)
        self.assertEqual(answers[0], answers[1])

    def test_the_file_stays_as_it_is(self):
        path = self.export()
        before = (sha(path), path.stat().st_mtime_ns, sorted(os.listdir(path.parent)))
        program.ask("load_trace", trace=str(path))
        self.assertEqual(before, (sha(path), path.stat().st_mtime_ns, sorted(os.listdir(path.parent))))

    def test_names_mean_nothing(self):
        path = self.export()
        other = path.with_name("trace.json.gz")
        path.rename(other)
        self.assertEqual(program.ask("load_trace", trace=str(other))["gpu_events"], 2)

    def test_what_the_schema_says_never_runs(self):
        path = self.export(tables="""
          CREATE VIEW OSRT_API AS WITH RECURSIVE x(start, "end") AS (SELECT 1, 1 UNION ALL
            SELECT start + 1, 2 FROM x) SELECT * FROM x;
          CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, "end" INT, deviceId INT, streamId INT,
            bytes INT AS (length(zeroblob(500000000))));
          INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, "end", deviceId, streamId) VALUES (1, 2, 0, 7);
          CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;""")
        answer = program.ask("load_trace", trace=str(path), timeout=20)
        self.assertEqual(answer["gpu_events"], 3)
        self.assertNotIn("OSRT", json.dumps(answer["seen"]))

    def test_unfinished_writing(self):
        path = self.export()
        (path.parent / "run.sqlite-wal").write_bytes(bytes(100))
        codes = [r[0] for r in program.ask("load_trace", trace=str(path))["rows"]]
        self.assertIn("unfinished_writing", codes)

    def test_a_compressed_database(self):
        import gzip
        packed = self.path.with_name("run.sqlite.gz")
        packed.write_bytes(gzip.compress(self.export().read_bytes()))
        ran = program.call("load_trace", trace=str(packed))
        self.assertIn("a compressed SQLite database", ran.stderr)

    def test_pages_that_hold_themselves(self):
        """A b-tree whose pages are their own children has no end."""
        path = self.export()
        db = sqlite3.connect(path)
        db.execute("PRAGMA page_size")
        page_size = db.execute("PRAGMA page_size").fetchone()[0]
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name='CUPTI_ACTIVITY_KIND_KERNEL'"
                          ).fetchone()[0]
        db.close()
        data = bytearray(path.read_bytes())
        at = (root - 1) * page_size
        cells = b"".join(struct.pack(">IB", root, 1) for _ in range(200))
        pointers = b"".join(struct.pack(">H", page_size - len(cells) + 5 * i) for i in range(200))
        page = struct.pack(">BHHHBI", 5, 0, 200, page_size - len(cells), 0, root) + pointers
        data[at:at + page_size] = page + bytes(page_size - len(page) - len(cells)) + cells
        path.write_bytes(data)
        ran = program.call("load_trace", trace=str(path), timeout=20)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)

    def test_nothing_but_calls(self):
        path = self.export()
        db = sqlite3.connect(path)
        db.execute("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL")
        db.commit()
        db.close()
        codes = [r[0] for r in program.ask("load_trace", trace=str(path))["rows"]]
        self.assertIn("api_only", codes)
        self.assertIn("no_gpu_work", codes)

    def test_json_of_it_is_the_same(self):
        """`jarvis perfetto` writes the events as torch.profiler would; read again they are the same."""
        path = self.export((10, 11))
        folder = path.with_name("out")
        ran = subprocess.run([program.BINARY, "perfetto", str(path), "-o", str(folder)],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        out = folder / "perfetto.json.gz"
        self.assertEqual(rows(path, GPU_SQL.replace("launch_id, ", "")),
                         rows(out, GPU_SQL.replace("launch_id, ", "")))

    def analysis(self, path):
        ran = subprocess.run([program.BINARY, "analyze", str(path), "-o", str(path.with_name("out"))],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return (" ".join(ran.stdout.split()), (path.with_name("out") / "analysis.md").read_text())

    def test_the_start_of_a_program_of_no_framework(self):
        """Two short kernels beside 10 us of cudaMalloc, and 1 us of the profiler before them."""
        printed, written = self.analysis(self.export(tables="""
          UPDATE StringIds SET value = 'my own range' WHERE id = 3;
          INSERT INTO StringIds VALUES (4, 'cudaMalloc_v3020'), (5, 'CUDA profiling initialization');
          INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 25000, 35000, globalTid, 99, 4, 0
            FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1;
          CREATE TABLE PROFILER_OVERHEAD (start INT, "end" INT, globalTid INT, nameId INT);
          INSERT INTO PROFILER_OVERHEAD VALUES (100, 1100, 0, 5), (50000, 90000, 0, 5);
          CREATE TABLE ANALYSIS_DETAILS (globalVid INT, duration INT);
          INSERT INTO ANALYSIS_DETAILS VALUES (0, 2000000);"""))
        for words in ("2 kernels and 0.00100 ms of GPU work are too little to rank",
                      "(longest: `cudaMalloc` 0.01000 ms)", "with `nsys profile",
                      "The profiler recorded 2.00 ms of the process; its first GPU work begins after "
                      "0.00130 ms (among others: CUDA profiling initialization 0.00100 ms)."):
            self.assertIn(words, printed)
        for word in ("What to do", "recommendations together", "-bound"):
            self.assertNotIn(word, printed)
        for word in ("torch", "PyTorch", "profiler.step", "schedule(", "ProfilerActivity", "eager"):
            self.assertNotIn(word, printed + written)

    def test_ops_and_kernels_show_the_framework(self):
        printed, _ = self.analysis(self.export())
        self.assertIn("PyTorch", printed)
        self.assertNotIn("ProfilerActivity", printed)

    def test_a_part_of_a_recording(self):
        path = self.export()
        whole = program.ask("load_trace", trace=str(path))
        part = program.ask("load_trace", trace=str(path), from_ms=0.0, to_ms=0.005)
        self.assertEqual((whole["gpu_events"], part["gpu_events"]), (2, 1))
        self.assertEqual(part["dialect"], whole["dialect"])


if __name__ == "__main__":
    unittest.main()
