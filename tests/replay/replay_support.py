"""Makes packages and runs them with Debian's torch, for the tests beside this file."""

import json
import os
import pathlib
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import program  # noqa: E402


def torch_python():
    """A Python that has torch: this one, Debian's, or the one that the environment names."""
    for python in (os.environ.get("JARVIS_TORCH_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import torch"], capture_output=True,
                                     check=False).returncode == 0:
            return python
    return program.skip("no Python here has torch (Debian: python3-torch)")


def make(trace, folder, **arguments):
    """Calls make_replay and unpacks the package. -> the answer, the entries."""
    answer = program.ask("make_replay", trace=str(trace), output_dir=str(folder), **arguments)
    with zipfile.ZipFile(folder / "replay_package.zip") as package:
        package.extractall(folder / "package")
    return answer, json.loads((folder / "package/replay_ir.json").read_text())


def run(folder, *options, file="replay_ir.json", python=None):
    """Runs a package on the CPU. -> the process, the results by entry."""
    out = folder / "results.json"
    out.unlink(missing_ok=True)
    ran = subprocess.run(
        [python or torch_python(), "-B", "batched_replay.py", file, "--device", "cpu", "--warmup",
         "1", "--iters", "3", "--seconds", "0.2", "--json", str(out), *options],
        cwd=folder / "package", capture_output=True, text=True, check=False, timeout=300)
    results = json.loads(out.read_text())["results"] if out.exists() else []
    return ran, results


def tensors(value):
    if isinstance(value, dict) and "shape" in value:
        yield value["shape"], value["dtype"].replace("long int", "long"), value["strides"]
    elif isinstance(value, list):
        for one in value:
            yield from tensors(one)


def signature(entry):
    """What must come back: the operator and, in order, each tensor's sizes, type and strides."""
    ir = entry["replay_ir"]
    return entry["op_name"], [one for arg in ir["list_pos_args"] + ir["list_kwargs"]
                              for one in tensors(arg["value"])]
