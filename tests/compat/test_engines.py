"""Each name that an engine reaches is served, or refused in words; none is a silent None."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest

from fictl.compat.flashinfer._engines import ALWAYS, needed, reached
from fictl.compat.flashinfer._listing import SERVED, STANDS_IN, reached_names
from fictl.compat.flashinfer._names import PACKAGE, TOP, VERSION, recorded
from fictl.compat.flashinfer._refused import NotServed
from tests.compat.record_engines import reached as found_in
from tests.compat.record_engines import sites

ENGINES = ("vllm", "sglang", "tensorrt_llm")
# Files of kernels for Blackwell GPUs, which an engine imports when it has chosen them: their import
# is refused.
KERNELS = {
    "cute_dsl.blockscaled_gemm",
    "cute_dsl.utils",
    "fused_moe.cute_dsl.blackwell.utils",
    "gdn_kernels.blackwell.gated_delta_net_tile_scheduler",
    "gemm.kernels.cute_dsl.low_latency_blockscaled_gemm",
    "gemm.kernels.dense_bf16_gemm_sm100_splitk",
    "norm.utils",
    "prims_ts",
    "prims_ts.gemm",
}
WORDS = f"FlashInfer {VERSION} has it, fictl does not; "


def had_by_import(name: str) -> Any:
    """Return the result of `from … import …`, or its error."""
    module, _, last = name.rpartition(".")
    space: dict[str, Any] = {}
    try:
        exec(f"from {PACKAGE}{'.' if module else ''}{module} import {last}", space)
    except ImportError as error:
        return error
    return space[last]


def is_theirs(name: str) -> bool:
    """Whether the wheel of that version has it: engines try names of others, too."""
    module, _, last = name.rpartition(".")
    return name in recorded() or last in recorded().get(module or TOP, ())


def test_the_list_has_the_three_engines_with_their_versions() -> None:
    assert [engine.partition(" ")[0] for engine in reached()] == [*ENGINES]
    assert all(engine.partition(" ")[2] for engine in reached())
    assert {"vllm 0.33.0", "sglang 0.5.23"} < {*reached()}


@pytest.mark.parametrize("engine", [*reached()])
def test_each_name_is_served_or_refused_in_words(engine: str) -> None:
    """As the list says, and whatever the way in which the engine asks."""
    for each in reached_names():
        if each.engine != engine:
            continue
        name = each.name.removeprefix("flashinfer").lstrip(".")
        found = had_by_import(name)
        if each.status == SERVED:
            assert not isinstance(found, ImportError), name
        elif each.status == STANDS_IN:
            with pytest.raises(NotServed, match=WORDS.rstrip("; ")):
                found(1, out=None)
        else:
            assert isinstance(found, ImportError), name
            assert (WORDS if is_theirs(name) else "") in str(found)
            assert any(part in str(found) for part in name.split("."))


def test_what_an_engine_cannot_start_without_can_be_imported() -> None:
    refused = {name for name in needed() if isinstance(had_by_import(name), ImportError)}
    assert {name.rpartition(".")[0] for name in refused} == KERNELS


STAND_INS = sorted({(e.name, e.reason) for e in reached_names() if e.status == STANDS_IN})


@pytest.mark.parametrize(("name", "reason"), STAND_INS, ids=[name for name, _ in STAND_INS])
def test_a_stand_in_is_not_there_for_who_asks(name: str, reason: str) -> None:
    """Engines choose by hasattr what they call: vLLM for fp8_blockscale_gemm_sm90, as one."""
    place, _, last = name.replace("flashinfer", PACKAGE, 1).rpartition(".")
    stand_in = had_by_import(name.removeprefix("flashinfer").lstrip("."))
    module = import_module(place)
    assert not hasattr(module, last)
    assert getattr(module, last, None) is None
    assert last not in dir(module)
    assert stand_in is had_by_import(name.removeprefix("flashinfer").lstrip("."))
    with pytest.raises(NotServed) as caught:
        stand_in()
    assert caught.value.hint == reason
    assert reason
    assert isinstance(caught.value, NotImplementedError)


def test_a_class_that_stands_in_may_be_named_and_not_used() -> None:
    from fictl.compat.flashinfer import BatchMLAPagedAttentionWrapper

    class Own(BatchMLAPagedAttentionWrapper):
        pass

    wrapper: BatchMLAPagedAttentionWrapper | None = None
    assert not isinstance(wrapper, BatchMLAPagedAttentionWrapper)
    for call in (Own, BatchMLAPagedAttentionWrapper):
        with pytest.raises(
            NotServed, match=r"flashinfer\.BatchMLAPagedAttentionWrapper: FlashInfer"
        ):
            call(None)
    with pytest.raises(AttributeError, match=r"no 'run': flashinfer\.BatchMLA.*MLA over latent"):
        _ = BatchMLAPagedAttentionWrapper.run


def test_a_guarded_import_goes_the_engine_s_way_round() -> None:
    """As SGLang and vLLM guard theirs; find_spec and hasattr say no."""
    with pytest.raises(ImportError):
        from fictl.compat.flashinfer.decode import _grouped_size_compiled_for_decode_kernels  # noqa: F401
    with pytest.raises(ImportError):
        from fictl.compat.flashinfer.mla import BatchMLAPagedAttentionWrapper  # noqa: F401
    with pytest.raises(ImportError):
        from fictl.compat.flashinfer.comm.mnnvl import McastGPUBuffer  # noqa: F401
    comm = import_module(f"{PACKAGE}.comm")
    assert not hasattr(comm, "MixedCommHandler")
    assert importlib.util.find_spec(f"{PACKAGE}.cute_dsl") is None


TEXT = """
import flashinfer
import flashinfer.comm as comm
from flashinfer.norm import rmsnorm
if hasattr(comm, "allreduce_fusion"):
    pass
try:
    from flashinfer.comm.mnnvl import TorchDistBackend
except ImportError:
    from flashinfer.prefill import fallback
if TYPE_CHECKING:
    from flashinfer import never
def later():
    from flashinfer import autotune
    flashinfer.decode.cudnn(1)
    return [("flashinfer.fused_moe", "mono_moe"), find_spec("flashinfer.gemm")]
"""


def test_the_four_ways_are_told_apart() -> None:
    ways: dict[str, set[str]] = {}
    for way, name in sites(TEXT):
        ways.setdefault(way, set()).add(name)
    assert ways == {
        "always": {"comm", "norm.rmsnorm", "prefill.fallback"},
        "tried": {"comm.mnnvl.TorchDistBackend"},
        "inside": {"autotune"},
        "asked": {
            "comm.allreduce_fusion",
            "decode",
            "decode.cudnn",
            "fused_moe.mono_moe",
            "gemm",
        },
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_that_is_installed_reaches_what_is_recorded(engine: str) -> None:
    folder = next(installed(engine), None)
    if folder is None:
        pytest.skip(f"{engine} is not installed here: its names are those of the recorded list")
    version = metadata.version(engine)
    known = {f"{engine} {version}"} & {*reached()}
    if not known:
        recorded = next(each for each in reached() if each.startswith(f"{engine} "))
        pytest.skip(f"{engine} {version} is installed, and {recorded} is recorded")
    listed = reached()[known.pop()]
    ways = found_in(folder, frozenset().union(*listed.values()))
    assert ways[ALWAYS] <= listed[ALWAYS]
    assert ways["tried"] | ways["inside"] <= listed["tried"] | listed["inside"]


def installed(engine: str) -> Iterator[Path]:
    spec = importlib.util.find_spec(engine)
    if spec is not None and spec.submodule_search_locations:
        yield from map(Path, spec.submodule_search_locations)
