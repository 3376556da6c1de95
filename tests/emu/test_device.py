"""What Python tells the runtime, and what it takes from it."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from fictl.emu import device as emulation
from fictl.emu.device import EmulatedDevice
from fictl.emu.schedule import Schedule
from fictl.emu.toolchain import RUNTIME
from fictl.emu.watched import TensorRow
from fictl.errors import FictlError
from fictl.toolchain import find_cxx

# A runtime that runs nothing and keeps what it was told.
STAND_IN = """
#include <cstring>
extern "C" {{
char config[sizeof({config})];
char tensor[64];
int cleared;
int fictl_emu_abi() {{ return {abi}; }}
void fictl_emu_configure(const void* wanted) {{ memcpy(config, wanted, sizeof config); }}
void fictl_emu_watch(const void* tensors, int count) {{ if (count) memcpy(tensor, tensors, 48); }}
int fictl_emu_cudaGetLastError() {{ return ++cleared, 719; }}
const char* fictl_emu_take_reports() {{
  return "{{\\"kind\\": \\"trap\\", \\"kernel\\": \\"K\\"}}\\n{{\\"kind\\": \\"\\xff\\", \\"kernel\\": \\"\\"}}";
}}
}}
"""


@pytest.fixture
def stand_in(tmp_path: Path):
    def build(abi: int = emulation._ABI) -> Path:
        source, library = tmp_path / "runtime.cpp", tmp_path / "runtime.so"
        size = f"char[{ctypes.sizeof(emulation._Config)}]"
        source.write_text(STAND_IN.format(abi=abi, config=size))
        argv = [find_cxx().ccbin, "-shared", "-fPIC", source, "-o", library]
        subprocess.run(argv, check=True)
        return library

    return build


@pytest.fixture
def told(stand_in):
    """A device, and the configuration that it was given last."""
    library = stand_in()
    device = EmulatedDevice(library)
    return device, emulation._Config.in_dll(ctypes.CDLL(str(library)), "config")


def fields_of(header: str, struct: str) -> list[str]:
    """The members of a struct in a header of the runtime."""
    text = re.sub(r"//.*", "", (RUNTIME / header).read_text(encoding="utf-8"))
    found = re.search(rf"struct {struct} {{(.*?)}};", text, re.DOTALL)
    assert found
    return re.findall(r"(\w+)(?=[,;])", found[1])


@pytest.mark.parametrize(
    ("header", "struct", "ours"),
    [
        ("config.h", "FictlEmuConfig", emulation._Config),
        ("tensors.h", "FictlEmuTensor", TensorRow),
    ],
)
def test_both_sides_have_the_same_fields_in_the_same_order(header, struct, ours) -> None:
    assert [name for name, *_ in ours._fields_] == fields_of(header, struct)


def test_a_runtime_of_another_fictl_is_refused(stand_in) -> None:
    with pytest.raises(FictlError, match=r"runtime\.so is a runtime of another fictl") as caught:
        EmulatedDevice(stand_in(emulation._ABI + 1))
    assert caught.value.hint == "fictl cache clear"


def test_it_starts_as_the_settings_say(stand_in, monkeypatch) -> None:
    for name, value in {"SCHEDULE": "reverse", "THREADS": "3", "TIMEOUT": "7"}.items():
        monkeypatch.setenv(f"FICTL_EMU_{name}", value)
    library = stand_in()
    assert EmulatedDevice(library).schedule == Schedule.parse("reverse")
    config = emulation._Config.in_dll(ctypes.CDLL(str(library)), "config")
    assert (config.order, config.early_copies, config.threads) == (1, 1, 3)
    assert config.timeout_ms == 7000


def test_a_schedule_is_handed_over_with_its_seed(told) -> None:
    device, config = told
    device.run_under(Schedule.parse("random-7"))
    assert (config.order, config.seed, config.early_copies) == (2, 7, 1)
    assert str(device.schedule) == "random-7"


def test_a_random_schedule_runs_on_one_core_that_a_seed_may_repeat_it(told, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_EMU_THREADS", "4")
    device, config = told
    device.run_under(Schedule("random", 3))
    assert config.threads == 1
    device.run_under(Schedule("forward"))
    assert config.threads == 4


@pytest.mark.parametrize(
    ("name", "value", "field", "now"),
    [
        ("TIMEOUT", "9", "timeout_ms", 9000),
        ("THREADS", "2", "threads", 2),
        ("SCHEDULE", "random-7", "seed", 7),
    ],
)
def test_a_setting_that_is_changed_later_is_followed(
    told, monkeypatch, name: str, value: str, field: str, now: int
) -> None:
    device, config = told
    monkeypatch.setenv(f"FICTL_EMU_{name}", value)
    device.follow_settings()
    assert getattr(config, field) == now


def test_what_a_caller_chose_stays_where_no_setting_changes(told) -> None:
    device, config = told
    device.run_under(Schedule("random", 3))
    device.follow_settings()
    assert (config.order, config.seed) == (2, 3)


def test_the_caller_may_choose_the_cores(told) -> None:
    device, config = told
    device.run_under(Schedule("random", 3), threads=2)
    assert config.threads == 2


def test_every_core_is_used_where_nobody_chose(told) -> None:
    device, config = told
    device.run_under(Schedule())
    assert config.threads == 0


def test_taking_reports_ends_the_error_that_came_with_them(stand_in) -> None:
    library = stand_in()
    device = EmulatedDevice(library)
    device.take_reports()
    assert ctypes.c_int.in_dll(ctypes.CDLL(str(library)), "cleared").value == 1


def test_a_kernels_text_that_is_no_unicode_is_still_a_report(told) -> None:
    device, _ = told
    assert [report.kind for report in device.take_reports()] == [
        "trap",
        "\N{REPLACEMENT CHARACTER}",
    ]


def test_after_a_kernel_was_stopped_the_next_one_is_not_blamed(emulate, device) -> None:
    divide, flag = 3, 6
    run, out = emulate("stopped.cu").run, (ctypes.c_int * 64)()
    assert run(divide, out) != 0
    assert [report.kind for report in device.take_reports()] == ["division-by-zero"]
    assert (run(flag, out), device.take_reports()) == (0, [])
