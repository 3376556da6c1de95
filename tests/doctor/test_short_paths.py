"""Paths in a report: known folders by name, and of the others no part that could name a person or a team."""

from __future__ import annotations

import sys

import pytest

from fictl.doctor.report import make_report
from fictl.doctor.short_paths import shorten


@pytest.fixture(autouse=True)
def somewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/home/carol")
    monkeypatch.setattr(sys, "prefix", "/scratch/carol/my envs/one")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/scratch/carol/my envs/one/bin/python", "<environment>/bin/python"),
        ("/home/carol/ws", "~/ws"),
        ("/home/carola/ws/x", "…/x"),
        ("nvcc in /data/team/cuda-13.0/bin/nvcc, used", "nvcc in …/nvcc, used"),
        ("/scratch/carol is full", "<path> is full"),
        ("/data/a/stores:/data/b/more", "…/stores:…/more"),
        ("['/data/a/x', '/data/b/y']", "['…/x', '…/y']"),
        ("-I/data/team/include -DX=1", "-I…/include -DX=1"),
        ("CXX=/data/team/bin/g++", "CXX=…/g++"),
        ("file:///data/team/builds", "file://…/builds"),
        # What is the same everywhere, or is none of the machine's.
        ("/usr/local/cuda-13.0/bin/nvcc", "/usr/local/cuda-13.0/bin/nvcc"),
        (
            "/opt/conda/bin/nvcc and /proc/driver/nvidia",
            "/opt/conda/bin/nvcc and /proc/driver/nvidia",
        ),
        (
            "https://host.example/a/b/c s3://bucket/a/b",
            "https://host.example/a/b/c s3://bucket/a/b",
        ),
        ("a CPU/GPU, n/a, 3/4/5, ~/x/y", "a CPU/GPU, n/a, 3/4/5, ~/x/y"),
        ("apt install x, or add its folder", "apt install x, or add its folder"),
    ],
)
def test_what_is_told_of_a_path(text: str, told: str) -> None:
    assert shorten(text) == told


def test_folders_of_the_project_and_of_work_have_names(monkeypatch, tmp_path) -> None:
    below = tmp_path / "kernels" / "norm"
    below.mkdir(parents=True)
    (tmp_path / "fictl.toml").write_text('name = "mine"\n')
    monkeypatch.chdir(below)
    assert shorten(f"{below}/op.py {tmp_path}/fictl.toml") == "<here>/op.py <project>/fictl.toml"


def test_a_project_that_cannot_be_read_does_not_stop_it(tmp_path) -> None:
    (tmp_path / "fictl.toml").write_text("name = ")
    assert shorten("/data/team/nvcc") == "…/nvcc"


def test_a_report_names_no_virtual_environment() -> None:
    assert "/scratch/carol" not in make_report([])
