#!/usr/bin/env python3
"""Packed traces give the figures of the plain ones; hostile archives give one clear error, or a
partial answer that says so.

    packed_test.py [unittest arguments]
"""

import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from rank_traces import collective, kernel, trace, write  # noqa: E402

TEXT = gzip.decompress(program.EXAMPLE.read_bytes())
README = b"How this was recorded: torchrun --nproc-per-node 4 train.py\n"
# What an answer says of the file itself.
OF_THE_FILE = {"path", "file_bytes", "text_bytes", "memory_bytes", "text_bytes_read", "bytes"}


def zipped(members, **options):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def tarred(members, mode="w"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in members:
            entry = tarfile.TarInfo(name)
            if isinstance(data, bytes):
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
            else:  # the type of a link, and where it leads
                entry.type, entry.linkname = data
                archive.addfile(entry)
    return out.getvalue()


def zstd(data):
    if not shutil.which("zstd"):
        return None
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def containers():
    """name -> bytes; None: there is no program that makes them here."""
    run = [("logs/readme.txt", README), ("run/rank0.json", TEXT)]
    return {
        "a.zip": zipped(run),
        "b.tar": tarred(run),
        "c.tar.gz": tarred(run, "w:gz"),
        "d.tar.xz": tarred(run, "w:xz"),
        "e.json.xz": lzma.compress(TEXT),
        "f.json.bz2": bz2.compress(TEXT),
        "g.json.zst": zstd(TEXT),
        "h.tar.zst": zstd(tarred(run)),
        "i.zip": zipped([("t.json.gz", gzip.compress(TEXT)), ("settings.json", b'{"lr": 0.1}')]),
        "j.json": TEXT.decode().encode("utf-16"),
        "k.json": b"\xfe\xff" + TEXT.decode().encode("utf-16-be"),
        "l.json.gz": gzip.compress(TEXT.decode().encode("utf-16")),
        "m.json": b"\xef\xbb\xbf" + TEXT,
        "n.json.gz": gzip.compress(gzip.compress(TEXT)),
        # Names say nothing.
        "o.json.gz": zipped(run),
        "p": bz2.compress(TEXT),
    }


def figures(answer):
    """An answer as text, without what is the file's own: its id, its path, its sizes."""
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in OF_THE_FILE}
        return [strip(v) for v in value] if isinstance(value, list) else value
    return re.sub(r"\b[at][_-][0-9a-f]{8,16}", "ID", json.dumps(strip(answer), indent=1))


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def refused(self, path, code, *words, tool="load_trace", argument="trace"):
        ran = program.call(tool, **{argument: path})
        self.assertEqual(ran.returncode, 1, ran.stdout[:300])
        self.assertIn(f"[{code}]", ran.stderr)
        for word in words:
            self.assertIn(word, ran.stderr)
        return ran.stderr


class Containers(Folder):
    def test_figures_are_those_of_the_plain_file(self):
        plain = self.write("plain.json", TEXT)
        calls = [("load_trace", {}), ("ops_summary", {}), ("gpu_timeline", {})]
        expected = [figures(one) for one in
                    program.tool_answers([(tool, {"trace": plain, **more}) for tool, more in calls])]
        for name, data in containers().items():
            with self.subTest(name):
                if data is None:
                    self.skipTest("no program zstd here")
                path = self.write(name, data)
                answers = program.tool_answers([(t, {"trace": path, **more}) for t, more in calls])
                for answer, wanted in zip(answers, expected):
                    self.assertEqual(figures(answer), wanted)

    def test_reports_too(self):
        def report(path):
            out = self.folder / "out"
            subprocess.run([program.BINARY, "analyze", path, "--output-dir", str(out)],
                           capture_output=True, check=True)
            tables = {p.name: p.read_bytes() for p in sorted(out.rglob("*.csv"))}
            shutil.rmtree(out)
            return tables
        expected = report(self.write("plain.json", TEXT))
        self.assertTrue(expected)
        for name in ("a.zip", "c.tar.gz", "e.json.xz", "j.json"):
            with self.subTest(name):
                self.assertEqual(report(self.write(name, containers()[name])), expected)

    def test_parts_and_copies(self):
        plain, packed = self.write("plain.json", TEXT), self.write("a.zip", containers()["a.zip"])
        window = {"from_ms": 1, "to_ms": 2}
        parts = program.tool_answers([("load_trace", {"trace": path, **window})
                                      for path in (plain, packed)])
        self.assertEqual(*map(figures, parts))
        for path, out in ((plain, "plain.json.gz"), (packed, "packed.json.gz")):
            program.ask("perfetto", trace=path, output=str(self.folder / out))
        copies = [gzip.decompress((self.folder / out).read_bytes())
                  for out in ("plain.json.gz", "packed.json.gz")]
        self.assertEqual(*copies)

    def test_kept_between_runs(self):
        # Large enough to be kept.
        document = json.loads(TEXT)
        event = next(e for e in document["traceEvents"] if e.get("ph") == "X")
        document["traceEvents"] += [dict(event, args={"padding": "x" * 2000})] * 20000
        big = json.dumps(document).encode()
        path = self.write("big.zip", zipped([("a.json", big), ("b.json", big + b"\n")]))
        os.utime(path, (1, 1))
        time.sleep(2.1)  # a file that changed a moment ago is known by its content alone
        environment = {**os.environ, "JARVIS_CACHE": str(self.folder / "cache")}
        ids = []
        for _ in range(2):
            for member in ("a.json", "b.json"):
                ran = subprocess.run(
                    [program.BINARY, "call", "load_trace", json.dumps({"trace": f"{path}#{member}"})],
                    env=environment, capture_output=True, text=True, check=True)
                ids.append(json.loads(ran.stdout)["trace"])
        self.assertEqual(ids[:2], ids[2:])
        self.assertNotEqual(ids[0], ids[1])
        self.assertEqual(len(list((self.folder / "cache").rglob("*.trace"))), 2)


class Ranks(Folder):
    def job(self):
        args = collective("allreduce", "Float", 4, 1048576, 1048576)
        for rank in range(4):
            events = [kernel(1000 + 10 * rank, 100 - 10 * rank, 1, **args)]
            write(self.folder / f"job/rank{rank}.json", trace(events, rank, 4))
        return [(f"job/rank{rank}.json", (self.folder / f"job/rank{rank}.json").read_bytes())
                for rank in range(4)]

    def test_an_archive_of_ranks_is_a_folder_of_ranks(self):
        members = self.job() + [("job/train.log", README)]
        archives = {"job.zip": zipped(members), "job.tar.gz": tarred(members, "w:gz"),
                    "packed.tar": tarred([(n, gzip.compress(d)) for n, d in members[:4]])}

        def report(source, out):
            answer = program.ask("collectives", traces=[source], output_dir=str(out))
            return answer, {p.name: p.read_bytes() for p in sorted(out.rglob("*.csv"))
                            if p.name != "warnings.csv"}
        _, expected = report(str(self.folder / "job"), self.folder / "plain")
        self.assertTrue(expected)
        for name, data in archives.items():
            with self.subTest(name):
                answer, tables = report(self.write(name, data), self.folder / (name + ".out"))
                self.assertEqual(tables, expected)
                if name != "packed.tar":
                    self.assertIn("train.log", json.dumps(answer))

    def test_a_folder_of_archives(self):
        folder = self.folder / "artifacts"
        folder.mkdir()
        for rank, (_, data) in enumerate(self.job()):
            (folder / f"rank{rank}.zip").write_bytes(zipped([("trace.json", data), ("a.log", README)]))
        (folder / "notes.txt").write_bytes(README)
        answers = [program.ask("collectives", traces=[str(source)], output_dir=str(self.folder / out))
                   for source, out in ((self.folder / "job", "one"), (folder, "two"))]
        self.assertEqual(answers[0]["total"], answers[1]["total"])
        sync = [next((self.folder / out).rglob("nccl_implicit_sync.csv")).read_bytes()
                for out in ("one", "two")]
        self.assertEqual(*sync)

    def test_several_traces_are_listed_and_one_is_named(self):
        path = self.write("job.zip", zipped(self.job()))
        text = self.refused(path, "not_a_trace", "4 traces", "job/rank0.json", "job.zip#job/rank0.json")
        self.assertIn("collectives", text)
        for rank in range(4):
            answer = program.ask("load_trace", trace=f"{path}#job/rank{rank}.json")
            self.assertTrue(answer["path"].endswith(f"job.zip#job/rank{rank}.json"))
        self.refused(path + "#job/rank9.json", "trace_not_found", "job/rank9.json")

    def test_merging_and_comparing(self):
        path = self.write("job.zip", zipped(self.job()))
        merged = program.ask("merge_ranks", traces=[path], output_dir=str(self.folder / "merged"))
        again = program.ask("merge_ranks", traces=[str(self.folder / "job")],
                            output_dir=str(self.folder / "merged2"))
        self.assertEqual(len(merged["rows"]), len(again["rows"]))
        ran = subprocess.run([program.BINARY, "compare", f"{path}#job/rank0.json",
                              str(self.folder / "job/rank0.json"), "--output-dir",
                              str(self.folder / "compared")], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)


class Hostile(Folder):
    def test_names_are_data(self):
        secret = self.write("secret.json", TEXT)
        members = [("../secret.json", README), ("/etc/passwd", README), ("ok.json", TEXT),
                   ("link.json", (tarfile.SYMTYPE, secret)), ("hard.json", (tarfile.LNKTYPE, "ok.json")),
                   ("ok.json", b"{"), ("fifo.json", (tarfile.FIFOTYPE, ""))]
        path = self.write("a.tar", tarred(members))
        before = sorted(p.name for p in self.folder.rglob("*"))
        self.assertEqual(program.ask("load_trace", trace=path)["events"],
                         program.ask("load_trace", trace=secret)["events"])
        self.refused(path + "#../secret.json", "not_a_trace")
        for name in ("link.json", "hard.json", "fifo.json", "../../etc/hostname"):
            self.refused(f"{path}#{name}", "trace_not_found")
        self.assertEqual(sorted(p.name for p in self.folder.rglob("*")), before)

    def test_names_outside_the_roots_stay_untold(self):
        inside = self.folder / "in"
        inside.mkdir()
        (inside / "a.zip").write_bytes(zipped([("x.json", TEXT)]))
        self.write("out.zip", zipped([("x.json", TEXT)]))
        requests = [("tools/call", {"name": "load_trace", "arguments": {"trace": name}})
                    for name in (f"{inside}/a.zip#x.json", f"{self.folder}/out.zip#x.json",
                                 f"{self.folder}/none.zip#x.json", f"{inside}/a.zip#../../out.zip")]
        good, out, none, climbs = program.serve(requests, flags=("--allow-root", str(inside)))
        self.assertFalse(good.get("isError"), good)
        for refused in (out, none):
            self.assertIn("not_allowed", program.text_of(refused))
        self.assertIn("trace_not_found", program.text_of(climbs))

    def test_encrypted(self):
        data = bytearray(zipped([("t.json", TEXT)]))
        for magic, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
            data[data.index(magic) + flags] |= 1
        self.refused(self.write("a.zip", bytes(data)), "not_a_trace", "encrypted", "password")
        self.refused(self.write("b.zip", bytes(data)) + "#t.json", "not_a_trace", "encrypted")

    def test_cut_off(self):
        for name, whole in containers().items():
            if whole is None or name in ("m.json",):
                continue
            for part in (2, 10):
                with self.subTest(name, part=part):
                    path = self.write(name, whole[:len(whole) * (part - 1) // part])
                    ran = program.call("load_trace", trace=path)
                    if ran.returncode == 0:
                        self.assertIn("partial", ran.stdout)
                    else:
                        self.assertIn("[not_a_trace]", ran.stderr)
                        self.assertNotIn("white space", ran.stderr)

    def test_traps(self):
        pieces = zlib.compressobj(9, zlib.DEFLATED, -15)
        size = 2 << 30
        block = b" " * (1 << 20)
        deflated = b"".join([pieces.compress(block) for _ in range(size >> 20)] + [pieces.flush()])
        crc = 0
        for _ in range(size >> 20):
            crc = zlib.crc32(block, crc)
        head = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(deflated), size, 6, 0)
        member = b"PK\3\4" + head + b"t.json" + deflated
        entry = b"PK\1\2" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"t.json"
        end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(member), 0)
        self.refused(self.write("bomb.zip", member + entry + end) + "#t.json", "too_large", "trap")
        # A hole in a sparse file takes no bytes at all.
        start = b'{"a": "'.ljust(512)
        sparse = tarfile.TarInfo("t.json")
        sparse.size = 2 * len(start)
        head = bytearray(sparse.tobuf(tarfile.GNU_FORMAT))
        head[156:157] = b"S"
        head[386:410] = b"%011o\0%011o\0" % (0, len(start))
        head[410:434] = b"%011o\0%011o\0" % (7 << 30, len(start))
        head[483:495] = b"%011o\0" % ((7 << 30) + len(start))
        head[148:156] = b" " * 8
        head[148:156] = b"%06o\0 " % sum(head)
        hole = self.write("hole.tar", bytes(head) + start * 2 + bytes(1024))
        self.refused(hole + "#t.json", "too_large", "trap")
        # Before the one that is meant, where passing over it is what takes time.
        if shutil.which("zstd"):
            tar = io.BytesIO()
            with tarfile.open(fileobj=tar, mode="w") as archive:
                entry = tarfile.TarInfo("zeros")
                entry.size = size
                tar.write(entry.tobuf())
            path = self.folder / "bomb.tar.zst"
            with open(path, "wb") as out:
                packer = subprocess.Popen(["zstd", "-q", "-c"], stdin=subprocess.PIPE, stdout=out)
                packer.stdin.write(tar.getvalue()[:512])
                for _ in range(size >> 20):
                    packer.stdin.write(bytes(1 << 20))
                packer.stdin.write(tarred([("t.json", TEXT)]))
                packer.stdin.close()
                packer.wait()
            self.refused(str(path), "too_large", "trap")

    def test_many_files_and_strange_names(self):
        members = [(f"{i}.txt", b"") for i in range(20000)] + [("x\n\x1b[31m\u65e5.json", TEXT)]
        path = self.write("many.zip", zipped(members))
        answer = program.ask("load_trace", trace=path)
        for data in (zipped(members[-2:]), tarred(members[-2:])):
            path = self.write("named.zip", data) + "#x\n\x1b[31m\u65e5.json"
            self.assertEqual(program.ask("load_trace", trace=path)["events"], answer["events"])
        self.assertNotIn("\x1b", json.dumps(answer))
        path = self.write("none.zip", zipped(members[:200]))
        self.assertLess(len(self.refused(path, "not_a_trace", "without a trace", "more")), 2000)

    def test_other_archives_are_named(self):
        self.refused(self.write("a.xlsx", zipped([("[Content_Types].xml", b"<a/>"),
                                                  ("xl/workbook.xml", b"<b/>")])),
                     "not_a_trace", "Excel", "compare")
        self.refused(self.write("b.pt", zipped([("archive/data.pkl", b"\x80\x02}"),
                                                ("archive/version", b"3")])),
                     "not_a_trace", "torch.save()")
        self.refused(self.write("c.zip", zipped([("inner.zip", zipped([("t.json", TEXT)]))])),
                     "not_a_trace", "inner.zip")
        self.refused(self.write("d.zip", zipped([])), "not_a_trace")
        self.refused(self.write("e.zip", zipped([("a.sqlite", b"SQLite format 3\0" + bytes(100))])),
                     "not_a_trace", "a.sqlite")


if __name__ == "__main__":
    program.need_binary()
    os.environ["JARVIS_CACHE"] = "off"
    unittest.main()
