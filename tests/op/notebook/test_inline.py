"""Modules from text, on the emulated device."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fictl.errors import UsageError
from fictl.jit import BuildFailed
from fictl.jit.cache.inventory import inventory
from fictl.jit.cache.removal import clear
from fictl.op.notebook.inline import load_inline
from fictl.paths import cache_root

TEXT = """
#include <binding/launch.h>

using namespace fictl;

__global__ void add(float* out, const float* input, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = input[i] + ADDED;
}

void plus(const Launch& launch, View out, View input) {
  const int n = input.numel();
  add<<<(n + 255) / 256, 256, 0, launch.stream>>>(out.data<float>(), input.data<float>(), n);
  CUDA_CHECK(launch, cudaGetLastError());
}
"""
BINDING = """
#include <binding/ffi.h>

void plus(const fictl::Launch& launch, fictl::View out, fictl::View input);

void checked(fictl::View out, fictl::View input) {
  fictl::check_same_shape("plus", "out", out, "input", input);
  fictl::call("plus", input, plus, out, input);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(plus, checked);
"""


@pytest.fixture(autouse=True)
def _emulated(monkeypatch: pytest.MonkeyPatch, users_cache: None) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def plus(text: str = TEXT, added: str = "1.0f", **options: object) -> torch.Tensor:
    module = load_inline("plus", text.replace("ADDED", added), **options)  # type: ignore[arg-type]
    input = torch.arange(300.0)
    out = torch.empty_like(input)
    module.plus(out, input)
    return out - input


def test_a_launcher_is_called_like_that_of_any_op() -> None:
    assert (plus() == 1).all()


def test_an_edited_text_is_another_module_in_the_same_process() -> None:
    values = [plus(added=added).unique().item() for added in ("1.0f", "2.0f", "1.0f")]
    assert values == [1, 2, 1]


def test_equal_text_is_compiled_once(caplog: pytest.LogCaptureFixture) -> None:
    plus()
    caplog.clear()
    plus()
    assert not caplog.records


def test_a_flag_is_part_of_the_key() -> None:
    assert (plus(added="VALUE", extra_cuda_cflags=["-DVALUE=3"]) == 3).all()
    assert (plus(added="VALUE", extra_cuda_cflags=["-DVALUE=4"]) == 4).all()


def test_a_header_of_ones_own_is_included_and_its_edit_is_seen(tmp_path: Path) -> None:
    header = tmp_path / "value.h"
    text = '#include "value.h"\n' + TEXT
    for value in (5, 6):
        header.write_text(f"#define VALUE {value}\n")
        assert (plus(text, "VALUE", extra_include_paths=[tmp_path]) == value).all()


def test_a_binding_of_ones_own_does_its_own_checks() -> None:
    assert (plus(binding=BINDING) == 1).all()
    module = load_inline("plus", TEXT.replace("ADDED", "1.0f"), BINDING)
    with pytest.raises(ValueError, match=r"'out' has shape \(2,\), 'input' has \(3,\)"):
        module.plus(torch.empty(2), torch.ones(3))


def test_only_the_functions_asked_for_are_exported() -> None:
    assert (plus(functions="plus") == 1).all()


def test_a_compile_error_names_the_line_of_the_text() -> None:
    with pytest.raises(BuildFailed, match=r"plus\.cu:8:\d+: error: .*oops"):
        plus(added="oops")


@pytest.mark.parametrize("name", ["", "a/b", ".hidden"])
def test_a_name_that_cannot_be_a_folder_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a module"):
        load_inline(name, TEXT)


def test_functions_beside_a_binding_are_refused() -> None:
    with pytest.raises(UsageError, match="functions= beside a binding="):
        load_inline("plus", TEXT, BINDING, "plus")


def test_no_text_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="neither cuda= nor binding="):
        load_inline("plus")


def test_an_architecture_that_the_text_is_not_for_is_refused(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0")
    with pytest.raises(UsageError, match=r"plus is for 9\.0a, not for 8\.0"):
        load_inline("plus", TEXT.replace("ADDED", "1.0f"), archs="9.0a")


def test_torch_compile_keeps_two_texts_of_one_name_apart() -> None:
    one, two = (load_inline("plus", TEXT.replace("ADDED", added)) for added in ("1.0f", "2.0f"))

    @torch.compile(backend="aot_eager", fullgraph=True)
    def difference(input: torch.Tensor) -> torch.Tensor:
        out, other = torch.empty_like(input), torch.empty_like(input)
        one.plus(out, input)
        two.plus(other, input)
        return other - out

    assert difference(torch.zeros(3)).tolist() == [1, 1, 1]


def test_clearing_the_cache_takes_the_text_as_well(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path))
    with pytest.raises(UsageError):
        load_inline("plus", "int x;")
    kept = [item for item in inventory(cache_root()) if item.path.name == "text"]
    assert [item.kind for item in kept] == ["record"]
    clear(cache_root())
    assert not list(tmp_path.rglob("plus"))
