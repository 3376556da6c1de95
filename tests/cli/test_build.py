"""fictl build: what is said of builds and plans, and with which exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fictl.emu.toolchain import current_toolchain
from fictl.jit import load
from fictl.paths import cache_root


@pytest.fixture
def twice(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the op, with the working folder below it."""
    monkeypatch.setattr(load, "_loaded", {})
    folder = tiny / "kernels" / "elementwise" / "twice"
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.needs_nvcc
def test_a_list_of_architectures_is_built_into_one_module(fictl, twice: Path) -> None:
    answer = fictl("build", "twice", "--arch", "8.0 9.0a 12.0a", "--json")
    document = answer.document
    assert answer.code == 0
    assert (document["schema"], document["ok"], document["error"]) == ("fictl.build/1", True, None)
    (built,) = document["data"]
    assert (built["project"], built["module"]) == ("tiny", "elementwise.twice")
    assert (built["archs"], built["origin"]) == (["8.0", "9.0a", "12.0a"], "flag")
    assert built["compiled"] is True
    assert (Path(built["path"]) / "module.so").is_file()
    assert "building tiny/elementwise.twice for 8.0 9.0a 12.0a: 2 units; log" in answer.err


@pytest.mark.needs_nvcc
def test_the_second_build_is_a_hit(fictl, twice: Path) -> None:
    first = fictl("build", "twice")
    second = fictl("build", "twice")
    assert re.search(r"✓ elementwise\.twice  8\.0 \(fictl\.toml\)  compiled in \d", first.out)
    assert "✓ elementwise.twice  8.0 (fictl.toml)  was built already" in second.out
    assert "building" not in second.err


@pytest.mark.needs_nvcc
def test_the_place_of_a_build_is_printed_on_a_line_of_its_own(fictl, twice: Path) -> None:
    path = Path(fictl("build", "twice").out.splitlines()[1].strip())
    assert path.is_relative_to(cache_root())
    assert (path / "manifest.json").is_file()


@pytest.mark.needs_nvcc
def test_verbose_shows_each_step(fictl, twice: Path) -> None:
    assert "-o module.so" in fictl("build", "twice", "--verbose").err
    (twice / "launcher.cu").write_text("int twice;\n")
    assert "-o module.so" not in fictl("build", "twice").err


@pytest.mark.needs_nvcc
def test_a_dry_run_prints_the_flags_of_blackwell(fictl, twice: Path) -> None:
    answer = fictl("build", "twice", "--arch", "12.0a", "--dry-run")
    assert answer.code == 0
    nvcc = next(line for line in answer.out.splitlines() if line.startswith("  nvcc "))
    assert "-gencode=arch=compute_120a,code=sm_120a" in nvcc
    assert "-DFICTL_ENABLE_FP8_E8M0 -DFICTL_ENABLE_FP4_E2M1" in nvcc
    assert any(
        line.startswith("  $ ") and "launcher.cu" in line for line in answer.out.splitlines()
    )


@pytest.mark.needs_nvcc
def test_an_older_architecture_lacks_those_types(fictl, twice: Path) -> None:
    (plan,) = fictl("build", "twice", "--arch", "9.0a", "--dry-run", "--json").document["data"]
    assert not [flag for flag in plan["flags"]["nvcc"] if "FICTL_ENABLE" in flag]


@pytest.mark.needs_nvcc
def test_a_dry_run_builds_nothing(fictl, twice: Path) -> None:
    fictl("build", "twice", "--dry-run")
    assert not list(cache_root().rglob("module.so"))


def test_what_this_nvcc_lacks_is_left_out_with_one_warning(fictl, twice: Path, use_nvcc) -> None:
    use_nvcc("12.8")
    answer = fictl("build", "twice", "--arch", "9.0a 10.3a", "--dry-run")
    assert answer.code == 0
    warnings = [line.strip() for line in answer.out.splitlines() if "cannot target" in line]
    assert warnings == ["! nvcc 12.8 cannot target 10.3a (CUDA 12.9 has it): it is left out"]
    assert "elementwise.twice  9.0a (flag)" in answer.out
    assert "-gencode=arch=compute_90a,code=sm_90a" in answer.out
    assert "compute_103a" not in answer.out


def test_where_nothing_is_left_it_is_the_machines_fault(fictl, twice: Path, use_nvcc) -> None:
    use_nvcc("12.8")
    answer = fictl("build", "twice", "--arch", "10.3a", "--dry-run")
    assert answer.code == 3
    assert "nvcc 12.8 cannot target 10.3a (CUDA 12.9 has it)" in answer.err
    assert "get CUDA 12.9 or newer" in answer.err


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--json",)])
def test_an_architecture_that_means_nothing_is_named(fictl, twice: Path, words) -> None:
    answer = fictl("build", "twice", "--arch", "8.0 9x", *words)
    assert answer.code == 2
    said = answer.document["error"]["message"] if "--json" in words else answer.err
    assert "unknown architecture '9x'" in said


def test_an_architecture_that_the_op_is_not_for_is_refused(fictl, twice: Path, use_nvcc) -> None:
    use_nvcc("12.8")
    answer = fictl("build", "twice", "--arch", "7.5")
    assert answer.code == 2
    assert "elementwise.twice is for >=8.0, not for 7.5 (flag)" in answer.err


def test_an_unknown_op_is_named_with_the_nearest(fictl, twice: Path) -> None:
    answer = fictl("build", "twise")
    assert answer.code == 2
    assert "there is no op 'twise'" in answer.err
    assert "did you mean 'twice'?" in answer.err


@pytest.mark.needs_nvcc
def test_a_source_that_does_not_compile_is_told_in_a_few_lines(fictl, twice: Path) -> None:
    (twice / "launcher.cu").write_text('#include "not_here.h"\n')
    answer = fictl("build", "twice")
    assert answer.code == 1
    assert "elementwise.twice does not build:" in answer.err
    assert "not_here.h: No such file or directory" in answer.err
    assert "hint: is its folder in include_dirs" in answer.err
    assert "Traceback" not in answer.err + answer.out
    (log,) = re.findall(r"^  log: (.+)$", answer.err, re.MULTILINE)
    assert "not_here.h" in Path(log).read_text()


@pytest.mark.needs_nvcc
def test_a_failed_build_is_an_item_of_the_document(fictl, twice: Path) -> None:
    (twice / "launcher.cu").write_text('#error "half done"\n')
    answer = fictl("build", "twice", "--json")
    assert answer.code == 1
    assert answer.document["ok"] is False
    (built,) = answer.document["data"]
    assert (built["path"], built["compiled"]) == ("", False)
    assert "half done" in built["error"]["message"]
    assert "log: " in built["error"]["hint"]


def test_without_a_compiler_it_is_the_machines_fault(fictl, twice: Path, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_NVCC", "/nowhere/nvcc")
    answer = fictl("build", "twice")
    assert answer.code == 3
    assert "/nowhere/nvcc" in answer.err


@pytest.mark.needs_nvcc
def test_time_builds_what_is_missing_and_says_where_a_cold_build_spends_its_time(
    fictl, twice: Path
) -> None:
    answer = fictl("build", "twice", "--time", "--json")
    assert answer.code == 0
    (built,) = answer.document["data"]
    assert built["compiled"] is True
    assert {phase["unit"] for phase in built["phases"]} == {"launcher.cu", "binding.cpp", ""}
    assert "cuda_runtime.h" in [header["name"] for header in built["headers"]]
    assert built["last_edit"] is None
    assert "time" not in built
    assert "elementwise.twice: timing launcher.cu" in answer.err


@pytest.mark.needs_nvcc
def test_time_is_shown_below_the_build(fictl, twice: Path) -> None:
    lines = fictl("build", "twice", "--time").out.splitlines()
    assert lines[0].startswith("✓ elementwise.twice")
    assert any(line.strip().startswith("cold, one unit after another: ") for line in lines)


@pytest.mark.needs_nvcc
def test_time_of_a_module_that_does_not_build_is_its_diagnosis(fictl, twice: Path) -> None:
    (twice / "launcher.cu").write_text('#error "half done"\n')
    answer = fictl("build", "twice", "--time")
    assert answer.code == 1
    assert "half done" in answer.err
    assert "cold" not in answer.out


def test_time_and_a_dry_run_contradict_each_other(fictl, twice: Path) -> None:
    answer = fictl("build", "--time", "--dry-run")
    assert answer.code == 2
    assert "--time measures compiles, --dry-run runs none" in answer.err


@pytest.fixture
def emulator() -> None:
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")


def test_a_dry_run_shows_how_it_is_emulated(fictl, twice: Path, emulator: None) -> None:
    answer = fictl("build", "twice", "--device", "emu", "--dry-run", "--json")
    assert answer.code == 0
    (plan,) = answer.document["data"]
    assert (plan["archs"], plan["origin"], plan["variant"]) == ([], "emulated", "fast")
    assert set(plan["flags"]) == {"emu", "cxx", "link"}
    assert "-DFICTL_EMU=1" in plan["flags"]["emu"]
    assert not any("nvcc" in Path(words.split()[0]).name for words in plan["commands"])


def test_a_build_for_the_emulated_device_says_so(
    fictl, twice: Path, emulator: None, users_cache: None
) -> None:
    answer = fictl("build", "twice", "--device", "emu")
    assert answer.code == 0
    first, place = answer.out.splitlines()
    assert first.startswith("✓ elementwise.twice  ")
    manifest = json.loads((Path(place.strip()).expanduser() / "manifest.json").read_text())
    assert (manifest["device"], manifest["archs"]) == ("emu", [])


def test_architectures_and_the_emulated_device_contradict_each_other(fictl, twice: Path) -> None:
    answer = fictl("build", "twice", "--device", "emu", "--arch", "9.0a")
    assert answer.code == 2
    assert "--arch names GPUs, and --device emu uses none" in answer.err


@pytest.mark.parametrize(
    ("words", "environment"),
    [(("--arch", "8.0"), {}), ((), {"FICTL_CUDA_ARCH_LIST": "8.0"}), (("--device", "cuda"), {})],
)
def test_who_names_architectures_or_cuda_means_gpus(
    fictl, twice: Path, use_nvcc, monkeypatch, words, environment
) -> None:
    use_nvcc("12.8")
    for name, value in {"FICTL_DEVICE": "emu", **environment}.items():
        monkeypatch.setenv(name, value)
    (plan,) = fictl("build", "twice", *words, "--dry-run", "--json").document["data"]
    assert (plan["archs"], "nvcc" in plan["flags"]) == (["8.0"], True)


def test_the_environment_may_say_that_it_is_emulated(
    fictl, twice: Path, emulator: None, monkeypatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    (plan,) = fictl("build", "twice", "--dry-run", "--json").document["data"]
    assert plan["origin"] == "emulated"


def test_a_device_that_means_nothing_is_named(fictl, twice: Path) -> None:
    answer = fictl("build", "twice", "--device", "tpu")
    assert answer.code == 2
    assert "--device='tpu' cannot be read: expected one of cuda, emu" in answer.err


def test_without_headers_it_cannot_be_emulated_here(fictl, twice: Path, monkeypatch) -> None:
    monkeypatch.setattr("fictl.toolchain.headers.find_headers", lambda: None)
    monkeypatch.setattr("fictl.emu.toolchain.find_headers", lambda: None)
    answer = fictl("build", "twice", "--device", "emu")
    assert answer.code == 3
    assert "no CUDA headers" in answer.err
    assert "pip install nvidia-cuda-runtime" in answer.err
