from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.farm.engine.command import argv_of
from fictl.farm.place import Place
from fictl.farm.places_file import places_in, places_of
from fictl.farm.ranges import expanded

_FARM = """
[[place]]
name = "h200-{0..3}"
launch = ["ssh", "gpu1"]
python = "/opt/fictl/bin/python"
gpu = "{0..3}"
labels = ["H200"]

[[place]]
name = "here"
variables = { OMP_NUM_THREADS = "1" }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "places.toml"
    path.write_text(_FARM)
    return path


def test_this_machine_may_stand_before_others() -> None:
    places = places_of("local,ssh:gpu1,gpu2", "cpu")
    assert [place.name for place in places] == ["cpu", "gpu1", "gpu2"]
    assert [place.is_here for place in places] == [True, False, False]
    assert [place.name for place in places_of("local,", "cpu")] == ["cpu"]
    with pytest.raises(UsageError, match="2 places are named cpu"):
        places_of("local,local", "cpu")


def test_equal_ranges_go_together_and_others_combine() -> None:
    assert [*expanded({"name": "h{0..1}", "gpu": "{0..1}"})] == [
        {"name": "h0", "gpu": "0"},
        {"name": "h1", "gpu": "1"},
    ]
    assert [*expanded("n{08..10}/{0..1}")] == [
        f"n{n}/{g}" for n in ("08", "09", "10") for g in "01"
    ]
    assert [*expanded("plain")] == ["plain"]


def test_a_file_of_places(file: Path) -> None:
    places = [*places_in(file)]
    assert [place.name for place in places] == [*(f"h200-{n}" for n in range(4)), "here"]
    assert places[3].variables == {"CUDA_VISIBLE_DEVICES": "3"}
    assert not places[3].is_here
    assert places[3].is_a("h200")
    assert places[4].is_here
    assert places[4].variables == {"OMP_NUM_THREADS": "1"}


def test_places_are_chosen_by_name_range_and_label(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_PLACES", str(file))
    assert [p.name for p in places_of("here,h200-{1..2}", "emu")] == ["here", "h200-1", "h200-2"]
    assert len(places_of("H200", "emu")) == 4
    assert len(places_of("", "emu")) == 5
    both = places_of("h200-1,H200,here,here", "emu")
    assert [p.name for p in both] == ["h200-1", "h200-0", "h200-2", "h200-3", "here"]
    with pytest.raises(UsageError, match="has no place h100") as caught:
        places_of("h100", "emu")
    assert "h200-0" in caught.value.hint


def test_two_places_of_one_name_are_refused_however_they_are_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(f'{_FARM}[[place]]\nname = "h200-2"\n')
    monkeypatch.setenv("FICTL_PLACES", str(file))
    for on in (str(file), "", "here", "H200"):
        with pytest.raises(UsageError, match="2 places are named h200-2"):
            places_of(on, "emu")


def test_hosts_of_ssh() -> None:
    first, second = places_of("ssh:me@gpu1/{0..1}=/opt/py", "cuda")
    assert (first.name, second.name) == ("me@gpu1/0", "me@gpu1/1")
    assert first.launch[-1] == "me@gpu1"
    assert "BatchMode=yes" in first.launch
    assert (first.python, first.variables) == ("/opt/py", {"CUDA_VISIBLE_DEVICES": "0"})


def test_this_machine_is_a_place() -> None:
    (place,) = places_of("local", "emu")
    assert place.is_here
    assert place.name == "emu"


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("ssh:-oProxyCommand=evil", "is not a host"),
        ("ssh:a b", "is not a host"),
        ("ssh:gpu1,gpu1", "2 places are named gpu1"),
        ("ssh:gpu{3..0}", "is not a range"),
        ("ssh:gpu{0..99999}", "is not a range"),
        ("ssh:{0..999}{00..99}", "stand for 100000 places"),
        ("gpu1", "FICTL_PLACES names no file"),
        ("./nowhere.toml", "cannot be read"),
    ],
)
def test_what_is_no_place_is_refused(on: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        places_of(on, "emu")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a file of"),
        ("[[place]]\n", "place 1: name is None"),
        ("[[place]\n", "is not a file of places"),
        ("place = 3\n", "is not a file of"),
        ("place = [1]\n", "place 1: 1 is not a table"),
        ("place = [[{}]]\n", "place 1: .* is not a table"),
        ("[[place]]\nname='a'\n[other]\nx=1\n", "it has other"),
        ("[[place]]\nname='a'\nlunch=['ssh']\n", "lunch is not known"),
        ("[[place]]\nname='a'\nlaunch='ssh gpu1'\n", "not a list of words"),
        ("[[place]]\nname='a;rm -rf'\n", "name is"),
        ("[[place]]\nname='a'\ngpu='0; rm'\n", "gpu is"),
        ("[[place]]\nname='a'\npython='-c evil'\n", "python is"),
        ("[[place]]\nname='a'\nengine='pigeon'\n", "engine is"),
        ("[[place]]\nname='a'\nvariables={'A=B'='x'}\n", "variables is not"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "places.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        places_of(str(path), "emu")


def test_the_command_line_of_a_place() -> None:
    worker = ("/py", "-m", "fictl.farm.worker")
    safe = "PYTHONSAFEPATH=1"
    gpu = {"CUDA_VISIBLE_DEVICES": "0"}
    srun = Place("a", gpu, launch=("srun", "-n1"), python="/py")
    assert argv_of(srun) == ("srun", "-n1", "env", safe, "CUDA_VISIBLE_DEVICES=0", *worker)
    ssh = Place("a", {"X": "a b"}, launch=("/usr/bin/ssh", "h"), python="/py")
    # A shell of the other machine splits it again.
    assert argv_of(ssh) == ("/usr/bin/ssh", "h", f"env {safe} 'X=a b' /py -m fictl.farm.worker")
    shell = Place("a", launch=("sh", "-c", "cd /x && {worker}"), python="/py")
    assert argv_of(shell) == ("sh", "-c", f"cd /x && env {safe} /py -m fictl.farm.worker")
    assert argv_of(Place("a", python="/py")) == worker
