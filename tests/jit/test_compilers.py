"""What a plan is told of the compilers of each device."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.emu.toolchain import EmuToolchain
from fictl.errors import SetupError
from fictl.jit import gen_jit_spec
from fictl.jit.compilers import EmuCompilers, find_compilers, require_compilers
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.flags import semantic_flags
from fictl.toolchain import CudaHeaders, HostCompiler


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> EmuCompilers:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    cxx = HostCompiler(("/bin/g++",), "gcc", (12,), "g++ 12")
    return EmuCompilers(EmuToolchain(cxx, CudaHeaders((Path("/cuda/include"),), (12, 9))))


@pytest.fixture
def spec(tmp_path: Path):
    (tmp_path / "a.cu").touch()
    return gen_jit_spec("m", [tmp_path / "a.cu"])


@pytest.fixture
def cuda(use_nvcc):
    use_nvcc("12.9")
    compilers = find_compilers("cuda")
    assert compilers is not None
    return compilers


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.toolchain.search._look", lambda: iter(()))
    monkeypatch.setattr("fictl.toolchain.headers._places", lambda: iter(()))


@pytest.mark.parametrize("device", ["cuda", "emu"])
def test_a_bare_machine_has_none(bare_machine: None, device: str) -> None:
    assert find_compilers(device) is None


@pytest.mark.parametrize(("device", "lacks"), [("cuda", "nvcc"), ("emu", "CUDA headers")])
def test_who_needs_them_is_told_what_is_missing(bare_machine: None, device, lacks) -> None:
    with pytest.raises(SetupError, match=f"no (usable )?{lacks}"):
        require_compilers(device)


def test_the_emulated_device_has_no_architectures_to_choose_from(emulated, spec) -> None:
    targets = emulated.targets(spec, (Arch(9, 0, "a"),))
    assert (targets.archs, targets.origin) == ((), "emulated")


def test_cuda_has_those_that_were_asked_for(cuda, spec) -> None:
    assert cuda.targets(spec, (Arch(9, 0, "a"),)).archs == (Arch(9, 0, "a"),)


def test_kernels_are_emulated_by_the_host_compiler(emulated, spec) -> None:
    command = emulated.kernel_command(semantic_flags(spec), ())
    assert "/bin/g++" in command
    assert not any("nvcc" in Path(word).name or "gencode" in word for word in command)


def test_kernels_are_instrumented_in_check_mode(emulated, spec, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    checked = emulated.kernel_command(semantic_flags(spec), ())
    assert "-fsanitize=thread" in checked
    assert "tsan-distinguish-volatile=1" in checked


def test_kernels_for_gpus_are_compiled_by_nvcc(cuda, spec) -> None:
    command = cuda.kernel_command(semantic_flags(spec), (Arch(8, 0),))
    assert Path(command[0]).name == "nvcc"
    assert "-gencode=arch=compute_80,code=sm_80" in command


def test_bindings_call_the_emulator_by_its_names(emulated, cuda) -> None:
    words = emulated.cxx_words()
    assert words[-2:] == ("-include", "fictl_emu/api_names.h")
    assert (Path(words[0].removeprefix("-I")) / words[-1]).is_file()
    assert cuda.cxx_words() == ()


def test_modules_link_the_runtime_of_their_device(emulated, cuda, spec) -> None:
    assert emulated.libraries(spec) == ("-L.", "-l:libfictl_emu.so")
    assert Path(cuda.libraries(spec)[1]).name == "libcudart.so.12"


def test_the_runtime_does_not_link_itself(emulated) -> None:
    assert emulated.libraries(runtime_spec()) == ()


def test_the_major_version_of_cuda_is_that_of_the_headers(emulated, cuda) -> None:
    assert (emulated.cudart, cuda.cudart) == (12, 12)


def test_libraries_are_in_the_identity_where_they_are_used(emulated, cuda) -> None:
    for compilers in (emulated, cuda):
        plain = compilers.identity(())
        assert set(compilers.identity(("cutlass", "cccl"))) - set(plain) == {"cutlass", "cccl"}
