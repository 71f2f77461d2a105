#!/usr/bin/env python3
"""The replayer by itself: odd tensors, stand-ins, filters, refusals, hostile files, exit codes."""

import copy
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import families  # noqa: E402
import replay_support as support  # noqa: E402

TENSOR_CHECKS = r'''
import sys; sys.path.insert(0, "."); import torch, utils, workloads
g = torch.Generator(); g.manual_seed(0)
def made(shape, strides, dtype="float", **more):
    t = utils.build_tensor({"shape": shape, "strides": strides, "dtype": dtype, **more}, "cpu", g)
    assert list(t.shape) == shape and list(t.stride()) == strides, (t.shape, t.stride())
    return t
t = made([6, 5, 7], [0, 7, 1]); assert t.storage().size() == 35 and torch.equal(t[0], t[5])
made([4, 3], [1, 4]); made([0, 3], [3, 1]); made([], [])
t = made([3, 4], [2, 1]); assert t.storage().size() == 8  # overlapping
t = made([50], [1], "long int", init="randint", low=0, high=7); assert 0 <= t.min() <= t.max() < 7
assert made([4], [1], "long int", init="normal").eq(0).all()  # integers have no normal
assert made([9], [1], "float", init="uniform").min() > 0
assert made([2, 3], [3, 1], "c10::Half").dtype == torch.float16
o = made([4], [1], "long int", init="offsets", high=20); assert o.tolist() == [0, 5, 10, 15], o
for bad in ({"shape": [2], "strides": [-1], "dtype": "float"}, {"shape": [2], "dtype": "spam"}):
    try: utils.build_tensor(bad, "cpu", g)
    except utils.Unreplayable: continue
    raise AssertionError(bad)
for name in ("aten::add", "_C::x", "a::b__c"): utils.check_name(name)
for name in ("os.system", "aten::add;x", "aten::add\n", "a::b::c", "", "__import__::os", "aten::a.b", 3):
    try: utils.check_name(name)
    except utils.Unreplayable: continue
    raise AssertionError(name)
# Paged attention: 3 sequences of 20 tokens in blocks of 16 out of 8.
values = {f"a{i}": None for i in range(14)}
values.update(a4=torch.zeros(6, 2, 8), a5=torch.zeros(8, 2, 16, 8), a9=torch.zeros(3, 2, dtype=torch.int32),
              a10=torch.zeros(3, dtype=torch.int32), a11=torch.zeros(4, dtype=torch.int32), a12=16, a13=20)
word = workloads.adjust({"op_name": "_rocm_C::paged_attention", "context": {"prefills": 1, "decodes": 2}}, values, g)
assert word is None and values["a10"].tolist() == [20, 20, 20]
assert len(set(values["a9"].view(-1).tolist())) == 6, values["a9"]
assert values["a11"].tolist() == [0, 4, 5, 6], values["a11"]
# Mixture of experts: 10 tokens, 2 experts each, 4 experts, blocks of 8.
moe = {f"a{i}": None for i in range(12)}
moe.update(a0=torch.zeros(10, 4), a1=torch.zeros(4, 6, 4), a3=torch.zeros(64, dtype=torch.int32),
           a4=torch.zeros(8, dtype=torch.int32), a5=torch.zeros(2, dtype=torch.int32), a7=2, a11=8)
assert workloads.adjust({"op_name": "aiter::ck_moe_stage1"}, moe, g) is None
assert moe["a5"].tolist() == [32, 10] and moe["a4"].tolist()[:4] == [0, 1, 2, 3]
assert sorted(moe["a3"][:32].tolist())[:20] == list(range(20)) and (moe["a3"] == 20).sum() == 44
import batched_replay
for time_us, device, notes, wanted in ((50, "gpu", [], "slower_in_workload"), (100, "gpu", [], "reproduced"),
        (126, "gpu", [], "not_reproduced"), (100, "cpu", [], "not_comparable"),
        (100, "gpu", ["sizes were reduced"], "not_comparable")):
    result = {"status": "ok", "median_us": time_us, "notes": notes}
    batched_replay.compare({"reference": {"mean_us": 100, "device": device}}, result, "cuda")
    assert (result["verdict"], result["ratio"]) == (wanted, time_us / 100), result
cu = {"query": torch.zeros(12, 2, 4), "cu_seqlens_q": torch.zeros(5, dtype=torch.int32)}
workloads.adjust({"op_name": "x::varlen"}, cu, g); assert cu["cu_seqlens_q"].tolist() == [0, 3, 6, 9, 12]
'''


# Registers an operator as a package would.
MODULE = '''
import torch
library = torch.library.Library("my_ops", "DEF")
library.define("fused(Tensor x, Tensor?[] more, int n, *, float scale=1.0, str kind) -> Tensor")
def fused(x, more, n, *, scale, kind):
    assert x.dtype == torch.float16 and x.stride() == (1, 4) and kind == "auto", (x, kind)
    assert [one is None or tuple(one.shape) for one in more] == [(3,), (2, 2)], more
    return x.float() * n * scale
library.impl("fused", fused, "CPU")
'''
FUSED = {"op_name": "my_ops::fused", "count": 1, "needs_runtime_match": True,
         "replay_ir": {"list_pos_args": [], "list_kwargs": []},
         "raw": {"Input Dims": [[4, 2], [[3], [2, 2]], [], [], []],
                 "Input type": ["c10::Half", "TensorList", "Scalar", "Scalar", ""],
                 "Input Strides": [[1, 4], [[1], [2, 1]], [], [], []],
                 "Concrete Inputs": ["", "", "7", "0.5", ""]}}


def write(folder, entries, name="own.json"):
    (folder / "package" / name).write_text(json.dumps(entries))


def check_parts(folder, python):
    ran = support.subprocess.run([python, "-B", "-c", TENSOR_CHECKS], cwd=folder / "package",
                                 capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def check_options(folder, python):
    ran, _ = support.run(folder, "--list", python=python)
    assert ran.returncode == 0 and "aten::mm" in ran.stdout and "taken" not in ran.stdout
    ran, results = support.run(folder, "--device", "cuda", "--op-filter", "::_SOFTMAX", "--op-limit",
                               "1", "-v", python=python)  # without a GPU: on the CPU
    assert [r["op_name"] for r in results] == ["aten::_softmax"], results
    assert "self (Tensor): float[3, 17] strides [17, 1]" in ran.stdout, ran.stdout
    assert "Average time taken:" in ran.stdout and "Count in workload: 1" in ran.stdout
    ran, _ = support.run(folder, file="nowhere.json", python=python)
    assert ran.returncode == 1 and "nowhere.json" in ran.stderr and "Traceback" not in ran.stderr


def check_stand_ins(folder, entries, python):
    """What the CPU lacks runs as something else and says so, or is refused with the reason."""
    by_name = {entry["op_name"]: entry for entry in entries}
    flash, index = by_name["aten::_flash_attention_forward"], by_name["aten::index"]
    assert "assumed" in index["warnings"][0], index["warnings"]
    write(folder, [flash, index])
    ran, results = support.run(folder, "--compare", file="own.json", python=python)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert results[0]["verdict"] == "not_comparable" and "same mathematics" in results[0]["notes"][0]
    ran, results = support.run(folder, "--no-substitutes", file="own.json", python=python)
    assert results[0]["status"] == "refused" and "aten::_flash_attention_forward" in \
        results[0]["reason"], results
    assert ran.returncode == 0 and results[1]["status"] == "ok", results


def check_failures(folder, entries, python):
    mm = next(entry for entry in entries if entry["op_name"] == "aten::mm")
    wrong = copy.deepcopy(mm)
    wrong["replay_ir"]["list_pos_args"][1]["value"]["shape"][0] += 1
    missing = {**mm, "op_name": "not_installed::op"}
    hostile = {**mm, "op_name": "aten::mm\x1b[2J;__import__('os').system('touch hacked')"}
    huge = copy.deepcopy(mm)
    huge["replay_ir"]["list_pos_args"][0]["value"].update(shape=[1 << 40, 24], strides=[24, 1])
    write(folder, [wrong, missing, hostile, huge, mm])
    ran, results = support.run(folder, file="own.json", python=python)
    assert ran.returncode == 1, ran.stdout
    assert [r["status"] for r in results] == ["error", "refused", "refused", "refused", "ok"], results
    assert "--import" in results[1]["reason"] and "GB" in results[3]["reason"], results
    assert "\x1b" not in ran.stdout and not (folder / "package/hacked").exists()
    assert "Successful: 1" in ran.stdout and "Errors: 1" in ran.stdout, ran.stdout
    ran, results = support.run(folder, "--stop-on-error", file="own.json", python=python)
    assert ran.returncode == 1 and len(results) == 1
    write(folder, [huge])
    ran, results = support.run(folder, "--shrink", "--max-bytes", "1e6", file="own.json",
                               python=python)
    assert results[0]["status"] == "ok" and "reduced" in results[0]["notes"][0], results


def check_foreign(folder, entries, python):
    """Entries without a schema get one from the torch at hand; those of the plain contract run."""
    made = []
    for wanted in ("aten::addmm", "aten::sum", "aten::native_layer_norm"):
        entry = copy.deepcopy(next(one for one in entries if one["op_name"] == wanted))
        made.append({key: entry[key] for key in ("op_name", "replay_ir", "count")})
        del entry["schema"], entry["resolved_overload"]
        entry["replay_ir"] = {"list_pos_args": [], "list_kwargs": []}
        entry["needs_runtime_match"] = True
        made.append(entry)
    write(folder, made)
    ran, results = support.run(folder, file="own.json", python=python)
    assert ran.returncode == 0 and all(r["status"] == "ok" for r in results), results
    ran, results = support.run(folder, "--timeout", "0.0001", file="own.json", python=python)
    assert ran.returncode == 1 and "timeout" in {r["status"] for r in results}, results
    (folder / "package/my_module.py").write_text(MODULE)
    write(folder, [FUSED], "fused.json")
    ran, results = support.run(folder, "--import", "my_module", file="fused.json", python=python)
    assert ran.returncode == 0 and results[0]["status"] == "ok", results
    ran, _ = support.run(folder, "--import", "no_such_module", file="own.json", python=python)
    assert ran.returncode == 1 and "no_such_module" in ran.stderr, ran.stderr


def main():
    support.program.need_binary()
    python = support.torch_python()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        calls = [*families.FAMILIES, families.INDEX, families.ATTENTION]
        trace = folder / "trace.json"
        trace.write_text(json.dumps(families.trace_of(calls)))
        _, entries = support.make(trace, folder, op_names=["aten::"])
        check_parts(folder, python)
        check_options(folder, python)
        check_stand_ins(folder, entries, python)
        check_failures(folder, entries, python)
        check_foreign(folder, entries, python)


if __name__ == "__main__":
    main()
