"""The examination: nothing that a check does ends it."""

from __future__ import annotations

import json

import pytest

from fictl import doctor
from fictl.doctor import Facts, examine, facts, run
from fictl.doctor.environment import settings_in_force
from fictl.doctor.finding import ok
from fictl.errors import SetupError


def good(facts: Facts):
    yield ok("good", "it is")


def crashes(facts: Facts):
    yield ok("first", "said before the crash")
    raise ZeroDivisionError("by nothing")


def refuses(facts: Facts):
    raise SetupError("the disk is gone", "put it back")
    yield


def test_a_check_that_crashes_is_a_finding_that_names_it():
    found = run((crashes, good), Facts())
    assert [(each.name, each.level) for each in found] == [("crashes", "error"), ("good", "ok")]
    assert "ZeroDivisionError: by nothing" in found[0].text
    assert "--report" in found[0].fix


def test_an_error_with_a_hint_is_told_as_such():
    (found,) = run((refuses,), Facts())
    assert (found.level, found.text, found.fix) == ("error", "the disk is gone", "put it back")


def test_a_check_that_hangs_is_said_and_left_behind(monkeypatch):
    def hangs(facts: Facts):
        import time

        time.sleep(2)
        yield ok("never", "")

    monkeypatch.setattr(doctor, "_SECONDS", 0.1)
    (found,) = run((hangs,), Facts())
    assert (found.name, found.level) == ("hangs", "error")
    assert "no answer within 0.1 s" in found.text


def test_one_setting_that_cannot_be_read_is_one_error(monkeypatch):
    monkeypatch.setenv("FICTL_DISABLE_JIT", "maybe")

    def stopped(facts: Facts):
        from fictl import settings

        settings.DISABLE_JIT.get()
        yield

    found = run((settings_in_force, stopped), Facts(environ={"FICTL_DISABLE_JIT": "maybe"}))
    assert [each.level for each in found] == ["error", "warning"]
    assert found[1].text.startswith("not run: FICTL_DISABLE_JIT='maybe'")


def test_a_fact_that_crashes_is_a_finding_and_the_checks_go_on(monkeypatch):
    def crash():
        raise OSError("driver bug")

    monkeypatch.setattr(facts, "probe", crash)
    found = examine((good,))
    assert [each.name for each in found] == ["gpus", "good"]
    assert "OSError: driver bug" in found[0].text


def test_without_compiler_gpu_or_torch_every_check_still_answers(monkeypatch, tmp_path):
    monkeypatch.setenv("FICTL_NVCC", str(tmp_path / "none"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(doctor.python_packages, "_ASK_TORCH", "raise SystemExit('broken')")
    found = examine()
    assert not [each for each in found if "the check itself failed" in each.text]
    assert {each.level for each in found} == {"ok", "warning", "error"}
    assert all(each.fix for each in found if each.level != "ok")
    json.dumps([each.to_dict() for each in found])


@pytest.mark.parametrize("check", doctor.CHECKS, ids=lambda check: check.__name__)
def test_every_check_answers_on_a_bare_machine(check, machine, monkeypatch):
    monkeypatch.setattr(doctor.python_packages, "_ASK_TORCH", "print('torch 2.9 None 0')")
    assert not [each for each in run((check,), machine()) if "itself failed" in each.text]
