"""profile_kernel round any code."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from fictl.errors import SetupError
from fictl.profile import profile_kernel


def test_it_has_what_ran_inside_when_it_has_ended(cupti, h200):
    cupti.launch()
    with profile_kernel("inside") as profile:
        cupti.launch(microseconds=10)
        cupti.launch("MEMCPY", microseconds=5, bytes=1000)
        assert profile.kernels == []
    (kernel,), (copy,) = profile.kernels, profile.copies
    assert (kernel.registers, copy.bytes) == (32, 1000)
    assert profile.total == pytest.approx(15e-6)


def test_printed_it_is_a_table(cupti, h200):
    with profile_kernel("inside") as profile:
        cupti.launch(microseconds=10)
    text = str(profile)
    assert text.startswith("inside  NVIDIA H200\n")
    assert "at::native::vectorized_elementwise_kernel" in text
    assert "10.0 us" in text


def test_it_is_a_document_with_every_launch(cupti, h200):
    with profile_kernel("inside") as profile:
        cupti.launch(microseconds=10)
    document = json.loads(json.dumps(profile.to_dict()))
    assert document["total"] == document["launches"][0]["seconds"] == pytest.approx(10e-6)
    assert document["kernels"][0]["registers"] == 32


def test_its_timeline_is_written_where_it_is_asked_for(cupti, h200, tmp_path):
    with profile_kernel("inside") as profile:
        cupti.launch()
    path = profile.save_trace(tmp_path / "new" / "trace.json")
    assert json.loads(path.read_text())["traceEvents"]


def test_around_nothing_it_says_so(cupti):
    with profile_kernel("nothing") as profile:
        pass
    assert (profile.total, profile.kernels) == (0.0, [])
    assert "nothing ran on the GPU" in str(profile)


def test_what_fails_inside_is_raised_and_cupti_is_free_again(cupti):
    with pytest.raises(ZeroDivisionError), profile_kernel():
        raise ZeroDivisionError
    with profile_kernel():
        pass
    assert cupti.enabled == []


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        ("ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)", "compute-sanitizer"),
        ("ERROR_INSUFFICIENT_PRIVILEGES (35)", "--cap-add=SYS_ADMIN"),
        ("ERROR_NOT_COMPATIBLE (26)", "driver is older"),
    ],
)
def test_a_cupti_that_refuses_is_told_before_anything_runs(cupti, refusal, hint):
    cupti.refuses = refusal
    ran = []
    with pytest.raises(SetupError, match=r"CUPTI refuses") as raised, profile_kernel():
        ran.append(1)
    assert hint in raised.value.hint
    assert not ran


def test_without_cupti_python_it_says_how_to_get_it(cupti, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupti", None)
    monkeypatch.delitem(sys.modules, "cupti.cupti")
    with pytest.raises(SetupError) as raised, profile_kernel():
        pass
    assert raised.value.hint == 'pip install "fictl[profile]"'


def test_without_a_gpu_it_says_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SetupError, match="no GPU to profile on"), profile_kernel():
        pass


def test_its_import_imports_nothing_heavy():
    code = "import sys, fictl.profile; print('torch' in sys.modules, 'cupti' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False False"


@pytest.mark.needs_gpu
def test_a_gpu_tells_what_ran():
    pytest.importorskip("cupti")
    x = torch.zeros(1 << 24, device="cuda")
    x.add_(1)
    with profile_kernel("torch") as profile:
        x.add_(1)
        x.cpu()
    (kernel,) = profile.kernels
    assert "elementwise" in kernel.name
    assert kernel.threads >= 32
    assert [(copy.name, copy.bytes) for copy in profile.copies] == [
        ("device to host, pageable", 1 << 26)
    ]
    row = profile.summary.kernels[0]
    assert row.occupancy
    assert row.waves
