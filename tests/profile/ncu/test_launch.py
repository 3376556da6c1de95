"""The raw page of a report: numbers in bytes and seconds, and what has no number."""

from __future__ import annotations

import pytest

from fictl.errors import FictlError
from fictl.profile.ncu.launch import parse_launches, short_name

TWO = '"ID","Kernel Name","Grid Size","Block Size","{name}"\n"","","","","{unit}"\n"0","k","(1, 1, 1)","(2, 1, 1)","{value}"\n'


def test_a_recorded_page_has_its_launches(recorded) -> None:
    first, second, third = parse_launches(recorded("raw.csv"))
    assert (first.id, second.id, third.id) == ("0", "1", "3")
    assert first.kernel.startswith("void norm::RMSNormKernel<__nv_bfloat16")
    assert third.name == "elementwise::ScaleKernel<__nv_bfloat16, 8>"
    assert (first.grid, first.block) == ((16384, 1, 1), (256, 1, 1))
    assert first.seconds == pytest.approx(62.752e-6)
    assert first.get("dram__bytes.sum.per_second") == pytest.approx(3.892312e12)
    assert first.get("launch__shared_mem_per_block") == 1280


@pytest.mark.parametrize(
    ("unit", "value", "number"),
    [
        ("us", "62.7", 62.7e-6),
        ("nsecond", "62,752", 62.752e-6),
        ("ns", "5", 5e-9),
        ("Kbyte/block", "1.28", 1280.0),
        ("byte", "1,024", 1024.0),
        ("%", "80.9", 80.9),
        ("inst", "7", 7.0),
        ("sector/ns", "203.5", 203.5),
        ("", "26,236", 26236.0),
    ],
)
def test_units_are_taken_back_to_bytes_and_seconds(unit, value, number) -> None:
    (launch,) = parse_launches(TWO.format(name="m", unit=unit, value=value))
    assert launch.get("m") == pytest.approx(number)


@pytest.mark.parametrize("value", ["nan", "n/a", "inf"])
def test_a_metric_without_a_number_is_known_as_such(value) -> None:
    (launch,) = parse_launches(TWO.format(name="m", unit="%", value=value))
    assert launch.get("m") is None
    assert launch.without == ("m",)


@pytest.mark.parametrize(
    ("name", "value"), [("m", "CachePreferNone"), ("m", ""), ("derived_tempMetric4", "nan")]
)
def test_what_is_no_measurement_is_neither(name, value) -> None:
    (launch,) = parse_launches(TWO.format(name=name, unit="", value=value))
    assert not launch.without
    assert launch.get(name) is None


def test_warnings_above_the_table_are_passed_over() -> None:
    text = "==WARNING== something\n" + TWO.format(name="m", unit="%", value="1")
    assert len(parse_launches(text)) == 1


@pytest.mark.parametrize("text", ["", "==ERROR== cannot open it", '"ID","Kernel Name"'])
def test_no_table_is_an_error_with_what_was_printed(text) -> None:
    with pytest.raises(FictlError) as raised:
        parse_launches(text)
    assert raised.value.hint == text


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (
            "void fictl::norm::RMSNormKernel<__nv_bfloat16, (int)8>(fictl::norm::T<T1>)",
            "RMSNormKernel",
        ),
        ("(anonymous namespace)::Sum(float *)", "Sum"),
        ("void <unnamed>::Sum<float>(float *)", "Sum"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_a_short_name_is_the_function_alone(kernel, name) -> None:
    assert short_name(kernel) == name


def test_a_name_in_full_is_read_without_its_casts() -> None:
    head, units, row = TWO.format(name="m", unit="", value="1").splitlines()
    kernel = "void a::K<float, (int)8, (bool)0, (int)-1>(float *)"
    (launch,) = parse_launches("\n".join([head, units, row.replace('"k"', f'"{kernel}"')]))
    assert (launch.kernel, launch.name) == (kernel, "a::K<float, 8, 0, -1>")


def test_waves_are_counted_in_more_digits_than_ncu_prints(recorded) -> None:
    (spilling,) = parse_launches(recorded("spilling.raw.csv"))
    assert spilling.get("launch__waves_per_multiprocessor") == 0.0
    assert spilling.waves == pytest.approx(16 / (132 * 32))
    rms = parse_launches(recorded("raw.csv"))[0]
    assert rms.waves == pytest.approx(rms.get("launch__waves_per_multiprocessor"), abs=0.01)


def test_waves_without_the_limits_are_those_that_ncu_prints() -> None:
    metric = "launch__waves_per_multiprocessor"
    for value, waves in (("0.18", 0.18), ("0.00", None)):
        (launch,) = parse_launches(TWO.format(name=metric, unit="", value=value))
        assert launch.waves == waves
