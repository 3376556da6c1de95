"""Builds that are the same on every machine, and the words that make them so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fictl.jit import gen_jit_spec, reproducible
from fictl.jit.build import plan_build
from fictl.jit.emulation import build_runtime
from fictl.jit.reproducible import HERE, Place, words

TESTS = Path(__file__).resolve().parents[1]
PLACES = (Place(HERE, "."), Place("/home/me", "home"), Place("/home/me/op", "norm/rms"))


@pytest.mark.needs_nvcc
@pytest.mark.parametrize("device", ["cuda", "emu"])
def test_two_machines_build_the_same_bytes_without_their_paths(
    device: str, users_cache: None
) -> None:
    """Two checkouts, headers, homes, caches, environments, numbers of threads, launchers."""
    script = TESTS / "perf" / "reproducible.py"
    specs = TESTS / "jit" / "reproducible_specs.py"
    argv = [sys.executable, script, "--device", device, "--specs", specs]
    if device == "emu":
        argv += ["--store", build_runtime().path.parents[4]]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    assert "5 of 5 modules are reproducible" in done.stdout


def test_a_host_unit_has_a_seed_and_the_most_specific_folder_last() -> None:
    told = words(PLACES, "binding", Path("/home/me/op/binding.cpp"), by_nvcc=False)
    assert told[0] == "-frandom-seed=fictl_unit_binding"
    maps = [word for word in told if "prefix-map" in word]
    assert maps[-1] == "-ffile-prefix-map=/home/me/op=norm/rms"


def test_nvcc_gets_a_source_without_its_folder() -> None:
    told = words(PLACES, "launcher", Path("/home/me/op/launcher.cu"), by_nvcc=True)
    assert told[0] == '-Xcudafe="--orig_src_path_name=norm/rms/launcher.cu"'
    assert '-Xcompiler="-ffile-prefix-map=/home/me=home"' in told


def test_a_build_for_this_machine_alone_keeps_its_paths() -> None:
    assert words((), "launcher", Path("/home/me/op/launcher.cu"), by_nvcc=True) == ()


@pytest.mark.parametrize("sign", ["$", "`", '"', "\\", ","])
def test_a_folder_that_would_end_a_word_of_nvcc_is_left_out(sign: str) -> None:
    place = Place(f"/home/m{sign}e", "home")
    told = words((place,), "launcher", Path("/op/launcher.cu"), by_nvcc=True)
    assert not any("prefix-map" in word for word in told)
    assert any("prefix-map" in word for word in words((place,), "b", Path("/b.cpp"), False))


def test_a_folder_with_an_equals_sign_has_no_name(tmp_path: Path) -> None:
    source = tmp_path / "a=b" / "answer.cpp"
    source.parent.mkdir()
    source.touch()
    places = reproducible.places_of(gen_jit_spec("answer", [source]), ())
    assert not any("a=b" in place.folder for place in places)


@pytest.mark.parametrize("stem", ["launcher", "launcher.1", "launcher-1", "größe", "1"])
def test_units_have_names_of_their_own_that_are_identifiers(stem: str) -> None:
    (seed, *_) = words(PLACES, stem, Path("/a.cpp"), by_nvcc=False)
    name = seed.partition("=")[2]
    assert name.isascii()
    assert name.isidentifier()


def test_links_are_named_by_both_of_their_ends(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "answer.cpp").touch()
    spec = gen_jit_spec("kinds.answer", [tmp_path / "link" / "answer.cpp"])
    named = {place.folder: place.name for place in reproducible.places_of(spec, ())}
    assert named[str(tmp_path / "link")] == named[str(tmp_path / "real")] == "kinds/answer"


@pytest.mark.needs_nvcc
@pytest.mark.parametrize(
    ("setting", "variant"),
    [("FICTL_JIT_LINEINFO", "lineinfo"), ("FICTL_JIT_DEBUG", "debug"), ("", "release")],
)
def test_only_release_builds_have_other_names(answer, monkeypatch, setting, variant) -> None:
    if setting:
        monkeypatch.setenv(setting, "1")
    plan = plan_build(answer())
    assert plan.recipe.flags.variant == variant
    mapped = any("prefix-map" in word for unit in plan.units for word in unit.argv)
    assert mapped == bool(plan.places) == (variant == "release")


@pytest.mark.needs_nvcc
def test_the_names_are_not_in_the_keys(answer, monkeypatch, tmp_path) -> None:
    before = plan_build(answer())
    monkeypatch.setenv("HOME", str(tmp_path / "another"))
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "third"))
    after = plan_build(answer())
    assert (after.keys, after.units[0].key) == (before.keys, before.units[0].key)
    assert after.units[0].argv != before.units[0].argv
