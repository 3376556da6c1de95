"""A unit compiled, read and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.errors import SetupError
from fictl.inspect import compiled, modules
from fictl.inspect.compile_unit import compile_unit
from fictl.inspect.modules import inspect_specs
from fictl.jit import JitSpec, gen_jit_spec
from fictl.jit.build import plan_build
from fictl.jit.cache.integrity import check_store
from fictl.jit.progress import LogObserver
from fictl.jit.store import kept
from fictl.jit.store.kept import RECORD
from fictl.jit.store.stores import writable_store
from fictl.toolchain import find_tool

HOPPER = (Arch.parse("9.0a"),)
ADD = """__global__ void __launch_bounds__(64) Add(float* x) {
  x[threadIdx.x] += 1.0f;
}
"""


@pytest.fixture
def disassembler() -> None:
    if find_tool("nvdisasm") is None:
        pytest.skip("needs nvdisasm")


@pytest.fixture
def add(tmp_path: Path) -> JitSpec:
    """A file with one kernel."""
    (tmp_path / "add.cu").write_text(ADD)
    return gen_jit_spec("add", [tmp_path / "add.cu"])


@pytest.mark.needs_nvcc
@pytest.mark.usefixtures("disassembler")
def test_what_was_read_once_is_not_compiled_again(add: JitSpec, monkeypatch) -> None:
    (first,) = inspect_specs([add], HOPPER, LogObserver())
    monkeypatch.setattr(modules, "compile_unit", None)
    (again,) = inspect_specs([add], HOPPER, LogObserver())
    assert first.error is None
    assert again.kernels == first.kernels
    (kernel,) = again.kernels
    assert (kernel.name, kernel.threads, kernel.mix) == ("Add", 64, {"LDG.32": 1, "STG.32": 1})
    (unit,) = again.units
    assert {str(each.place) for each in unit.sass()[kernel.mangled]} <= {
        "add.cu:1",
        "add.cu:2",
        "add.cu:3",
    }
    assert ".entry" in unit.ptx()
    assert 0 < unit.peaks()[kernel.mangled].live <= kernel.registers
    assert check_store(writable_store()).broken == ()  # The cache knows what it is.


@pytest.mark.needs_nvcc
@pytest.mark.usefixtures("disassembler")
def test_a_unit_without_kernels_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.cu").write_text("int nothing() { return 0; }\n")
    spec = gen_jit_spec("empty", [tmp_path / "empty.cu"])
    (found,) = inspect_specs([spec], HOPPER, LogObserver())
    assert (found.kernels, found.note, found.error) == ((), "it has no kernel", None)


def test_where_nothing_may_be_compiled_it_says_so(tmp_path: Path, use_nvcc, monkeypatch) -> None:
    use_nvcc("13.0")
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    plan = plan_build(gen_jit_spec("a", [tmp_path / "a.cu"]), HOPPER)
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(SetupError, match="FICTL_DISABLE_JIT forbids"):
        compile_unit(plan, plan.units[0], HOPPER[0])


def test_without_a_disassembler_nothing_is_compiled(tmp_path: Path, use_nvcc, monkeypatch) -> None:
    use_nvcc("13.0")
    monkeypatch.setattr("fictl.inspect.disassembler.find_tool", lambda name: None)
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    (found,) = inspect_specs([gen_jit_spec("a", [tmp_path / "a.cu"])], HOPPER, LogObserver())
    assert isinstance(found.error, SetupError)
    assert "nvdisasm" in found.error.message


@pytest.mark.parametrize("text", ["", "{}", '{"kernels": [{}], "roots": {}}', "[1]"])
def test_what_cannot_be_read_is_as_good_as_nothing(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "module" / "inspect" / "key"
    folder.mkdir(parents=True)
    (folder / RECORD).write_text(text)
    assert compiled.find(folder) is None
    assert compiled.find(folder.with_name("nowhere")) is None


def _kept(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "unit.cubin").write_bytes(b"cubin 1")
    (folder / "src").mkdir()
    (folder / "src" / "config.inc").write_text("#define N 1")
    roots = {"base": "/a", "include_dirs": [], "rendered": "/b"}
    kept.write(folder, {"kernels": [], "roots": roots})
    return folder


@pytest.mark.parametrize("name", [RECORD, "unit.cubin", "src/config.inc"])
def test_a_changed_digit_is_noticed_said_and_made_again(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _kept(tmp_path / "module" / "inspect" / "key")
    assert compiled.find(folder)
    whole = (folder / name).read_bytes()
    for at, byte in enumerate(whole):
        if not chr(byte).isdigit():
            continue
        changed = bytes([*whole[:at], byte ^ 1, *whole[at + 1 :]])
        (folder / name).write_bytes(changed)
        caplog.clear()
        assert compiled.find(folder) is None
        assert "corrupt record" in caplog.text
        assert not folder.exists()
        _kept(folder)


def test_whoever_publishes_second_takes_what_is_there(tmp_path: Path) -> None:
    for name in ("first", "second"):
        _kept(tmp_path / name)
        compiled.publish(tmp_path / name, tmp_path / "inspect" / "key")
    assert compiled.find(tmp_path / "inspect" / "key")
    assert (tmp_path / "second").is_dir()


def test_whoever_publishes_over_what_is_broken_replaces_it(tmp_path: Path) -> None:
    broken, good = tmp_path / "key", tmp_path / "good"
    _kept(good)
    broken.mkdir()
    (broken / RECORD).write_text("half")
    compiled.publish(good, broken)
    assert compiled.find(broken)
