from __future__ import annotations

import pytest

from fictl.arch import Arch, ArchRule, parse_archs, spell
from fictl.errors import InvalidValue, SetupError, UsageError
from fictl.toolchain import Gpu, Probe, Targets, arch_request, defines, nvcc_flags, select_targets

H200 = Gpu(0, "NVIDIA H200", Arch(9, 0))
A100 = Gpu(1, "NVIDIA A100", Arch(8, 0))
B300 = Gpu(0, "NVIDIA B300", Arch(10, 3))
RTX5090 = Gpu(0, "NVIDIA GeForce RTX 5090", Arch(12, 0))
ANY = ">=8.0"


def select(nvcc=None, rule=ANY, gpus=(), **options) -> Targets:
    return select_targets("rmsnorm", ArchRule.parse(rule), nvcc, gpus=gpus, **options)


def archs(*args, **options) -> str:
    return spell(select(*args, **options).archs)


def switch_on(monkeypatch: pytest.MonkeyPatch, listed: str = "", switches: str = "") -> None:
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", listed)
    for name in switches.split():
        monkeypatch.setenv(f"FICTL_ENABLE_{name}", "1")


# Where the targets come from.


def test_a_flag_beats_everything(monkeypatch):
    switch_on(monkeypatch, "8.0", "SM120A")
    chosen = select(gpus=(H200,), explicit=parse_archs("8.6 8.9"))
    assert (spell(chosen.archs), chosen.origin) == ("8.6 8.9", "flag")


def test_the_list_beats_the_gpus(monkeypatch):
    switch_on(monkeypatch, "8.0 8.6")
    chosen = select(gpus=(H200,), fallback="9.0a")
    assert (spell(chosen.archs), chosen.origin) == ("8.0 8.6", "FICTL_CUDA_ARCH_LIST")


def test_gpus_from_hopper_on_get_the_target_with_all_their_features():
    chosen = select(gpus=(H200, A100), fallback="8.9")
    assert (spell(chosen.archs), chosen.origin) == ("8.0 9.0a", "GPUs present")


def test_without_list_and_gpu_the_project_decides():
    chosen = select(fallback="8.0 9.0a")
    assert (spell(chosen.archs), chosen.origin) == ("8.0 9.0a", "fictl.toml")


@pytest.mark.parametrize("fallback", ["", "8.0", "8.0 12.0"])
def test_an_op_for_one_target_is_built_for_it_where_no_gpu_and_no_list_is(fallback):
    chosen = select(rule="9.0a", fallback=fallback)
    assert (spell(chosen.archs), chosen.origin) == ("9.0a", "op")


def test_a_default_with_that_target_goes_first():
    chosen = select(rule="9.0a 10.0a", fallback="8.0 9.0a")
    assert (spell(chosen.archs), chosen.origin) == ("9.0a", "fictl.toml")


def test_a_rule_with_a_range_has_no_targets_of_its_own():
    with pytest.raises(SetupError, match=r"rmsnorm is for >=10\.0, not for 8\.0 \(fictl\.toml\)"):
        select(rule=">=10.0", fallback="8.0")


def test_native_in_a_list_is_the_gpus_present(monkeypatch):
    switch_on(monkeypatch, "8.0 native")
    assert archs(gpus=(H200,)) == "8.0 9.0a"


def test_the_driver_is_asked_only_where_no_list_is_given(monkeypatch):
    def no_driver() -> Probe:
        raise AssertionError("asked the driver")

    monkeypatch.setattr(arch_request, "probe", no_driver)
    switch_on(monkeypatch, "8.0")
    assert archs(gpus=None) == "8.0"


def test_the_ops_rule_narrows_the_list(monkeypatch):
    switch_on(monkeypatch, "8.0 9.0 10.0a")
    assert archs(rule="9.0a") == "9.0a"


def test_two_spellings_of_one_target_are_built_once(monkeypatch):
    switch_on(monkeypatch, "9.0 9.0a sm_90a")
    assert archs(rule="9.0a") == "9.0a"


def test_without_an_nvcc_nothing_is_dropped():
    chosen = select(None, explicit=parse_archs("15.0"))
    assert (spell(chosen.archs), chosen.dropped) == ("15.0", ())


# What the toolkit lacks.


@pytest.mark.parametrize("release", ["12.6", "12.8"])
def test_a_target_the_toolkit_lacks_is_left_out_with_one_warning(use_nvcc, monkeypatch, release):
    switch_on(monkeypatch, "9.0a 10.3a")
    chosen = select(use_nvcc(release))
    assert spell(chosen.archs) == "9.0a"
    assert chosen.warning == (
        f"nvcc {release} cannot target 10.3a (CUDA 12.9 has it): it is left out"
    )


@pytest.mark.parametrize("release", ["12.9", "13.0"])
def test_a_target_the_toolkit_has_is_built_without_a_warning(use_nvcc, monkeypatch, release):
    switch_on(monkeypatch, "9.0a 10.3a")
    chosen = select(use_nvcc(release))
    assert (spell(chosen.archs), chosen.warning) == ("9.0a 10.3a", "")


def test_several_targets_that_are_left_out_make_one_text(use_nvcc):
    chosen = select(use_nvcc("12.6"), explicit=parse_archs("8.0 10.0a 10.3a"))
    assert [str(each.arch) for each in chosen.dropped] == ["10.0a", "10.3a"]
    assert "CUDA 12.8" in chosen.warning
    assert "CUDA 12.9" in chosen.warning


def test_a_target_that_a_newer_toolkit_gave_up_is_left_out_without_a_version(use_nvcc):
    chosen = select(use_nvcc("13.0"), rule=">=7.0", explicit=parse_archs("7.0 8.0"))
    assert chosen.warning == "nvcc 13.0 cannot target 7.0: it is left out"


def test_a_detected_gpu_falls_back_to_its_plain_target(use_nvcc, stand_in_nvcc):
    nvcc = use_nvcc("12.8")
    script = nvcc.path.read_text().replace("120 120a", "120")
    nvcc.path.write_text(script)
    chosen = select(nvcc, gpus=(RTX5090,))
    assert spell(chosen.archs) == "12.0"
    assert chosen.warning.endswith("12.0 is built instead")


def test_a_listed_target_never_falls_back(use_nvcc, monkeypatch):
    nvcc = use_nvcc("12.8")
    nvcc.path.write_text(nvcc.path.read_text().replace("120 120a", "120"))
    switch_on(monkeypatch, "12.0a")
    with pytest.raises(SetupError, match=r"nvcc 12\.8 cannot target 12\.0a"):
        select(nvcc, gpus=(RTX5090,))


def test_a_gpu_the_toolkit_does_not_know_is_an_error_with_every_fact_and_the_ways_out(use_nvcc):
    with pytest.raises(SetupError) as caught:
        select(use_nvcc("12.8"), gpus=(B300,))
    assert caught.value.message == (
        "rmsnorm (>=8.0) cannot be built for the GPUs present, NVIDIA B300 (10.3): "
        "nvcc 12.8 cannot target 10.3a (CUDA 12.9 has it)"
    )
    for way in ("CUDA 12.9 or newer", "fictl[toolchain]", "FICTL_CUDA_ARCH_LIST=10.0"):
        assert way in caught.value.hint


def test_no_older_target_is_proposed_where_the_op_needs_the_new_one(use_nvcc):
    with pytest.raises(SetupError) as caught:
        select(use_nvcc("12.8"), rule="10.3a", gpus=(B300,))
    assert "FICTL_CUDA_ARCH_LIST=" not in caught.value.hint


# Nothing left to build for.


def test_nothing_at_all_names_what_was_looked_for():
    with pytest.raises(
        SetupError, match="no GPU is visible and FICTL_CUDA_ARCH_LIST is not set"
    ) as e:
        select()
    assert "--arch" in e.value.hint


def test_a_driver_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(
        arch_request, "probe", lambda: Probe((), "the CUDA driver failed: cuInit 999")
    )
    with pytest.raises(SetupError, match="the CUDA driver failed: cuInit 999"):
        select(gpus=None)


def test_native_without_a_gpu_is_an_error_that_quotes_the_list(monkeypatch):
    switch_on(monkeypatch, "native")
    with pytest.raises(SetupError, match="FICTL_CUDA_ARCH_LIST='native' names none"):
        select()


def test_an_empty_flag_is_an_error():
    with pytest.raises(SetupError, match="--arch names none"):
        select(gpus=(H200,), explicit=())


def test_a_gpu_that_the_op_is_not_for_is_the_environments_fault():
    with pytest.raises(SetupError, match=r"is for 10\.0f, not for the GPUs present, NVIDIA H200"):
        select(rule="10.0f", gpus=(H200,))


def test_a_flag_that_the_op_is_not_for_is_a_usage_error():
    with pytest.raises(UsageError, match=r"rmsnorm is for >=9\.0, not for 8\.0 \(flag\)"):
        select(rule=">=9.0", explicit=(Arch(8, 0),))


def test_a_list_that_the_op_is_not_for_is_a_usage_error(monkeypatch):
    switch_on(monkeypatch, "8.0 8.6")
    with pytest.raises(UsageError, match=r"not for 8\.0 8\.6 \(FICTL_CUDA_ARCH_LIST\)"):
        select(rule=">=9.0")


def test_a_token_that_cannot_be_read_is_named(monkeypatch):
    switch_on(monkeypatch, "8.0 ninety")
    with pytest.raises(InvalidValue, match="'ninety'"):
        select()


# The SM12 switches, row by row.


@pytest.mark.parametrize(
    ("listed", "switches", "expected"),
    [
        ("12.0", "", "12.0"),
        ("12.0a", "", "12.0a"),
        ("12.0", "SM120", "12.0"),
        ("12.0", "SM120A", "12.0a"),
        ("12.0", "SM120 SM120A", "12.0 12.0a"),
        ("12.0a", "SM120A", "12.0a"),
        ("12.0a", "SM120", "12.0 12.0a"),
        ("9.0a", "SM120", "9.0a 12.0"),
        ("9.0a", "SM120A", "9.0a 12.0a"),
        ("9.0a", "SM120 SM120A", "9.0a 12.0 12.0a"),
        ("12.0f", "", "12.0f"),
        ("12.1a", "SM120A", "12.0a 12.1a"),
        ("", "SM120", "12.0"),
        ("", "SM120A", "12.0a"),
        ("", "SM120 SM120A", "12.0 12.0a"),
    ],
)
def test_list_and_switches_give(monkeypatch, use_nvcc, listed, switches, expected):
    switch_on(monkeypatch, listed, switches)
    assert archs(use_nvcc("13.0")) == expected


def test_a_switch_adds_to_the_gpus_present(monkeypatch):
    switch_on(monkeypatch, switches="SM120A")
    assert archs(gpus=(H200,)) == "9.0a 12.0a"


def test_a_switch_alone_is_named_as_the_origin(monkeypatch):
    switch_on(monkeypatch, switches="SM120")
    assert select().origin == "FICTL_ENABLE_SM120"


@pytest.mark.parametrize("gpus", [(), (H200,)])
def test_an_op_that_needs_sm12_gets_120a_where_nothing_is_said(gpus):
    chosen = select(rule="12.0a", gpus=gpus, fallback="8.0 9.0a")
    assert (spell(chosen.archs), chosen.origin) == ("12.0a", "op")


def test_an_op_that_needs_sm12_gets_what_the_switch_says(monkeypatch):
    switch_on(monkeypatch, switches="SM120")
    assert archs(rule="12.0") == "12.0"


def test_an_op_that_needs_sm12_takes_the_sm12_gpu_present():
    assert select(rule="12.0a", gpus=(RTX5090,)).origin == "GPUs present"


def test_a_list_without_sm12_is_an_error_for_an_op_that_needs_it(monkeypatch):
    switch_on(monkeypatch, "9.0a")
    with pytest.raises(UsageError, match=r"is for 12\.0a"):
        select(rule="12.0a")


def test_a_switch_that_cannot_be_read_names_itself(monkeypatch):
    monkeypatch.setenv("FICTL_ENABLE_SM120A", "perhaps")
    with pytest.raises(InvalidValue, match="FICTL_ENABLE_SM120A='perhaps'"):
        select()


# Flags.


@pytest.mark.parametrize(
    ("listed", "defined"),
    [("8.0 9.0a", False), ("10.0a", True), ("11.0", True), ("8.0 12.0a", True)],
)
def test_the_blackwell_types_are_defined_as_soon_as_one_target_has_them(listed, defined):
    both = ("-DFICTL_ENABLE_FP8_E8M0", "-DFICTL_ENABLE_FP4_E2M1")
    assert defines(parse_archs(listed)) == (both if defined else ())


def test_flags_are_gencodes_then_defines():
    assert nvcc_flags(parse_archs("8.0+PTX 12.0a")) == (
        "-gencode=arch=compute_80,code=[sm_80,compute_80]",
        "-gencode=arch=compute_120a,code=sm_120a",
        "-DFICTL_ENABLE_FP8_E8M0",
        "-DFICTL_ENABLE_FP4_E2M1",
    )
