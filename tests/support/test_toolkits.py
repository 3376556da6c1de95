"""CUDA releases and GPUs: what the page says of each is what fictl finds, builds and refuses."""

from __future__ import annotations

import json
import sys

import pytest

from fictl import toolchain
from fictl.arch import Arch, ArchRule, parse_archs, spell
from fictl.errors import SetupError
from fictl.toolchain import Gpu, can_target, find_nvcc, nvcc_flags, select_targets
from fictl.toolchain.nvcc import inspect

_ANY = ArchRule.parse(">=7.5")


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _all_archs(page) -> tuple[Arch, ...]:
    return parse_archs(page["CUDA"][-1][1])


def test_a_release_targets_what_the_page_says_and_nothing_else(use_nvcc, toolkit, page):
    release, targets, _ = toolkit
    nvcc = use_nvcc(release)
    assert nvcc.release == release
    assert spell(arch for arch in _all_archs(page) if can_target(nvcc, arch)) == targets


def test_first_releases_in_the_code_are_those_of_the_page(page):
    for arch in _all_archs(page):
        having = [row[0] for row in page["CUDA"] if arch in parse_archs_or_none(row[1])]
        assert _number(arch.first_cuda) <= _number(having[0])
        floor = _number(page["what"][0][1])
        older = [row[0] for row in page["CUDA"] if floor <= _number(row[0]) < _number(having[0])]
        assert all(_number(release) < _number(arch.first_cuda) for release in older)


def parse_archs_or_none(text: str) -> tuple[Arch, ...]:
    return () if text.startswith("nothing") else parse_archs(text)


def test_a_refused_release_is_passed_over_and_said(stand_in_nvcc, monkeypatch, refused, page):
    old, new = stand_in_nvcc(refused[0]), stand_in_nvcc("13.0")
    monkeypatch.setenv("CUDA_HOME", str(old.parents[1]))
    monkeypatch.setenv("PATH", str(new.parent), prepend=":")
    assert find_nvcc().release == "13.0"
    monkeypatch.setenv("FICTL_NVCC", str(old))
    with pytest.raises(SetupError, match=f"CUDA {page['what'][0][1]} or newer is needed"):
        find_nvcc()


def test_a_project_is_built_with_every_release(tiny, stand_in_nvcc, run, toolkit):
    release, targets, _ = toolkit
    wanted = [target for target in targets.split() if target != "7.5"]
    words = [sys.executable, "-m", "fictl", "build", "twice", "--json", "--arch"]
    answer = run(*words, f"{targets} 13.9", FICTL_NVCC=str(stand_in_nvcc(release)))
    assert answer.returncode == 0, answer.stderr
    (built,) = json.loads(answer.stdout)["data"]
    assert built["archs"] == wanted
    assert f"nvcc {release} cannot target 13.9: it is left out" in answer.stderr


def test_the_flags_of_a_release_name_each_target_once(use_nvcc, toolkit):
    release, targets, _ = toolkit
    chosen = select_targets("op", _ANY, use_nvcc(release), explicit=parse_archs(targets))
    flags = nvcc_flags(chosen.archs)
    for arch in parse_archs(targets):
        assert flags.count(f"-gencode=arch=compute_{arch.number},code=sm_{arch.number}") == 1
    assert ("-DFICTL_ENABLE_FP4_E2M1" in flags) == (_number(release) >= (12, 8))


def test_a_gpu_gets_its_target_from_its_first_release_on_and_a_way_out_before(
    stand_in_nvcc, gpu, page
):
    name, capability, target, first = gpu
    present = (Gpu(0, name, Arch.parse(capability)),)
    for release, *_ in page["CUDA"][1:]:
        nvcc = inspect(stand_in_nvcc(release))
        if _number(release) >= _number(first):
            chosen = select_targets("op", _ANY, nvcc, gpus=present)
            assert (spell(chosen.archs), chosen.warning) == (target, "")
        else:
            with pytest.raises(SetupError, match=f"get CUDA {first} or newer"):
                select_targets("op", _ANY, nvcc, gpus=present)


@pytest.mark.needs_nvcc
def test_the_real_nvcc_targets_what_the_page_says_of_its_release(page):
    toolchain.forget()
    nvcc = find_nvcc()
    rows = {row[0]: row[1] for row in page["CUDA"]}
    if nvcc.release not in rows:
        pytest.skip(f"the nvcc here is {nvcc.release}, which the page does not list")
    found = spell(arch for arch in _all_archs(page) if can_target(nvcc, arch))
    assert found == rows[nvcc.release]
