#!/usr/bin/env python3
"""Recordings of kinds that people gave to tools of this field, and files that are no recording: what
is said of them. Small ones are made here; those of $JARVIS_TEST_DATA are asked when they are there.

    reported_inputs_test.py [unittest arguments]
"""

import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import pickle
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

REPORTED = program.DATA / "cases/reported"
TRACE = gzip.decompress(program.EXAMPLE.read_bytes())
NO_TRACE = b"<html><body>Sign in</body></html>"

# What each file of cases/reported/wrong-files is called, and a word of what to do with it.
NO_TRACES = {
    "12_results.json": ("rocprofv3", "rocprofv3 --hip-trace"),
    "chakra.0.et": ("Chakra", "export_chrome_trace"),
    "csv.csv": ("CSV", "compare"),
    "execution_trace_host_rank0.json": ("execution trace", "export_chrome_trace"),
    "host.xplane.pb": ("XPlane", "trace.json.gz"),
    "html.json": ("web page", "download"),
    "kernel.ncu-rep": ("Nsight Compute", "torch.profiler"),
    "key_averages.txt": ("key_averages", "export_chrome_trace"),
    "lfs.json.gz": ("Git LFS", "git lfs pull"),
    "memory_snapshot.pickle": ("memory", "export_chrome_trace"),
    "memory_timeline.json": ("memory timeline", "export_chrome_trace"),
    "nccl_fr_dump.json": ("flight recorder", "torch.profiler"),
    "nsys.sqlite": ("Nsight Systems", "nsys profile"),
    "report1.nsys-rep": ("Nsight Systems", "nsys export --type=sqlite"),
    "rocpd_results.db": ("rocpd", "rocprofv3 --hip-trace"),
    "trace.pftrace": ("Perfetto", "JSON"),
}


def made_files(folder):
    """Files of the same kinds from other hands: name -> (word of the kind, word of what to do)."""
    def tar(mode, data):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode=mode) as archive:
            entry = tarfile.TarInfo("run/rank0.json")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        return out.getvalue()

    def zipped(data):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("rank0.json", data)
        return out.getvalue()

    def database(*tables):
        path = folder / "made.sqlite"
        path.unlink(missing_ok=True)
        base = sqlite3.connect(path)
        # Hundreds of tables, as exports have: their names fill more than the first page.
        for table in [f"ENUM_{i}" for i in range(100)] + list(tables):
            base.execute(f'CREATE TABLE "{table}" (id INTEGER PRIMARY KEY, name TEXT)')
        base.commit()
        base.close()
        return path.read_bytes()

    snapshot = {"segments": [{"address": 1, "blocks": []}] * 3, "device_traces": [[]]}
    return {
        "a.json": (database("CUPTI_ACTIVITY_KIND_KERNEL", "StringIds"), "Nsight Systems", "nsys profile"),
        "b.json.gz": (database("rocpd_kernel_dispatch_0"), "rocpd", "rocprofv3"),
        "c.db": (database(), "SQLite", "rocprofv3"),
        "d": (tar("w", NO_TRACE), "tar", "trace"),
        "e.json.gz": (tar("w:gz", NO_TRACE), "tar", "trace"),
        "f.json": (zipped(NO_TRACE), "zip", "trace"),
        "g.json": (lzma.compress(NO_TRACE), "web page", "download"),
        "h.json": (bz2.compress(NO_TRACE), "web page", "download"),
        "i.json": (gzip.compress(gzip.compress(NO_TRACE)), "web page", "download"),
        "j.json": (TRACE[:4000].decode().encode("utf-16-be"), None, None),
        "k.json": (b"\xfe\xff" + NO_TRACE.decode().encode("utf-16-be"), "web page", "download"),
        "k7.json": (b"7z\xbc\xaf\x27\x1c" + bytes(100), "7z", "unpack"),
        "l.pt.trace.json": (pickle.dumps(snapshot), "memory", "export_chrome_trace"),
        "m.json": (b"\n<html><body>Sign in</body></html>", "web page", "download"),
        "n.json": (json.dumps({"schema": "1.0.3", "nodes": [{"id": 1}] * 50}).encode(),
                   "execution trace", "export_chrome_trace"),
        "o.json": (json.dumps({"pg_config": {}, "entries": [{"seq_id": 1}] * 900}).encode(),
                   "flight recorder", "torch.profiler"),
    }


def refusal(path):
    ran = program.call("load_trace", trace=str(path))
    return ran.returncode, ran.stderr


class NoTraces(unittest.TestCase):
    def check(self, path, what, then):
        status, text = refusal(path)
        self.assertEqual(status, 1, text)
        self.assertIn("[not_a_trace]", text)
        if what is not None:
            self.assertIn(what, text.split("\n")[0])
            self.assertIn(then, text.split("Next: ")[-1])

    def test_files_that_were_made_here(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, (data, what, then) in made_files(pathlib.Path(folder)).items():
                path = pathlib.Path(folder) / name
                path.write_bytes(data)
                with self.subTest(name):
                    self.check(path, what, then)

    def test_files_that_people_gave(self):
        folder = REPORTED / "wrong-files"
        if not folder.is_dir():
            self.skipTest(f"no {folder}")
        for path in sorted(folder.iterdir()):
            with self.subTest(path.name):
                if path.name in NO_TRACES:
                    self.check(path, *NO_TRACES[path.name])
                else:  # packed traces are read, and the JSON that JAX writes
                    self.assertEqual(refusal(path)[0], 0)


def trace_of(events):
    return {"schemaVersion": 1, "traceEvents": events}


def op(name, ts, dims, types, kernels, text=(), extra=()):
    """An op that launches kernels (name, duration) one after the other."""
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 40,
               "args": {"Input Dims": dims, "Input type": types, "Concrete Inputs": list(text)}}]
    at = ts + 50
    for i, (kernel, dur) in enumerate(kernels):
        link = {"correlation": int(ts) * 100 + i}
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                       "tid": 1, "ts": ts + 1 + i * 2, "dur": 1, "args": link})
        events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": at,
                       "dur": dur, "args": {"stream": 7, "device": 0, **link}})
        at += dur
    return events + list(extra)


class Rates(unittest.TestCase):
    """A rate above the roofline is a note, not a figure to go by."""

    def rows(self, dur):
        bf16 = "c10::BFloat16"
        events = op("aten::mm", 1000, [[4096, 4096], [4096, 4096]], [bf16, bf16], [("gemm_bf16", dur)])
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(trace_of(events), file)
            file.flush()
            return program.ask("ops_summary", trace=file.name, platform="H100-SXM")

    def test_faster_than_the_device(self):
        notes = "\n".join(self.rows(50)["notes"])  # 2,749 TFLOPS/s
        self.assertRegex(notes, r"\[anomaly\] 1 of these rows exceeds the roofline \(op1, \d+ %\)")

    def test_as_fast_as_the_device(self):
        self.assertNotIn("anomaly", "\n".join(self.rows(250)["notes"]))


class FusedProducts(unittest.TestCase):
    def category(self, *call):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(trace_of(op(*call)), file)
            file.flush()
            answer = program.ask("ops_summary", trace=file.name, platform="H100-SXM")
            return dict(zip(answer["columns"], answer["rows"][0]))

    def test_products_that_hold_their_communication_are_products(self):
        bf16 = "c10::BFloat16"
        gathered = self.category(
            "symm_mem::fused_all_gather_matmul", 1000, [[2048, 4096], [[4096, 4096]], [], []],
            [bf16, "TensorList", "Scalar", ""],
            [("nvjet_tst", 100), ("Memcpy PtoP (Device -> Device)", 20), ("nvjet_tst", 100)])
        self.assertEqual(gathered["category"], "GEMM")
        self.assertIsNotNone(gathered["percent_of_roof"])
        scattered = self.category(
            "symm_mem::fused_matmul_reduce_scatter", 1000, [[4096, 4096], [4096, 4096], [], [], []],
            [bf16, bf16, "", "Scalar", ""], [("nvjet_tst", 200)])
        self.assertEqual(scattered["category"], "GEMM")
        packed = self.category(
            "aten::_weight_int4pack_mm", 1000, [[16, 4096], [512, 32, 32, 4], [], [32, 4096, 2]],
            [bf16, "int", "Scalar", bf16], [("tinygemm_m16n8k16_chunk_kernel", 100)])
        self.assertEqual(packed["category"], "GEMM")
        self.assertEqual(packed["bound"], "memory")
        # What only communicates is no product.
        reduced = self.category("symm_mem::multimem_all_reduce_", 1000, [[8388608]], [bf16],
                                [("multimem_all_reduce_kernel", 80)])
        self.assertEqual(reduced["category"], "CustomCollective")


class Loaders(unittest.TestCase):
    """Advice does not name what is there already."""

    def advice(self, iterator, copy):
        events = []
        for step in range(5):
            at = 1000 + step * 10000
            link = {"correlation": step + 1}
            mm = op("aten::mm", at + 9200, [[512, 512], [512, 512]], ["float", "float"], [("gemm", 300)])
            events += mm + [
                {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1,
                 "tid": 1, "ts": at, "dur": 9990, "args": {}},
                {"ph": "X", "cat": "user_annotation", "name": f"enumerate(DataLoader)#{iterator}.__next__",
                 "pid": 1, "tid": 1, "ts": at + 5, "dur": 9000, "args": {}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1,
                 "ts": at + 9100, "dur": 5, "args": link},
                {"ph": "X", "cat": "gpu_memcpy", "name": copy, "pid": 0, "tid": 7, "ts": at + 9110,
                 "dur": 50, "args": {"stream": 7, "device": 0, "bytes": 1048576, **link}}]
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.json"
            trace.write_text(json.dumps(trace_of(events)))
            ran = subprocess.run([program.BINARY, "analyze", str(trace), "--output-dir",
                                  f"{folder}/out"], capture_output=True, text=True, check=True)
            return (pathlib.Path(folder) / "out/standalone_analysis_fair.md").read_text() + ran.stdout

    def test_workers_that_are_there(self):
        text = self.advice("_MultiProcessingDataLoaderIter", "Memcpy HtoD (Pageable -> Device)")
        self.assertIn("more workers", text)
        self.assertIn("prefetch_factor", text)
        self.assertIn("pin_memory", text)
        self.assertIn("transform", text)
        self.assertNotIn("in worker processes", text)

    def test_memory_that_is_pinned(self):
        text = self.advice("_MultiProcessingDataLoaderIter", "Memcpy HtoD (Pinned -> Device)")
        self.assertIn("more workers", text)
        self.assertNotIn("pin_memory", text)

    def test_no_workers(self):
        text = self.advice("_SingleProcessDataLoaderIter", "Memcpy HtoD (Pageable -> Device)")
        self.assertNotIn("more workers", text)
        self.assertIn("num_workers", text)


class Prose(unittest.TestCase):
    """Sentences have no exponents, and microseconds are µs."""

    TRACES = ("async-flows-v100/trace", "resnet18-rtx2080/trace", "megatron-tp8-a100/rank0",
              "vllm-decode-mi300x/trace", "sd35-xdit-mi300x/trace", "cpu-only/trace")

    def test_numbers(self):
        if not (program.DATA / "traces").is_dir():
            self.skipTest("no traces")
        for name in self.TRACES:
            trace = program.DATA / f"traces/{name}.json.gz"
            with self.subTest(name), tempfile.TemporaryDirectory() as out:
                ran = subprocess.run([program.BINARY, "analyze", str(trace), "--output-dir", out],
                                     capture_output=True, text=True, check=True)
                texts = [ran.stdout] + [path.read_text() for path in pathlib.Path(out).rglob("*.md")]
                for text in texts:
                    plain = re.sub(r"`[^`\n]*`", "``", text)  # names are as they were recorded
                    self.assertIsNone(re.search(r"\b\d+(\.\d+)?e[+-]?\d+\b", plain))
                    self.assertIsNone(re.search(r"\d us\b", plain))


if __name__ == "__main__":
    program.need_binary()
    os.environ.setdefault("JARVIS_CACHE", "")
    unittest.main()
