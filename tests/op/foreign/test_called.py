"""A public function takes arrays of other libraries and returns the caller's kind, in the same memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from fictl.emu.toolchain import current_toolchain
from fictl.errors import InvalidValue, WrongType
from fictl.op import op
from fictl.op.ffi.wrong_device import WrongDevice

declare = op(archs=">=7.5", dtypes="f32", devices="cuda emu", mutates="out")


class Both(NamedTuple):
    sums: Any
    count: int


@declare
def added(
    x: torch.Tensor, y: torch.Tensor, factor: float = 1.0, out: torch.Tensor | None = None
) -> torch.Tensor:
    assert type(x) is torch.Tensor
    assert type(y) is torch.Tensor
    return torch.add(x, y, alpha=factor, out=out)


@declare
def both(x: torch.Tensor) -> Any:
    return Both([x + 1, (x,)], 3)


class Space:
    """A library with arrays of its own, as the array API has it."""

    @staticmethod
    def from_dlpack(tensor: torch.Tensor) -> Exported:
        return Exported(tensor.numpy())


class Exported:
    """An array that speaks DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array_namespace__(self) -> Any:
        return Space

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Alone(Exported):
    """An array of a library that can import none."""

    __array_namespace__ = None  # type: ignore[assignment]


MODES = pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])


@MODES
def test_arrays_of_numpy_go_in_and_come_out(mode) -> None:
    x = np.arange(4, dtype=np.float32)
    with mode():
        result = added(x, y=x, factor=2.0)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, 3 * x)
    assert result.flags.writeable


def test_an_array_to_write_is_written_and_returned() -> None:
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    assert added(x, x, out=out) is out
    assert (out == 2).all()


def test_tensors_and_arrays_may_be_mixed_the_first_says_what_comes_out() -> None:
    x = np.ones(4, np.float32)
    assert type(added(x, torch.ones(4))) is np.ndarray
    with pytest.raises((AssertionError, TypeError)):
        added(torch.ones(4), x)  # As ever: the function gets what it was given.


def test_a_gradient_is_refused_beside_an_array_too() -> None:
    with pytest.raises(RuntimeError, match="added: argument 'y' requires grad"):
        added(np.ones(4, np.float32), torch.ones(4, requires_grad=True))


def test_results_in_tuples_and_lists_are_arrays_too() -> None:
    x = np.ones(2, np.float32)
    result = both(x)
    assert isinstance(result, Both)
    assert type(result.sums[0]) is np.ndarray
    assert result.sums[1][0] is x
    assert result.count == 3


def test_an_array_of_any_library_comes_back_as_its_own() -> None:
    x = Exported(np.ones(4, np.float32))
    result = added(x, x)
    assert type(result) is Exported
    assert (result.array == 2).all()


def test_of_a_library_that_imports_nothing_a_tensor_comes_back() -> None:
    x = Alone(np.ones(4, np.float32))
    assert torch.equal(added(x, x), torch.full((4,), 2.0))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_types_that_numpy_cannot_export_are_passed_too(name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    seen = []

    @declare
    def kept(x: torch.Tensor) -> torch.Tensor:
        seen.append(x.dtype)
        return x.clone()

    x = np.array([1, 2, 3]).astype(getattr(ml_dtypes, name))
    result = kept(x)
    assert seen == [getattr(torch, name)]
    assert result.dtype == x.dtype
    assert result.astype(np.float32).tolist() == [1, 2, 3]


def test_a_result_that_numpy_lacks_names_the_package(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)

    @declare
    def narrowed(x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.bfloat16)

    with pytest.raises(RuntimeError, match="pip install ml_dtypes"):
        narrowed(np.ones(2, np.float32))


def test_a_negative_stride_does_not_end_the_process() -> None:
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(
        InvalidValue, match=r"argument 'y', a numpy\.ndarray, has a negative stride"
    ):
        added(x, x[::-1])


def test_what_is_no_tensor_in_torch_is_refused_by_name_and_type() -> None:
    x = np.arange(4, dtype=">f4")
    with pytest.raises(WrongType, match=r"argument 'x', a numpy\.ndarray of >f4, cannot be read"):
        added(x, x)


def test_what_is_read_only_is_read_and_not_written() -> None:
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    x.flags.writeable = out.flags.writeable = False
    assert (added(x, x) == 2).all()
    with pytest.raises(InvalidValue, match="added writes its argument 'out', and this array is"):
        added(x, x, out=out)


def test_what_is_no_array_is_left_to_the_function() -> None:
    with pytest.raises(AssertionError):
        added([1.0], [2.0])


def test_a_tensor_of_a_kind_of_its_own_is_a_tensor() -> None:
    class Named(torch.Tensor):
        pass

    @declare
    def same(x: torch.Tensor) -> Any:
        return type(x)

    assert same(torch.ones(1).as_subclass(Named)) is Named
    assert same(torch.nn.Parameter(torch.ones(1)).detach()) is torch.Tensor


def test_a_class_with_plan_and_run_takes_them_in_both() -> None:
    class Summed:
        def plan(self, indptr: torch.Tensor) -> None:
            self.first = int(indptr[0]) if type(indptr) is torch.Tensor else None

        @declare
        def run(self, input: torch.Tensor) -> torch.Tensor:
            return input + self.first

    sums = Summed()
    sums.plan(np.array([5]))
    assert sums.run(np.zeros(2, np.float32)).tolist() == [5, 5]


def test_a_shipped_op_computes_on_them(users_cache: None, monkeypatch) -> None:
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    import fictl.ops

    x = np.arange(8, dtype=np.float32)
    result = fictl.ops.scale(x, 2.0)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, 2 * x)


def test_where_ops_run_on_a_gpu_an_array_of_the_cpu_is_refused_with_the_way(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")

    @declare
    def launched(input: torch.Tensor) -> torch.Tensor:
        raise WrongDevice("launched", "input", input.device)

    with pytest.raises(ValueError, match="argument 'input' is on cpu") as caught:
        launched(np.ones(4, np.float32))
    assert "pass cupy.asarray(input)" in str(caught.value)
