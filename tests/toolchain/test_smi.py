"""nvidia-smi, however it answers."""

from __future__ import annotations

import pytest

from fictl.toolchain import smi
from fictl.toolchain.smi import read_smi

LINE = (
    "0, GPU-1, NVIDIA H200, 580.95.05, 143771, 0, 345, 1980, 0x0000000000000001, 30, Enabled, "
    "Disabled, Enabled, 0, 3201, 412.53"
)


def test_without_the_program_nothing_is_known(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_smi() is None


def test_gpus_and_processes_are_read(program):
    program(
        "nvidia-smi",
        f'case $1 in --query-gpu=*) echo "{LINE}";;'
        ' *) echo "GPU-1, 77, 512, python a, b.py";; esac',
    )
    found = read_smi()
    assert found is not None
    assert found.gpus[0]["clocks.max.sm"] == "1980"
    assert found.processes[0]["process_name"] == "python a, b.py"


def test_what_a_gpu_does_not_have_is_left_out(program):
    line = LINE.replace("Disabled", "[N/A]").replace("30", "N/A").replace("345", "[Not Supported]")
    program("nvidia-smi", f'case $1 in --query-gpu=*) echo "{line}";; esac')
    found = read_smi()
    assert found is not None
    assert not {"mig.mode.current", "temperature.gpu", "clocks.sm"} & set(found.gpus[0])
    assert found.gpus[0]["ecc.mode.current"] == "Enabled"


def test_a_field_that_an_older_driver_lacks_is_asked_without(program):
    program(
        "nvidia-smi",
        'case $1 in *clocks_throttle*) echo \'Field "clocks_throttle_reasons.active" is not a'
        " valid field to query.'; exit 2;; --query-gpu=*) "
        f'echo "{LINE.replace(" 0x0000000000000001,", "")}";; esac',
    )
    found = read_smi()
    assert found is not None
    assert (found.problem, found.gpus[0]["temperature.gpu"]) == ("", "30")


def test_a_driver_that_does_not_answer_is_told_with_the_exit_code(program):
    program("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
    found = read_smi()
    assert found is not None
    assert found.problem == "nvidia-smi fails (exit code 9): NVIDIA-SMI has failed"


@pytest.mark.parametrize("rubbish", ["hello", "0, GPU-1"])
def test_rubbish_is_shown(program, rubbish):
    program("nvidia-smi", f"echo '{rubbish}'")
    found = read_smi()
    assert found is not None
    assert repr(rubbish) in found.problem


def test_silence_means_no_gpu(program):
    program("nvidia-smi", "true")
    assert read_smi() == smi.Smi()


def test_one_that_hangs_is_ended(program, monkeypatch):
    monkeypatch.setattr(smi, "_SECONDS", 0.2)
    program("nvidia-smi", "sleep 60")
    found = read_smi()
    assert found is not None
    assert "did not end within 0.2 s" in found.problem
