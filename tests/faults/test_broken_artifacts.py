"""Builds that somebody or something damaged: never loaded, set aside, said, and built again."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from fictl.jit.store.entry import MANIFEST


def _truncated(entry):
    entry.module.write_bytes(entry.module.read_bytes()[:-1])


def _emptied(entry):
    entry.module.write_bytes(b"")


def _flipped(entry):
    data = bytearray(entry.module.read_bytes())
    data[random.Random(5).randrange(len(data))] ^= 1
    entry.module.write_bytes(bytes(data))


def _module_is_a_folder(entry):
    entry.module.unlink()
    entry.module.mkdir()


def _no_manifest(entry):
    (entry.path / MANIFEST).unlink()


def _empty_manifest(entry):
    (entry.path / MANIFEST).write_text("")


def _manifest_is_a_folder(entry):
    (entry.path / MANIFEST).unlink()
    (entry.path / MANIFEST).mkdir()


def _manifest_is_something_else(entry):
    (entry.path / MANIFEST).write_text("[1, 2]")


def _of_another_schema(entry):
    _change_manifest(entry, schema="fictl.build/99")


def _with_fields_of_another_version(entry):
    _change_manifest(entry, invented_later=True)


def _without_fields_of_another_version(entry):
    data = json.loads((entry.path / MANIFEST).read_text())
    del data["ffi_abi"]
    (entry.path / MANIFEST).write_text(json.dumps(data))


def _with_an_architecture_that_means_nothing(entry):
    _change_manifest(entry, archs=["8.q"])


def _change_manifest(entry, **changes):
    data = json.loads((entry.path / MANIFEST).read_text())
    (entry.path / MANIFEST).write_text(json.dumps({**data, **changes}))


@pytest.fixture
def built(project, fictl_):
    assert fictl_("build", "twice").code == 0
    (entry,) = project.entries
    return entry


@pytest.mark.parametrize(
    "damage",
    [
        _truncated,
        _emptied,
        _flipped,
        _module_is_a_folder,
        _no_manifest,
        _empty_manifest,
        _manifest_is_a_folder,
        _manifest_is_something_else,
        _of_another_schema,
        _with_fields_of_another_version,
        _without_fields_of_another_version,
        _with_an_architecture_that_means_nothing,
    ],
)
def test_what_is_broken_is_set_aside_said_and_built_again(project, built, fictl_, damage):
    damage(built)
    again = fictl_("build", "twice")
    assert again.code == 0
    assert "compiled in" in again.out
    assert f"corrupt build {built.path}" in again.err
    assert "moved to" in again.err
    aside = list((project.folder.parents[1] / ".quarantine").iterdir())
    assert len(aside) == 1
    healed = fictl_("build", "twice")
    assert (healed.code, healed.err) == (0, "")
    assert "was built already" in healed.out


def test_a_call_never_runs_what_is_broken(built, call):
    _flipped(built)
    assert call() == "42"


def test_a_manifest_that_claims_other_architectures_does_not_stay(project, built, fictl_):
    _change_manifest(built, archs=["9.0"])
    for how in ("compiled in", "was built already"):
        answer = fictl_("build", "twice")
        assert "elementwise.twice  8.0 " in answer.out
        assert how in answer.out


def test_one_flipped_bit_anywhere_in_a_manifest_stops_nobody(project, built, fictl_):
    path = built.path / MANIFEST
    whole, wrong = path.read_bytes(), []
    chance = random.Random(6)
    for position in chance.sample(range(len(whole)), 12):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << chance.randrange(7)
        path.write_bytes(bytes(damaged))
        answer = fictl_("build", "twice", "--json")
        data = json.loads(answer.out)["data"]
        if answer.code or data[0]["archs"] != ["8.0"]:
            wrong.append((position, answer))
        shutil.rmtree(project.folder.parents[1] / ".quarantine", ignore_errors=True)
    assert wrong == []
