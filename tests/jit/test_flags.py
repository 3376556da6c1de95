"""The flags of each variant."""

from __future__ import annotations

import pytest

from fictl.jit.flags import current_variant, semantic_flags


@pytest.mark.parametrize(
    ("settings", "variant", "nvcc", "cxx"),
    [
        ({}, "release", {"-O3"}, {"-O1"}),
        ({"FICTL_JIT_LINEINFO": "1"}, "lineinfo", {"-O3", "-lineinfo"}, {"-O1", "-g1"}),
        ({"FICTL_JIT_PROFILE": "1"}, "profile", {"-O3", "-DFICTL_PROFILE=1"}, {"-O1"}),
        ({"FICTL_JIT_DEBUG": "1"}, "debug", {"-O0", "-g", "-G"}, {"-O0", "-g"}),
        (
            {"FICTL_JIT_DEBUG": "1", "FICTL_JIT_LINEINFO": "1", "FICTL_JIT_PROFILE": "1"},
            "debug",
            {"-O0", "-g", "-G"},
            {"-O0", "-g"},
        ),
    ],
)
def test_each_variant_has_its_flags(answer, monkeypatch, settings, variant, nvcc, cxx):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    flags = semantic_flags(answer())
    assert current_variant() == flags.variant == variant
    assert nvcc <= set(flags.kernel)
    assert cxx <= set(flags.cxx)
    assert ("-Wl,-s" in flags.link) == (variant in ("release", "profile"))


def test_the_spec_s_and_the_environment_s_flags_come_last_in_that_order(answer, monkeypatch):
    for name in ("CFLAGS", "CUDAFLAGS", "LDFLAGS"):
        monkeypatch.setenv(f"FICTL_EXTRA_{name}", f"-D{name} '-DTEXT=two words'")
    flags = semantic_flags(
        answer(extra_cflags=["-Da"], extra_cuda_cflags=["-use_fast_math"], extra_ldflags=["-lm"])
    )
    assert flags.cxx[-3:] == ("-Da", "-DCFLAGS", "-DTEXT=two words")
    assert flags.kernel[-3:] == ("-use_fast_math", "-DCUDAFLAGS", "-DTEXT=two words")
    assert flags.link[-3:] == ("-lm", "-DLDFLAGS", "-DTEXT=two words")


@pytest.mark.parametrize(
    ("settings", "variant"),
    [
        ({}, "fast"),
        ({"FICTL_EMU_CHECK": "1"}, "check"),
        ({"FICTL_EMU_CHECK": "1", "FICTL_JIT_PROFILE": "1"}, "profile"),
        ({"FICTL_JIT_DEBUG": "1", "FICTL_EMU_CHECK": "1"}, "debug"),
        ({"FICTL_JIT_LINEINFO": "1"}, "fast"),
    ],
)
def test_the_emulated_device_has_variants_of_its_own(answer, monkeypatch, settings, variant):
    for name, value in {"FICTL_DEVICE": "emu", **settings}.items():
        monkeypatch.setenv(name, value)
    assert current_variant("emu") == semantic_flags(answer()).variant == variant


def test_the_emulated_device_takes_nvccs_macros_and_none_of_its_other_flags(answer, monkeypatch):
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    spec = answer(extra_cuda_cflags=["-use_fast_math", "-DTILE=4"], extra_cflags=["-Wextra"])
    kernel = semantic_flags(spec).kernel
    assert {"-DTILE=4", "-Wextra"} <= set(kernel)
    assert not {"-use_fast_math", "--expt-relaxed-constexpr"} & set(kernel)


def test_only_the_profile_variant_has_the_macro_that_kernels_record_by(answer, monkeypatch) -> None:
    macro = "-DFICTL_PROFILE=1"
    for device in ("cuda", "emu"):
        monkeypatch.setenv("FICTL_DEVICE", device)
        monkeypatch.delenv("FICTL_JIT_PROFILE", raising=False)
        assert macro not in semantic_flags(answer()).kernel
        monkeypatch.setenv("FICTL_JIT_PROFILE", "1")
        assert macro in semantic_flags(answer()).kernel


def test_verbose_changes_no_flag(answer, monkeypatch):
    before = semantic_flags(answer())
    monkeypatch.setenv("FICTL_JIT_VERBOSE", "1")
    assert semantic_flags(answer()) == before


def test_an_undefined_name_is_an_error_of_the_link(answer):
    assert "-Wl,--no-undefined" in semantic_flags(answer()).link
