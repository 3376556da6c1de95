"""The first call builds, the later ones are the module's function itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from fictl import settings
from fictl.errors import FictlError, InvalidValue, NotOnDevice
from fictl.op import KernelModule

BINDING = """
void scale(View out, View input, double factor) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);
"""


class Spec:
    """A spec whose module exports `scale`, and that counts how often it is built."""

    name = "elementwise.scale"
    runs_on = "cuda"
    sources: tuple[Path, ...] = ()
    base = Path()

    def __init__(self) -> None:
        self.builds = 0
        self.called: list[tuple[Any, ...]] = []

    def scale(self, *arguments: Any) -> str:
        self.called.append(arguments)
        return "scaled"

    def build_and_load(self) -> Any:
        self.builds += 1
        return SimpleNamespace(scale=self.scale)


@pytest.fixture
def spec() -> Spec:
    return Spec()


@pytest.fixture
def scale(spec: Spec) -> Callable[..., Any]:
    """A public function as authors write them."""
    kernel = KernelModule(lambda: spec)  # type: ignore[arg-type, return-value]

    def public(input: Any, factor: float, out: Any = None) -> Any:
        if out is None:
            out = torch.empty_like(input)
        return kernel.scale(out, input, factor)

    return public


def test_nothing_is_built_before_a_call(spec: Spec) -> None:
    kernel = KernelModule(lambda: spec)
    assert callable(kernel.scale)
    assert spec.builds == 0


def test_the_first_call_builds_and_hands_on_arguments_and_result(spec: Spec) -> None:
    kernel = KernelModule(lambda: spec)
    assert kernel.scale(1, 2.0) == "scaled"
    assert spec.called == [(1, 2.0)]


def test_a_function_is_an_attribute_once_it_was_asked_for(spec: Spec) -> None:
    kernel = KernelModule(lambda: spec)
    assert kernel.scale is kernel.scale
    assert vars(kernel)["scale"] is kernel.scale


class OfDevice(Spec):
    """A spec of the device in use, whose function refuses calls for another one."""

    built: ClassVar[list[str]] = []

    def __init__(self) -> None:
        super().__init__()
        self.runs_on = settings.DEVICE.get()

    def scale(self, *arguments: Any) -> str:
        if self.runs_on != settings.DEVICE.get() or arguments == ("refused",):
            raise ValueError(f"this build is for {self.runs_on}")
        return self.runs_on

    def build_and_load(self) -> Any:
        self.built.append(self.runs_on)
        return super().build_and_load()


@pytest.fixture
def of_device(monkeypatch: pytest.MonkeyPatch) -> KernelModule:
    monkeypatch.setattr(OfDevice, "built", [])
    monkeypatch.setattr("fictl.op.ffi.emulated.Emulated", lambda _, function: function)
    return KernelModule(OfDevice)  # type: ignore[arg-type]


def test_a_function_follows_the_device(
    of_device: KernelModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = of_device.scale  # A plan keeps it.
    for device in ("cuda", "emu", "emu", "cuda"):
        monkeypatch.setenv("FICTL_DEVICE", device)
        assert kept(1, 2.0) == of_device.scale(1, 2.0) == device
    assert OfDevice.built == ["cuda", "emu", "cuda"]


def test_a_refusal_of_the_same_device_builds_nothing_anew(of_device: KernelModule) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="this build is for cuda"):
            of_device.scale("refused")
    assert OfDevice.built == ["cuda"]


def test_parameters_are_those_of_the_binding(spec: Spec, tmp_path: Path) -> None:
    binding = tmp_path / "binding.cpp"
    binding.write_text(BINDING, encoding="utf-8")
    spec.sources = (binding,)
    kernel = KernelModule(lambda: spec)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'factor'"):
        kernel.scale(1, 2)
    assert kernel.scale(1, factor=3.0, input=2) == "scaled"
    assert spec.called == [(1, 2, 3.0)]


def test_a_function_taken_before_the_build_does_not_build_again(spec: Spec) -> None:
    kernel = KernelModule(lambda: spec)
    taken = kernel.scale
    taken(1)
    taken(2)
    assert spec.builds == 1


def test_threads_that_call_first_build_once(spec: Spec) -> None:
    started = threading.Barrier(4)
    build = spec.build_and_load
    spec.build_and_load = lambda: threading.Event().wait(0.05) or build()  # type: ignore[method-assign]
    kernel = KernelModule(lambda: spec)

    def call(factor: int) -> None:
        function = kernel.scale
        started.wait()
        function(factor)

    threads = [threading.Thread(target=call, args=(factor,)) for factor in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spec.builds == 1
    assert sorted(spec.called) == [(0,), (1,), (2,), (3,)]


def test_a_function_that_the_binding_lacks_is_named(spec: Spec) -> None:
    with pytest.raises(FictlError, match=r"elementwise\.scale exports no function 'scael'") as info:
        KernelModule(lambda: spec).scael(1)
    assert "binding.cpp" in info.value.hint


def test_an_attribute_error_of_the_build_is_not_taken_for_a_missing_function() -> None:
    broken = Spec()
    broken.build_and_load = lambda: SimpleNamespace().missing  # type: ignore[method-assign]
    with pytest.raises(AttributeError, match="missing"):
        KernelModule(lambda: broken).scale(1)


def test_private_names_are_no_functions(spec: Spec) -> None:
    with pytest.raises(AttributeError, match="_scale"):
        _ = KernelModule(lambda: spec)._scale


def test_a_build_that_fails_is_tried_again(spec: Spec) -> None:
    build, failures = spec.build_and_load, [FictlError("does not build")]

    def fail_once() -> Any:
        if failures:
            raise failures.pop()
        return build()

    spec.build_and_load = fail_once  # type: ignore[method-assign]
    kernel = KernelModule(lambda: spec)
    with pytest.raises(FictlError, match="does not build"):
        kernel.scale(1)
    assert kernel.scale(1) == "scaled"


def test_parameters_make_a_module_of_their_own_once(spec: Spec) -> None:
    asked = []

    def module(*parameters: object) -> Any:
        asked.append(parameters)
        return spec

    kernel = KernelModule(module)
    assert kernel["float16", 128] is kernel["float16", 128]
    kernel["float16", 128].scale(1)
    kernel["float16", 128].scale(2)
    kernel["float16"].scale(3)
    assert set(asked) == {("float16", 128), ("float16",)}
    assert spec.builds == 2


def test_a_cpu_tensor_is_refused_by_its_parameter_before_anything_is_built(
    spec: Spec, scale: Callable[..., Any]
) -> None:
    with pytest.raises(InvalidValue) as info:
        scale(torch.ones(4), 2.0)
    assert info.value.message == (
        "scale: argument 'input' is on cpu, but this build takes CUDA tensors"
    )
    assert info.value.hint == (
        "pass input.cuda(), or set FICTL_DEVICE=emu to run it on the emulated device"
    )
    assert spec.builds == 0


def test_on_the_emulated_device_a_tensor_elsewhere_is_refused_with_the_way_back(
    spec: Spec, scale: Callable[..., Any], monkeypatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    with pytest.raises(InvalidValue) as info:
        scale(torch.ones(4, device="meta"), 2.0, torch.ones(4))
    assert info.value.message == (
        "scale: argument 'input' is on meta, but this build takes CPU tensors, "
        "for the emulated device"
    )
    assert info.value.hint == "pass input.cpu(), or unset FICTL_DEVICE to run it on a GPU"
    assert spec.builds == 0


def test_what_serves_several_ops_names_the_one_it_is_told(spec: Spec) -> None:
    input = torch.ones(4, device="meta")
    with pytest.raises(ValueError, match="rescale: argument 'input' is on meta"):
        KernelModule(lambda: spec).scale("rescale", input, input, 2.0)


def test_a_tensor_without_memory_is_refused_as_well(scale: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="'input' is on meta"):
        scale(torch.ones(4, device="meta"), 2.0)


def test_once_built_a_tensor_that_the_ffi_cannot_take_is_refused_in_the_same_words(
    spec: Spec, monkeypatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")

    def refuse(*arguments: Any) -> None:
        raise RuntimeError("Cannot pack tensors on meta")

    monkeypatch.setattr(spec, "scale", refuse)
    kernel = KernelModule(lambda: spec)
    input = torch.ones(4)
    with pytest.raises(RuntimeError, match="Cannot pack"):
        kernel.scale(input, input, 2.0)
    input = torch.ones(4, device="meta")
    with pytest.raises(InvalidValue, match="scale: argument 'input' is on meta"):
        kernel.scale(input, input, 2.0)


@pytest.mark.parametrize(("own", "refused"), [("cuda", True), ("cuda emu", False)])
def test_a_function_runs_on_its_own_devices_and_not_on_those_of_its_file(
    spec: Spec, tmp_path: Path, own: str, refused: bool
) -> None:
    spec.base, spec.runs_on = tmp_path, "emu"
    declared = '@op(archs=">=8.0", dtypes="f32", mutates="out", devices="{}")\n'
    (tmp_path / "op.py").write_text(
        f"kernel = KernelModule(module)\n{declared.format(own)}"
        "def scale(input, out=None): kernel.scale(out, input)\n"
        f"{declared.format('cuda emu')}def twice(input, out=None): kernel.twice(out, input)\n",
        encoding="utf-8",
    )
    kernel = KernelModule(lambda: spec)  # type: ignore[arg-type, return-value]
    if refused:
        with pytest.raises(NotOnDevice, match="scale does not run on the emulated device") as info:
            kernel.scale()
        assert "devices='cuda'" in info.value.message
        assert spec.builds == 0
    else:
        kernel.bare("scale")
        assert spec.builds == 1


def test_a_tensor_for_the_host_is_where_the_binding_wants_it(
    spec: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its device is no reason to refuse the first call, nor to blame a call that is refused."""
    binding = tmp_path / "binding.cpp"
    text = "void scale(View workspace, Optional<View> host_list, Optional<View> rows) {}"
    binding.write_text(f"{text}\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);")
    spec.sources = (binding,)
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    kernel = KernelModule(lambda: spec)  # type: ignore[arg-type, return-value]

    def public(numbers: torch.Tensor | None, rows: torch.Tensor | None = None) -> Any:
        return kernel.scale(None, numbers, rows)

    assert public(torch.zeros(2)) == "scaled"
    spec.builds, kernel = 0, KernelModule(lambda: spec)  # type: ignore[arg-type, return-value]
    with pytest.raises(InvalidValue, match="argument 'rows' is on cpu"):
        public(torch.zeros(2), torch.zeros(2))
    assert spec.builds == 0
