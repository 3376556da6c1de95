"""Which builds other machines may have, and why the others not."""

from __future__ import annotations

import pytest

from fictl.jit.store.shareable import unshareable
from fictl.paths import own_folders

PLATFORM = "x86_64-linux-glibc2.34"


@pytest.mark.parametrize(("device", "variant"), [("cuda", "release"), ("emu", "fast")])
def test_plain_builds_are_shared(tmp_path, fake_build, device, variant):
    flags = {"kernel": ["-O3", "-gdwarf-4"], "cxx": ["-march=x86-64-v3", "-DGONE=1"]}
    entry = fake_build(
        tmp_path / "r" / "b", device=device, variant=variant, platform=PLATFORM, flags=flags
    )
    assert unshareable(entry) == ""


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"variant": "debug"}, "it is a debug build: only release builds"),
        ({"variant": "lineinfo"}, "it is a lineinfo build"),
        ({"variant": "profile"}, "it is a profile build"),
        ({"device": "emu", "variant": "check"}, "it is a check build: only fast builds"),
        ({"device": "emu", "variant": "release"}, "it is a release build: only fast builds"),
        ({"device": "tpu"}, "the device tpu are not known"),
        ({"platform": ""}, "its platform is not known"),
        ({"flags": {"cxx": ["-march=native"]}}, "CPU of its own machine, with -march=native"),
        ({"flags": {"kernel": ["-Xcompiler=-O2,-mtune=native"]}}, "with -mtune=native"),
        ({"flags": {"environment": ["-O3 -Xcompiler -mcpu=native", ""]}}, "with -mcpu=native"),
        ({"flags": {"kernel": ["-lineinfo"]}}, "because of -lineinfo"),
        ({"flags": {"environment": ["", "-O3 --generate-line-info"]}}, "of --generate-line-info"),
        ({"flags": {"kernel": ["-G"]}}, "because of -G"),
    ],
)
def test_other_builds_are_refused_in_words(tmp_path, fake_build, facts, reason):
    entry = fake_build(tmp_path / "r" / "b", **{"platform": PLATFORM, **facts})
    assert reason in unshareable(entry)


@pytest.mark.parametrize("what", own_folders())
def test_a_build_that_names_a_folder_of_this_machine_is_refused(tmp_path, fake_build, what):
    path = own_folders()[what] / "kernels" / "launcher.cu"
    content = b"\0" + bytes(path) + b"\0"
    entry = fake_build(tmp_path / "r" / "b", content, platform=PLATFORM)
    assert "module.so names a file in /" in unshareable(entry)
