from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from fictl.errors import UsageError
from fictl.judge.inputs import given_inputs, make_inputs, random_inputs
from fictl.trace import Definition, Workload

COMMITTED = Path(__file__).parents[2] / "trace" / "definitions"


def definition(inputs: dict[str, tuple[list[str] | None, str]], **more: Any) -> Definition:
    said = {
        "name": "d",
        "op_type": "other",
        "axes": {"n": {"type": "var"}, "v": {"type": "const", "value": 16}},
        "inputs": {
            name: {"shape": shape, "dtype": dtype} for name, (shape, dtype) in inputs.items()
        },
        "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
        "reference": "def run(*inputs):\n    return inputs[0]\n",
    }
    return Definition.model_validate({**said, **more})


def workload(n: int = 4, **inputs: Any) -> Workload:
    said = {
        name: spec if isinstance(spec, dict) else {"type": spec} for name, spec in inputs.items()
    }
    return Workload.model_validate({"axes": {"n": n}, "inputs": said, "uuid": "w"})


def made(
    what: Definition, asked: Workload, seed: int = 1, root: Path | None = None
) -> dict[str, Any]:
    return make_inputs(what, asked, root, seed, "cpu")


@pytest.mark.parametrize(
    "dtype",
    ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"],
)
def test_random_floats_are_finite_and_of_their_dtype(dtype: str) -> None:
    x = made(definition({"x": (["n", "v"], dtype)}), workload(64))["x"]
    assert (x.dtype, tuple(x.shape)) == (getattr(torch, dtype), (64, 16))
    assert x.double().isfinite().all()
    assert x.double().unique().numel() > 4


def test_packed_values_are_of_every_kind() -> None:
    x = made(definition({"x": (["n"], "float4_e2m1")}), workload(4096))["x"]
    assert x.dtype is torch.float4_e2m1fn_x2
    assert x.view(torch.uint8).unique().numel() == 256


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [("int8", -128, 127), ("uint8", 0, 255), ("int32", -1024, 1023)]
)
def test_whole_numbers_stay_in_range(dtype: str, low: int, high: int) -> None:
    x = made(definition({"x": (["n"], dtype)}), workload(4096))["x"]
    assert low <= int(x.min()) < int(x.max()) <= high


def test_booleans_are_of_both_kinds() -> None:
    x = made(definition({"x": (["n"], "bool")}), workload(64))["x"]
    assert x.any()
    assert not x.all()


def test_one_seed_gives_one_set_of_inputs() -> None:
    what = definition({"x": (["n"], "float32"), "b": (["n"], "bool"), "s": (None, "float32")})
    first, again, other = (made(what, workload(), seed) for seed in (1, 1, 2))
    assert all(torch.equal(torch.as_tensor(first[n]), torch.as_tensor(again[n])) for n in first)
    assert not torch.equal(first["x"], other["x"])


def test_some_of_the_inputs_alone_are_the_same_ones() -> None:
    what = definition({"x": (["n"], "float32"), "z": (["n"], "float32")})
    both = made(what, workload())
    alone = random_inputs(what, workload(), 1, "cpu", ["z"])
    assert torch.equal(alone["z"], both["z"])
    assert not torch.equal(both["x"], both["z"])


def test_they_come_in_the_order_of_the_call() -> None:
    what = definition({"b": (["n"], "float32"), "a": (None, "float32"), "c": (["n"], "float32")})
    asked = workload(a={"type": "scalar", "value": 0.5}, c="random")
    assert [*made(what, asked)] == ["b", "a", "c"]


def test_a_number_is_the_workloads() -> None:
    what = definition({"eps": (None, "float32"), "flag": (None, "bool")})
    asked = workload(eps={"type": "scalar", "value": 1e-5}, flag={"type": "scalar", "value": True})
    assert made(what, asked) == {"eps": 1e-5, "flag": True}


def test_a_number_left_to_chance_is_a_safe_one() -> None:
    what = definition(
        {"eps": (None, "float32"), "sm_scale": (None, "float32"), "k": (None, "int32")}
    )
    numbers = made(what, workload())
    assert numbers["eps"] == 1e-6
    assert 0 < numbers["sm_scale"] <= 1
    assert 1 <= numbers["k"] <= 32


@pytest.mark.parametrize(
    "name",
    ["indptr", "kv_indices", "page_table", "seq_lens", "pos_ids", "slot_mapping", "last_page_len"],
)
def test_random_numbers_are_no_indices(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} holds indices into other tensors"):
        made(definition({name: (["n"], "int32")}), workload(**{name: "random"}))


def test_what_is_sampled_from_sums_to_one() -> None:
    probs = {"probs": (["n", "v"], "float32")}
    assert torch.allclose(
        made(definition(probs, op_type="sampling"), workload())["probs"].sum(-1), torch.ones(4)
    )
    assert (made(definition(probs), workload())["probs"] < 0).any()


def test_a_tensor_of_a_file(tmp_path: Path) -> None:
    kept = torch.arange(4, dtype=torch.int32)
    (tmp_path / "blob").mkdir()
    save_file({"i": kept}, tmp_path / "blob" / "a.safetensors")
    what = definition({"indptr": (["n"], "int32")})
    spec = {"type": "safetensors", "path": "./blob/a.safetensors", "tensor_key": "i"}
    assert torch.equal(made(what, workload(indptr=spec), root=tmp_path)["indptr"], kept)


@pytest.mark.parametrize(
    ("content", "key", "message"),
    [
        (None, "i", "is not there"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "i", "git-lfs pointer"),
        (b"garbage", "i", "not a safetensors file"),
        ({"i": torch.zeros(4)}, "j", "has no tensor 'j'"),
        ({"i": torch.zeros(4)}, "i", r"is \[4\] torch.float32"),
        ({"i": torch.zeros(5, dtype=torch.int32)}, "i", r"is \[5\] torch.int32"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    tmp_path: Path, content: Any, key: str, message: str
) -> None:
    if isinstance(content, bytes):
        (tmp_path / "a.safetensors").write_bytes(content)
    elif content is not None:
        save_file(content, tmp_path / "a.safetensors")
    what = definition({"indptr": (["n"], "int32")})
    spec = {"type": "safetensors", "path": "a.safetensors", "tensor_key": key}
    with pytest.raises(UsageError, match=message):
        made(what, workload(indptr=spec), root=tmp_path)


def test_a_link_out_of_the_dataset_is_refused(tmp_path: Path) -> None:
    save_file({"i": torch.zeros(4)}, tmp_path / "secret.safetensors")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.safetensors").symlink_to("../secret.safetensors")
    what = definition({"x": (["n"], "float32")})
    spec = {"type": "safetensors", "path": "a.safetensors", "tensor_key": "i"}
    with pytest.raises(UsageError, match="leads out of the dataset"):
        made(what, workload(x=spec), root=tmp_path / "set")


def test_an_input_that_the_definition_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="has an input z, which d does not have"):
        made(definition({"x": (["n"], "float32")}), workload(z="random"))


_CUSTOM = """
import torch
def inputs(axes, device):
    return {"indices": torch.randperm(axes["n"], device=device), "k": axes["v"]}
def run(indices, k):
    return indices
"""


def custom(**more: Any) -> Definition:
    inputs = {"indices": (["n"], "int64"), "k": (None, "int32")}
    said = {"reference": _CUSTOM, "custom_inputs_entrypoint": "inputs", **more}
    return definition(inputs, **said)


def test_the_definitions_function_makes_custom_inputs() -> None:
    asked = workload(8, indices="custom", k="custom")
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, again, other = (made(custom(), asked, seed) for seed in (1, 1, 2))
    assert first["k"] == 16
    assert torch.equal(first["indices"], again["indices"])
    assert not torch.equal(first["indices"], other["indices"])
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"custom_inputs_entrypoint": None}, "has no custom_inputs_entrypoint"),
        ({"reference": _CUSTOM.replace("axes[", "axis[")}, "inputs fails: NameError"),
        ({"reference": _CUSTOM.replace("return {", "return 3; {")}, "returns a int, not a dict"),
        ({"reference": _CUSTOM.replace('"indices":', '"other":')}, "inputs does not make it"),
        ({"reference": "import nothing_there\n" + _CUSTOM}, "its code fails: ModuleNotFound"),
    ],
)
def test_custom_inputs_that_cannot_be_made_are_refused(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        made(custom(**change), workload(8, indices="custom"))


def test_init_makes_what_it_can_and_chance_the_rest() -> None:
    init = (
        "import torch\n"
        "def start(sizes, dtype, device, generator):\n"
        "    return {'indptr': torch.arange(sizes['n'] + 1)[:sizes['n']], 'unknown': 1}\n"
    )
    what = definition({"x": (["n"], "float16"), "indptr": (["n"], "int32")}, init=init)
    inputs = made(what, workload(x="random", indptr="random"))
    assert inputs["indptr"].tolist() == [0, 1, 2, 3]
    assert inputs["indptr"].dtype is torch.int32
    assert [*given_inputs(what, workload(), None, 1, "cpu")] == ["indptr"]


def test_a_file_comes_before_init(tmp_path: Path) -> None:
    save_file({"i": torch.zeros(4, dtype=torch.int32)}, tmp_path / "a.safetensors")
    init = "def start(sizes, dtype, device, generator):\n    raise SystemError\n"
    what = definition({"indptr": (["n"], "int32")}, init=init)
    spec = {"type": "safetensors", "path": "a.safetensors", "tensor_key": "i"}
    assert made(what, workload(indptr=spec), root=tmp_path)["indptr"].sum() == 0


def test_the_function_of_every_committed_init_is_the_one_it_ends_with() -> None:
    """A definition keeps its text, not which of its functions is called."""
    inits = {json.loads(path.read_text()).get("init") for path in COMMITTED.rglob("*.json")}
    assert len(inits) > 10
    for text in filter(None, inits):
        last = ast.parse(text).body[-1]
        assert isinstance(last, ast.FunctionDef)
        assert len(last.args.args) == 4
