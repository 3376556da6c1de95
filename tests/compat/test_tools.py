"""Tuning, tracing, logging and building under FlashInfer's names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fictl import trace
from fictl.compat import flashinfer
from fictl.paths import cache_root


def test_tuning_is_a_context(tmp_path: Path) -> None:
    with flashinfer.autotune():
        pass
    with flashinfer.autotune(False):
        pass
    with flashinfer.autotuner.autotune(True, cache=str(tmp_path / "tuned.json")):
        pass


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"tuning_buckets": (1, 2)}, "tuning_buckets=.1, 2. is not supported"),
        ({"round_up": True}, "round_up=True is not supported"),
        ({"cuda_graph_profile_replays": 3}, "cuda_graph_profile_replays=3 is not supported"),
        ({"tune_mode": False, "cache": "file"}, "FICTL_AUTOTUNER_LOAD_FROM_FILE=file"),
    ],
)
def test_what_tuning_does_not_take_is_refused(words, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        flashinfer.autotune(**words)


def test_a_call_is_described(tmp_path: Path) -> None:
    x, weight = torch.zeros(3, 64), torch.zeros(64)
    made = flashinfer.fi_trace(flashinfer.rmsnorm, tmp_path, input=x, weight=weight)
    assert made["name"].startswith("rmsnorm")
    assert [each.suffix for each in tmp_path.iterdir()] == [".json"]
    with pytest.raises(ValueError, match="is not an op"):
        flashinfer.fi_trace(torch.neg, input=x)


def twice(x):
    return x * 2


def test_a_function_of_ones_own_is_logged(monkeypatch, tmp_path: Path) -> None:
    flashinfer_api = flashinfer.api_logging.flashinfer_api
    assert flashinfer_api(twice) is twice
    monkeypatch.setenv("FICTL_LOGLEVEL", "3")
    monkeypatch.setenv("FICTL_LOGDEST", str(tmp_path / "log"))
    assert flashinfer_api(twice)(torch.ones(2)).tolist() == [2, 2]
    assert flashinfer_api()(twice)(4) == 8
    text = (tmp_path / "log").read_text()
    assert text.count(" twice ") >= 4
    assert "x=f32[2]" in text
    with pytest.raises(TypeError, match="trace is a str"):
        flashinfer_api(twice, trace="x")


def test_a_template_is_made_of_its_parts() -> None:
    there = flashinfer.trace
    template = there.TraceTemplate(
        "scale",
        {"n": there.Var("rows"), "d": there.Const("columns", "d", 4)},
        {"x": there.Tensor(["n", "d"]), "s": there.Scalar("float32")},
        {"out": there.Tensor(["n", "d"], dtype_from="x")},
        reference=lambda x, s: x * s,
        tags=["stage:x"],
    )
    assert isinstance(template, trace.TraceTemplate)
    assert template.axes["d"] == trace.Const("columns", "d", 4)
    flashinfer_api = flashinfer.api_logging.flashinfer_api

    @flashinfer_api(trace=template)
    def scaled(x, s):
        return x * s

    made = flashinfer.fi_trace(scaled, x=torch.zeros(2, 4), s=2.0)
    assert made["op_type"] == "scale"


@pytest.mark.parametrize(
    "make",
    [
        lambda there: there.Tensor(["n"], tuple_idx=0),
        lambda there: there.Scalar("int32", optional=True),
        lambda there: there.TraceTemplate("x", {}, {}, {}),
        lambda there: there.TraceTemplate("x", {}, {}, {}, reference=len, check=len),
    ],
)
def test_what_a_template_does_not_take_is_refused(make) -> None:
    with pytest.raises(ValueError, match=r"not supported here|reference is None"):
        make(flashinfer.trace)


def test_generators_of_modules_have_flags_and_folders(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "x.cu"
    source.write_text("")
    spec = flashinfer.jit.gen_jit_spec(
        "mine", [source], extra_cuda_cflags=flashinfer.jit.sm90a_nvcc_flags
    )
    assert [str(arch) for arch in spec.exact_archs] == ["9.0a"]
    env = flashinfer.jit.env
    assert cache_root() == env.FLASHINFER_CACHE_DIR
    assert cache_root() / "artifacts" == env.FLASHINFER_CUBIN_DIR
    assert (env.FLASHINFER_INCLUDE_DIR / "fictl").is_dir()
    assert not env.FLASHINFER_GEN_SRC_DIR.exists()


def test_the_module_of_the_gated_activations() -> None:
    spec = flashinfer.jit.gen_act_and_mul_module("gelu_tanh")
    assert spec.name == "activation.act_and_mul"
    with pytest.raises(ValueError, match="no activation 'relu'"):
        flashinfer.jit.gen_act_and_mul_module("relu")


def test_building_ahead(monkeypatch, tmp_path: Path) -> None:
    from fictl.builds import building
    from fictl.compat.flashinfer import _aot
    from fictl.errors import FictlError

    made = [building.BuiltModule("fictl", "norm.rmsnorm")]
    asked = []
    monkeypatch.setattr(building, "build", lambda names, *rest: asked.extend(names) or made)
    build = flashinfer.aot.compile_and_package_modules
    build(None, tmp_path, tmp_path)
    assert "fictl/norm/rmsnorm" in asked
    made.append(building.BuiltModule("fictl", "norm.layernorm", error=FictlError("no compiler")))
    with pytest.raises(FictlError, match=r"1 of 2 modules were not built; norm\.layernorm: no c"):
        build(None, tmp_path, tmp_path)
    with pytest.raises(ValueError, match="config="):
        build(None, tmp_path, tmp_path, {"add_act": False})
    assert _aot.__all__ == ["compile_and_package_modules"]
