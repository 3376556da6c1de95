"""The platform tag: what a module needs, as manylinux counts it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.jit.store.entry import MODULE, Entry
from fictl.jit.store.platform import Platform
from fictl.ship import platform_tag as module
from fictl.ship.platform_tag import platform_tag

X86 = "x86_64-linux-glibc2.17"


@pytest.fixture
def entries(
    fake_build: Callable[..., Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[Entry]]:
    """Builds of these platforms, which need these libraries."""

    def make(*platforms: str, libraries: tuple[str, ...] = ()) -> list[Entry]:
        made = [fake_build(tmp_path / f"r{n}" / "b") for n, _ in enumerate(platforms)]
        by_file = {e.module: Platform.parse(p) for e, p in zip(made, platforms, strict=True)}
        monkeypatch.setattr(module, "measured", by_file.__getitem__)
        monkeypatch.setattr(module, "_needed", lambda path: iter(libraries))
        return made

    return make


@pytest.mark.parametrize(
    ("platform", "tag"),
    [
        ("x86_64-linux-glibc2.5", "manylinux_2_17_x86_64"),
        ("x86_64-linux-glibc2.28", "manylinux_2_28_x86_64"),
        ("aarch64-linux-glibc2.34", "manylinux_2_34_aarch64"),
        ("x86_64-linux-glibc2.36", "manylinux_2_36_x86_64"),
        ("x86_64-linux-glibc2.43-glibcxx3.4.33", "manylinux_2_43_x86_64"),
        ("x86_64-linux-glibc2.2.5", "manylinux_2_17_x86_64"),
        ("x86_64-linux-glibc", "manylinux_2_17_x86_64"),
    ],
)
def test_the_tag_is_the_oldest_glibc_that_loads_it(entries, platform: str, tag: str) -> None:
    assert platform_tag(entries(platform)) == tag


@pytest.mark.parametrize(
    ("cxx", "tag"),
    [
        ("glibcxx3.4.19-cxxabi1.3.7", "manylinux_2_17_x86_64"),
        ("glibcxx3.4.20", "manylinux_2_24_x86_64"),
        ("glibcxx3.4.26-cxxabi1.3.9", "manylinux_2_31_x86_64"),
        ("glibcxx3.4.29", "manylinux_2_34_x86_64"),
        ("glibcxx3.4.30", "manylinux_2_35_x86_64"),
        ("glibcxx3.4.11-cxxabi1.3.15", "manylinux_2_39_x86_64"),
    ],
)
def test_a_newer_c_plus_plus_library_asks_for_a_newer_manylinux(
    entries, cxx: str, tag: str
) -> None:
    assert platform_tag(entries(f"{X86}-{cxx}")) == tag


def test_a_wheel_has_the_tag_of_its_most_demanding_module(entries) -> None:
    builds = entries(X86, f"{X86}-glibcxx3.4.30", "x86_64-linux-glibc2.34")
    assert platform_tag(builds) == "manylinux_2_35_x86_64"


REFUSED = {
    "musl": (("x86_64-linux-musl",), "manylinux is for Linux with glibc"),
    "a C++ library of tomorrow": ((f"{X86}-glibcxx3.4.99",), "no manylinux promises a libstdc"),
    "its ABI": ((f"{X86}-glibcxx3.4.1-cxxabi1.3.99",), "no manylinux promises a libstdc"),
    "two CPUs": ((X86, "aarch64-linux-glibc2.28"), "several CPUs: aarch64, x86_64"),
}


@pytest.mark.parametrize(("platforms", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_fits_no_manylinux_is_refused_in_words(entries, platforms, reason: str) -> None:
    with pytest.raises(SetupError, match=reason) as caught:
        platform_tag(entries(*platforms))
    assert caught.value.hint


def test_a_library_that_may_be_absent_is_refused_by_name(entries) -> None:
    needed = ("libc.so.6", "libtvm_ffi.so", "ld-linux-aarch64.so.1", "libnccl.so.2")
    with pytest.raises(SetupError, match=r"local/answer needs libnccl\.so\.2, which no manylinux"):
        platform_tag(entries(X86, libraries=needed))


def test_the_cuda_runtime_of_the_build_changes_no_tag(entries) -> None:
    builds = entries(X86, libraries=("libc.so.6", "libcudart.so.13"))
    assert platform_tag(builds) == "manylinux_2_17_x86_64"


def test_the_runtime_of_another_cuda_is_refused(entries) -> None:
    with pytest.raises(SetupError, match=r"needs libcudart\.so\.12, which no manylinux"):
        platform_tag(entries(X86, libraries=("libcudart.so.12",)))


def test_what_is_no_library_is_refused(fake_build, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="is not an ELF file"):
        platform_tag([fake_build(tmp_path / "recipe" / "build")])


def test_a_real_library_is_read(fake_build, tmp_path: Path) -> None:
    entry = fake_build(tmp_path / "recipe" / "build")
    source = tmp_path / "a.cpp"
    source.write_text('#include <cstdio>\nextern "C" int f() { return puts(""); }\n')
    command = ["c++", "-shared", "-fPIC", str(source), "-lm", "-Wl,--no-as-needed", "-lresolv"]
    subprocess.run([*command, "-o", str(entry.path / MODULE)], check=True)
    with pytest.raises(SetupError, match=r"needs libresolv\.so\.2"):
        platform_tag([entry])
    subprocess.run([*command[:-2], "-o", str(entry.path / MODULE)], check=True)
    assert platform_tag([entry]).startswith("manylinux_2_")


@pytest.mark.skipif(find_spec("auditwheel") is None, reason="needs auditwheel")
def test_auditwheel_promises_the_same() -> None:
    spec = find_spec("auditwheel")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "policy" / "manylinux-policy.json"
    policies = {policy["name"]: policy for policy in json.loads(path.read_text())}
    for glibc, *ours in module._PROMISED:
        symbols = policies["manylinux_{}_{}".format(*glibc)]["symbol_versions"]["x86_64"]
        theirs = [max(map(_numbers, symbols[name])) for name in ("GLIBCXX", "CXXABI")]
        assert ours == theirs, glibc
    whitelist = set(policies["manylinux_2_17"]["lib_whitelist"])
    assert whitelist >= module._EVERYWHERE


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
