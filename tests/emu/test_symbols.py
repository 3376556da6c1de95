"""Addresses become lines, with either addr2line, and nothing is lost where there is none."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fictl.emu import symbols
from fictl.emu.flags import kernel_flags
from fictl.emu.symbols import Frame, frames, plain_name
from fictl.process import ask
from fictl.toolchain import find_cxx

# `Inner`, inlined into `Outer`, is where the nop is.
INNER = 'template <class T>\ninline void Inner(T) {\n  asm volatile("nop");\n}\n'
OUTER = '#include "inner.cuh"\nextern "C" void Outer(int n) {\n  Inner(n);\n}\n'


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("module")
    (folder / "inner.cuh").write_text(INNER)
    source = folder / "outer.cpp"
    source.write_text(OUTER)
    library = folder / "module.so"
    flags = [*kernel_flags("fast", (), ()), "-fvisibility=default", "-shared"]
    subprocess.run([find_cxx().ccbin, *flags, source, "-o", library], check=True)
    return library


@pytest.fixture(scope="module")
def nop(module: Path) -> int:
    """The address of the instruction."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "--disassemble=Outer", module],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.search(r"^\s*([0-9a-f]+):\s+nop$", listing, re.MULTILINE)
    assert found, listing
    return int(found[1], 16)


@pytest.mark.parametrize("tool", symbols._TOOLS)
def test_an_address_is_the_chain_of_inlined_calls_there(module, nop, tool, monkeypatch) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"needs {tool}")
    monkeypatch.setattr(symbols, "_TOOLS", (tool,))
    folder = module.parent
    assert frames(str(module), [nop])[nop] == (
        Frame("Inner<int>", str(folder / "inner.cuh"), 3),
        Frame("Outer", str(folder / "outer.cpp"), 3),
    )


@pytest.mark.parametrize(
    "file", [symbols.HEADERS / "fictl_emu/launch.h", symbols.RUNTIME / "launch.cpp"]
)
def test_the_emulator_is_known_wherever_the_checkout_lay(file: Path) -> None:
    """A build from the cache has the paths of the checkout that made it."""
    elsewhere = Path("/elsewhere/checkout") / file.relative_to(symbols.HEADERS.parents[2])
    assert Frame("__invoke", str(elsewhere), 18).is_emulator
    assert not Frame("__invoke", "/elsewhere/checkout/kernels/launcher.cu", 18).is_emulator


def test_each_of_many_addresses_has_its_own_chain(module, nop) -> None:
    found = frames(str(module), [0xFFFFFF, nop, nop])
    assert list(found) == [nop, 0xFFFFFF]
    assert (len(found[nop]), found[0xFFFFFF]) == (2, ())


@pytest.fixture
def asked(monkeypatch) -> list[list[str]]:
    """The commands that addr2line was asked with."""
    commands: list[list[str]] = []

    def recording(argv: list[str]) -> object:
        commands.append(argv)
        return ask(argv)

    monkeypatch.setattr(symbols, "ask", recording)
    return commands


def test_an_address_is_looked_up_once(module, nop, asked, tmp_path) -> None:
    copy = str(shutil.copy(module, tmp_path / "copy.so"))
    assert frames(copy, [nop]) == frames(copy, [nop])
    assert frames(copy, [nop, nop + 1])[nop]
    assert [command[command.index("-C") + 1 :] for command in asked] == [
        [f"{nop:#x}"],
        [f"{nop + 1:#x}"],
    ]


def test_a_file_that_was_built_anew_is_read_anew(module, nop, asked, tmp_path) -> None:
    copy = shutil.copy(module, tmp_path / "copy.so")
    frames(str(copy), [nop])
    copy.write_bytes(module.read_bytes() + b"\0")
    assert frames(str(copy), [nop])[nop]
    assert len(asked) == 2


def test_an_answer_that_failed_is_asked_for_again(module, nop, monkeypatch, tmp_path) -> None:
    copy = str(shutil.copy(module, tmp_path / "copy.so"))
    with monkeypatch.context() as patch:
        patch.setattr(symbols, "ask", lambda argv: ask(["false"]))
        assert frames(copy, [nop]) == {nop: ()}
    assert frames(copy, [nop])[nop]


def test_without_addr2line_nothing_is_known(module, nop, monkeypatch) -> None:
    monkeypatch.setattr(symbols, "find_tool", lambda name: None)
    assert frames(str(module), [nop]) == {nop: ()}


def test_of_a_module_that_is_gone_nothing_is_known(tmp_path: Path) -> None:
    assert frames(str(tmp_path / "gone.so"), [1, 2]) == {1: (), 2: ()}


def test_an_addr2line_that_fails_is_none(module, nop, script, monkeypatch) -> None:
    broken = script("addr2line", "echo 'cannot read it' >&2; exit 1")
    monkeypatch.setattr(symbols, "find_tool", lambda name: broken)
    assert frames(str(module), [nop]) == {nop: ()}


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        ("Scale", "Scale"),
        ("Scale(float*, int)", "Scale"),
        ("void Scale<__half, 8>(__half*, int)", "Scale<__half, 8>"),
        ("void mine::Scale<std::pair<int, int> >(int)", "mine::Scale<std::pair<int, int> >"),
        ("void (anonymous namespace)::Scale<float>(float*)", "(anonymous namespace)::Scale<float>"),
        ("std::pair<int, long> Both(int)", "Both"),
        ("void mine::Call::operator()(int) const", "mine::Call::operator()"),
        ("void Call<void (*)(int)>(void (*)(int))", "Call<void (*)(int)>"),
    ],
)
def test_a_kernel_is_named_without_the_types_around_it(signature: str, name: str) -> None:
    assert plain_name(signature) == name


@pytest.mark.parametrize("text", ["", "??", "a)b(", "Half<Open"])
def test_what_is_no_signature_stays_as_it_is(text: str) -> None:
    assert plain_name(text) == text
