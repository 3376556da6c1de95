from __future__ import annotations

import pytest

from fictl import toolchain
from fictl.arch import Arch
from fictl.errors import SetupError
from fictl.toolchain import can_target


@pytest.mark.parametrize(
    ("release", "has", "lacks"),
    [
        ("12.6", "7.0 9.0 9.0a", "10.0 10.0a 12.0a"),
        ("12.8", "9.0a 10.0a 12.0 12.0a", "10.0f 10.3 10.3a 12.0f 12.1a"),
        ("12.9", "10.0f 10.3a 12.0f 12.1a", "8.8 11.0 11.0a"),
        ("13.0", "7.5 8.8 10.3a 11.0a 12.1f", "7.0 10.1a"),
    ],
)
def test_each_release_is_believed_in_its_own_words(use_nvcc, release, has, lacks):
    nvcc = use_nvcc(release)
    assert [can_target(nvcc, Arch.parse(token)) for token in has.split()].count(False) == 0
    assert [can_target(nvcc, Arch.parse(token)) for token in lacks.split()].count(True) == 0


def test_ptx_is_asked_for_as_its_target(use_nvcc):
    assert can_target(use_nvcc("12.8"), Arch.parse("8.0+PTX"))


def test_an_answer_outlives_the_process(use_nvcc):
    nvcc = use_nvcc("12.8")
    can_target(nvcc, Arch(10, 3, "a"))
    before = (nvcc.home / "calls").read_text()
    toolchain.forget()
    assert not can_target(nvcc, Arch(10, 3, "a"))
    assert (nvcc.home / "calls").read_text() == before


def test_the_answers_of_one_build_are_not_those_of_another(use_nvcc, stand_in_nvcc):
    old = use_nvcc("12.8")
    assert not can_target(old, Arch(10, 3, "a"))
    stand_in_nvcc("12.9", old.home)
    toolchain.forget()
    new = toolchain.find_nvcc()
    assert new is not None
    assert can_target(new, Arch(10, 3, "a"))


def test_an_nvcc_that_fails_in_other_words_is_an_error_and_not_a_refusal(use_nvcc):
    nvcc = use_nvcc("12.8")
    nvcc.path.write_text("#!/bin/sh\necho 'cannot open shared object'\nexit 127\n")
    with pytest.raises(SetupError, match=r"does not say .* sm_90a: 'cannot open shared object'"):
        can_target(nvcc, Arch(9, 0, "a"))


def test_the_real_nvcc_agrees_with_its_own_list(real_nvcc):
    listed = toolchain.capability.ask([real_nvcc.path, "--list-gpu-code"]).output.split()
    assert all(can_target(real_nvcc, Arch.parse(code)) for code in listed)


@pytest.mark.parametrize("token", ["9.0a", "10.3a", "5.2", "15.0"])
def test_the_real_nvcc_targets_what_its_release_has(real_nvcc, token):
    arch = Arch.parse(token)
    first = tuple(map(int, arch.first_cuda.split("."))) if arch.first_cuda else (99, 0)
    assert can_target(real_nvcc, arch) == (real_nvcc.version >= first)
