#!/usr/bin/env python3
"""What must never be lost or waited for: a user's files in a folder that is named as the cache;
pipes, devices, links and sockets under the names of outputs; pipes under the names of inputs.

    files_kept_test.py [unittest arguments]
"""

import gzip
import json
import os
import pathlib
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
TRACE = str(ROOT / "examples/data/transformer_step.json.gz")
# Long beside what any of these takes.
PATIENCE_S = 100
HEAD_BYTES = 64  # of a kept trace


def run(*arguments, stdin=subprocess.DEVNULL, **environment):
    return subprocess.run([program.BINARY, *arguments], capture_output=True, stdin=stdin,
                          timeout=PATIENCE_S, check=False, env={**os.environ, **environment})


def large_trace(path, name="aten"):
    event = ('{"ph":"X","cat":"cpu_op","name":"%s::op%d","pid":1,"tid":1,"ts":%d,"dur":5,'
             '"args":{"External id":%d,"pad":"%s"}},')
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"traceEvents":[')
        for i in range(9000):
            out.write(event % (name, i % 7, 10 * i, i, "x" * 4000))
        out.write('{"ph":"i","name":"end","ts":1}]}')


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class CacheFolder(InAFolder):
    def setUp(self):
        super().setUp()
        self.trace = self.folder / "large.json"
        large_trace(self.trace)

    def load(self, cache, limit="8G"):
        ran = run("call", "load_trace", json.dumps({"trace": str(self.trace)}),
                  JARVIS_CACHE=str(cache), JARVIS_CACHE_LIMIT=limit)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran

    def test_a_folder_with_other_files_is_refused_and_keeps_them(self):
        documents = self.folder / "documents"
        documents.mkdir()
        for name in ("paper.tex", ".bashrc", "notes.md", "0123456789abcdef.stamp"):
            (documents / name).write_text(name * 1000)
        (documents / "thesis").mkdir()
        (documents / "thesis/chapter.tex").write_text("mine")
        before = contents(documents)
        read = self.load("off")
        for limit in ("1K", "8G"):
            with self.subTest(limit):
                ran = self.load(documents, limit)
                self.assertEqual(contents(documents), before)
                self.assertEqual(ran.stdout, read.stdout)
                said = ran.stderr.decode()
                self.assertIn(str(documents), said)
                self.assertIn("name a directory that is new or empty", said)
        ran = run("serve", "--cache", str(documents))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(str(documents), ran.stderr.decode())
        self.assertEqual(contents(documents), before)

    def test_the_folder_of_the_trace_itself(self):
        before = contents(self.folder)
        self.assertIn(b"large.json", self.load(self.folder, "1K").stderr)
        self.assertEqual(contents(self.folder), before)

    def test_an_empty_folder_is_used_and_a_file_that_comes_later_stays(self):
        cache = self.folder / "cache"
        cache.mkdir()
        self.assertEqual(self.load(cache).stderr, b"")
        kept = [path for path in cache.iterdir() if path.suffix == ".trace"]
        self.assertEqual(len(kept), 1)
        (cache / "notes.md").write_text("mine")
        kept[0].unlink()
        self.assertEqual(self.load(cache).stderr, b"")
        self.assertTrue(kept[0].exists())
        # Room for one of that length: ours goes when another is to be kept.
        large_trace(self.trace, "abcd")
        self.load(cache, str((kept[0].stat().st_size - HEAD_BYTES) * 2 + 10))
        self.assertFalse(kept[0].exists())
        self.assertEqual(len([path for path in cache.iterdir() if path.suffix == ".trace"]), 1)
        self.assertEqual((cache / "notes.md").read_text(), "mine")


class Outputs(InAFolder):
    """Each command that writes a file by the name it is given; {} is the name."""

    COMMANDS = {
        ".db": ("export", TRACE, "--sqlite", "{}", "--overwrite"),
        ".png": ("gemm_roofline", "--m=4096", "--n=4096", "--k=4096", "--dtype=bf16",
                 "--platform=H100", "--image", "{}"),
        ".json.gz": ("perfetto", TRACE, "--output", "{}", "--overwrite"),
        ".xlsx": ("perf_report", TRACE, "--output-dir", "{folder}/tables", "--output-xlsx", "{}",
                  "--overwrite"),
        ".svg": ("gemm_roofline", "--m=4096", "--n=4096", "--k=4096", "--dtype=bf16",
                 "--platform=H100", "--chart", "{}"),
    }
    STARTS = {".db": b"SQLite format 3", ".png": b"\x89PNG", ".json.gz": b"\x1f\x8b",
              ".xlsx": b"PK", ".svg": b"<?xml"}

    def write(self, ending, path):
        return run(*(word.replace("{folder}", str(self.folder)).replace("{}", str(path))
                     for word in self.COMMANDS[ending]))

    def for_each(self, check):
        for ending in self.COMMANDS:
            with self.subTest(ending):
                check(ending, self.folder / ("out" + ending))

    def test_regular_files_are_written(self):
        def check(ending, path):
            ran = self.write(ending, path)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(path.read_bytes().startswith(self.STARTS[ending]))

        self.for_each(check)

    def test_a_pipe_with_a_reader_gets_it_all(self):
        def check(ending, path):
            os.mkfifo(path)
            got = []
            reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
            reader.start()
            ran = self.write(ending, path)
            reader.join(PATIENCE_S)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(got[0].startswith(self.STARTS[ending]), got[0][:20])
            self.assertTrue(stat.S_ISFIFO(path.lstat().st_mode))
            if ending == ".json.gz":
                json.loads(gzip.decompress(got[0]))

        self.for_each(check)

    def test_a_pipe_without_a_reader_is_not_waited_for(self):
        def check(ending, path):
            os.mkfifo(path)
            ran = self.write(ending, path)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("start its reader first", ran.stderr.decode())
            self.assertTrue(stat.S_ISFIFO(path.lstat().st_mode))

        self.for_each(check)

    def test_devices_that_were_made(self):
        def check(ending, path):
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            ran = self.write(ending, path)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(stat.S_ISCHR(path.lstat().st_mode))

        if os.geteuid() != 0:
            self.skipTest("needs the right to make devices")
        self.for_each(check)

    def test_devices_that_everybody_has(self):
        before = os.lstat("/dev/null")
        for overwrite in ((), ("--overwrite",)):
            ran = run("export", TRACE, "--sqlite", "/dev/null", *overwrite)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            after = os.lstat("/dev/null")
            self.assertEqual((after.st_mode, after.st_ino), (before.st_mode, before.st_ino))
        ran = run("export", TRACE, "--sqlite", "/dev/stdout")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(ran.stdout.startswith(b"SQLite format 3"))

    def test_sockets_directories_and_links_stay(self):
        def check(ending, path):
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(str(path))
            self.assertEqual(self.write(ending, path).returncode, 1)
            self.assertTrue(stat.S_ISSOCK(path.lstat().st_mode))
            path.unlink()
            path.mkdir()
            self.assertNotEqual(self.write(ending, path).returncode, 0)
            self.assertTrue(path.is_dir())
            path.rmdir()
            target = self.folder / "target"
            target.write_text("mine")
            path.symlink_to(target)
            self.write(ending, path)
            self.assertTrue(path.is_symlink())

        self.for_each(check)

    def test_what_lies_in_an_output_directory(self):
        out = self.folder / "out"
        (out / "metadata").mkdir(parents=True)
        pipe = out / "standalone_analysis.md"
        os.mkfifo(pipe)
        os.mkfifo(out / "metadata/report_options.json")
        (self.folder / "mine.md").write_text("mine")
        (out / "priority_data.json").symlink_to(self.folder / "mine.md")
        for overwrite in ((), ("--overwrite",)):
            run("analyze", TRACE, "--output-dir", str(out), *overwrite)
            self.assertTrue(stat.S_ISFIFO(pipe.lstat().st_mode))
            self.assertTrue((out / "priority_data.json").is_symlink())
            self.assertEqual((self.folder / "mine.md").read_text(), "mine")


class Inputs(InAFolder):
    """Every argument of every tool that could be a path, as a pipe that nobody writes to and as a
    directory of such pipes: there is an answer or an error, soon."""

    NAMES = ("trace", "traces", "candidate", "secondary", "baseline", "platform", "gpu_arch",
             "extension", "capture", "path", "runs", "sweeps", "sweep_dir", "workload",
             "output_dir", "report")

    def test_pipes(self):
        pipe = self.folder / "pipe.json"
        os.mkfifo(pipe)
        pipes = self.folder / "pipes"
        for name in ("rank0.json", "rank1.json.gz", "sweep.json", "exit_code", "a.csv",
                     ".jarvis-files", "metadata/report_options.json", "run_log.jsonl",
                     "pmc_1/x_counter_collection.csv", "nccl_thread_sweep_summary_20260101_000000.txt",
                     "8ch_256th/exit_code", "8ch_256th/torch_profiler/rank0/a.json"):
            place = pipes / name
            place.parent.mkdir(parents=True, exist_ok=True)
            os.mkfifo(place)
        tried = 0
        for schema in sorted((ROOT / "tools_schema").glob("*.json")):
            tool = json.loads(schema.read_text())
            properties = tool["inputSchema"].get("properties", {})
            for name in set(properties) & set(self.NAMES):
                for path in (str(pipe), str(pipes)):
                    arguments = {"trace": TRACE} if "trace" in properties else {}
                    arguments[name] = [path, path] if properties[name].get("type") == "array" else path
                    with self.subTest(tool["name"], name=name, path=path):
                        ran = run("call", tool["name"], json.dumps(arguments))
                        self.assertIn(ran.returncode, (0, 1), ran.stderr)
                        tried += 1
        self.assertGreater(tried, 60)

    def test_a_configuration_that_is_a_pipe(self):
        home = self.folder / "home"
        (home / ".cursor").mkdir(parents=True)
        os.mkfifo(home / ".cursor/mcp.json")
        for words in (("--client", "cursor"), ("--list",)):
            run("install", *words, HOME=str(home))
            self.assertTrue(stat.S_ISFIFO((home / ".cursor/mcp.json").lstat().st_mode))


if __name__ == "__main__":
    unittest.main()
