"""The flags that emulated code needs, whatever the variant and the compiler."""

from __future__ import annotations

import pytest

from fictl.emu.flags import VARIANTS, cxx_flags, kernel_flags, link_flags

INSTRUMENTATION = {"-fsanitize=thread", "-fsanitize=alignment,bounds"}
WRAPPED = {"-Wl,--wrap=memcpy", "-Wl,--wrap=memmove", "-Wl,--wrap=memset"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_code_of_cuda_is_compiled_by_the_rules_that_it_is_written_for(variant: str) -> None:
    assert {
        "-std=c++17",
        "-DFICTL_EMU=1",
        "-fno-strict-aliasing",
        "-fwrapv",
        "-ffp-contract=off",
        "-fstack-clash-protection",
    } <= set(kernel_flags(variant, (), ()))


@pytest.mark.parametrize("variant", VARIANTS)
def test_only_check_mode_is_instrumented(variant: str) -> None:
    checked = variant == "check"
    assert (set(kernel_flags(variant, (), ())) >= INSTRUMENTATION) == checked
    assert not INSTRUMENTATION & set(cxx_flags(variant, ()))
    assert (set(link_flags(variant)) >= WRAPPED) == checked


@pytest.mark.parametrize("variant", VARIANTS)
def test_reports_can_name_lines_in_every_variant(variant: str) -> None:
    flags = kernel_flags(variant, (), ())
    debug = "-g" if variant == "debug" else "-g1"
    # Why the order: -gdwarf-4 would raise -g1 to -g2.
    assert flags.index("-gdwarf-4") < flags.index(debug)


def test_of_nvccs_flags_the_macros_count() -> None:
    flags = kernel_flags("fast", ["-DA=1", "-use_fast_math", "-UB", "-Xptxas=-v"], ["-Wextra"])
    assert flags[-3:] == ("-DA=1", "-UB", "-Wextra")


def test_a_binding_is_compiled_as_an_emulated_one() -> None:
    assert "-DFICTL_EMU=1" in cxx_flags("fast", ())
    assert cxx_flags("fast", ["-Wextra"])[-1] == "-Wextra"


def test_an_undefined_name_is_an_error_of_the_link() -> None:
    assert "-Wl,--no-undefined" in link_flags("fast")
