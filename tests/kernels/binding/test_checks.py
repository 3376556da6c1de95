"""Every argument check of binding/checks.h, and every kind of error, as Python sees it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

_CPU, _CUDA, _VULKAN = 1, 2, 7
_INVALID_VALUE, _NO_KERNEL_IMAGE = 1, 209


def _raises(kind: type[Exception], text: str) -> Any:
    return pytest.raises(kind, match=f"^{re.escape(text)}")


def test_a_cpu_tensor_is_refused_with_op_argument_and_the_way_out(cuda_module: Any) -> None:
    text = (
        "check_device: argument 'weight' is on CPU, but this build takes CUDA tensors; "
        "pass weight.cuda()"
    )
    with _raises(ValueError, text):
        cuda_module.check_device(torch.ones(2))


def test_a_tensor_of_another_device_is_refused_by_its_type(cuda_module: Any) -> None:
    with _raises(ValueError, "check_device_of_type: argument 'weight' is on DLPack device type 7"):
        cuda_module.check_device_of_type(_VULKAN, 0)


def test_a_cuda_tensor_passes(cuda_module: Any) -> None:
    cuda_module.check_device_of_type(_CUDA, 3)


def test_a_build_for_the_emulated_device_takes_cpu_tensors(emu_module: Any) -> None:
    emu_module.check_device(torch.ones(2))


def test_a_build_for_the_emulated_device_refuses_cuda_tensors(emu_module: Any) -> None:
    text = "check_device_of_type: argument 'weight' is on CUDA:3, but this build takes CPU tensors"
    with _raises(ValueError, text):
        emu_module.check_device_of_type(_CUDA, 3)


def test_a_tensor_that_is_not_contiguous_is_refused_with_its_strides(emu_module: Any) -> None:
    text = (
        "check_contiguous: argument 'weight' is not contiguous: shape (3, 2), strides (1, 3); "
        "pass weight.contiguous()"
    )
    with _raises(ValueError, text):
        emu_module.check_contiguous(torch.ones(2, 3).t())


def test_a_last_dimension_that_is_not_contiguous_is_refused_with_its_strides(
    cuda_module: Any,
) -> None:
    text = (
        "check_last_dim_contiguous: argument 'weight' has strides (1, 3): "
        "the last dimension must be contiguous (stride 1); pass weight.contiguous()"
    )
    with _raises(ValueError, text):
        cuda_module.check_last_dim_contiguous(torch.ones(2, 3).t())


@pytest.mark.parametrize("x", [torch.ones(4, 8)[:, :2], torch.ones(8, 4)[:, ::4]])
def test_rows_at_any_stride_pass(cuda_module: Any, x: torch.Tensor) -> None:
    cuda_module.check_last_dim_contiguous(x)


def test_an_output_whose_rows_overlap_is_refused(cuda_module: Any) -> None:
    text = (
        "check_no_overlap: argument 'out' has shape (3, 2) and strides (1, 1): "
        "its rows overlap; pass a contiguous out"
    )
    with _raises(ValueError, text):
        cuda_module.check_no_overlap(torch.ones(8).as_strided((3, 2), (1, 1)))


def test_rows_that_touch_pass(cuda_module: Any) -> None:
    cuda_module.check_no_overlap(torch.ones(3, 2))


def test_an_address_that_is_not_aligned_is_refused(cuda_module: Any) -> None:
    text = "check_aligned: argument 'weight' is not aligned to 16 bytes; pass weight.clone()"
    with _raises(ValueError, text):
        cuda_module.check_aligned(torch.ones(8)[1:])
    cuda_module.check_aligned(torch.ones(8)[4:])


def test_a_dtype_that_is_not_accepted_is_refused_with_those_that_are(cuda_module: Any) -> None:
    text = "check_dtype: argument 'weight' has dtype float32; accepted: int32, int64"
    with _raises(TypeError, text):
        cuda_module.check_dtype(torch.ones(2))
    cuda_module.check_dtype(torch.ones(2).long())


def test_a_wrong_number_of_dimensions_is_refused_with_the_shape(cuda_module: Any) -> None:
    text = "check_dim: argument 'weight' has shape (5,), which is not 2-dimensional"
    with _raises(ValueError, text):
        cuda_module.check_dim(torch.ones(5), 2)


def test_a_scalar_tensor_has_an_empty_shape(cuda_module: Any) -> None:
    with _raises(ValueError, "check_dim: argument 'weight' has shape (), which"):
        cuda_module.check_dim(torch.tensor(1.0), 1)


def test_the_right_number_of_dimensions_passes(cuda_module: Any) -> None:
    cuda_module.check_dim(torch.ones(5, 6), 2)


@pytest.mark.parametrize(("shape", "text"), [((4, 9), "(4, 9)"), ((4,), "(4,)")])
def test_different_shapes_are_refused_with_both(
    cuda_module: Any, shape: tuple[int, ...], text: str
) -> None:
    expected = f"check_same_shape: argument 'out' has shape (4, 8), 'input' has {text}"
    with _raises(ValueError, expected):
        cuda_module.check_same_shape(torch.ones(4, 8), torch.ones(shape))


def test_equal_shapes_pass(cuda_module: Any) -> None:
    cuda_module.check_same_shape(torch.ones(4, 8), torch.ones(4, 8))


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float16,
        torch.float64,
        torch.int8,
        torch.uint8,
        torch.int64,
        torch.bool,
        torch.float8_e4m3fn,
        torch.float8_e5m2,
        torch.float8_e8m0fnu,
        torch.complex64,
    ],
)
def test_different_dtypes_are_refused_by_the_names_torch_gives_them(
    cuda_module: Any, dtype: torch.dtype
) -> None:
    name = str(dtype).removeprefix("torch.")
    text = f"check_same_dtype: argument 'out' has dtype bfloat16, 'input' has {name}"
    with _raises(TypeError, text):
        cuda_module.check_same_dtype(
            torch.ones(2, dtype=torch.bfloat16), torch.zeros(2, dtype=torch.uint8).to(dtype)
        )


def test_equal_dtypes_pass(cuda_module: Any) -> None:
    cuda_module.check_same_dtype(torch.ones(2), torch.ones(2))


def test_different_devices_are_refused_with_both(cuda_module: Any) -> None:
    text = "check_same_device: argument 'out' is on CPU, 'input' on CUDA:1"
    with _raises(ValueError, text):
        cuda_module.check_same_device(torch.ones(2), _CUDA, 1)


def test_equal_devices_pass(cuda_module: Any) -> None:
    cuda_module.check_same_device(torch.ones(2), _CPU, 0)


def test_what_is_no_tensor_is_a_type_error(cuda_module: Any) -> None:
    with pytest.raises(TypeError, match=r"argument #0 .*`check_device.* Expected `Tensor`"):
        cuda_module.check_device(3)


def test_a_cuda_error_arrives_with_op_name_and_text(cuda_module: Any) -> None:
    with _raises(RuntimeError, "attend: cudaErrorInvalidValue: invalid argument (from "):
        cuda_module.cuda_status(_INVALID_VALUE)


def test_code_that_lacks_the_gpu_says_how_to_build_for_it(cuda_module: Any) -> None:
    with pytest.raises(RuntimeError, match=r"cudaErrorNoKernelImage.*FICTL_CUDA_ARCH_LIST"):
        cuda_module.cuda_status(_NO_KERNEL_IMAGE)


def test_success_is_no_error(cuda_module: Any) -> None:
    cuda_module.cuda_status(0)


def test_a_call_without_a_driver_says_so(cuda_module: Any) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match=r"^call: cudaError(InsufficientDriver|NoDevice): "):
        cuda_module.call(torch.zeros(1, dtype=torch.int64))


def test_a_text_too_long_is_cut(cuda_module: Any) -> None:
    with pytest.raises(ValueError, match=r"^0 1 2 3 ") as caught:
        cuda_module.throw_long_text()
    assert len(str(caught.value)) == 1023
