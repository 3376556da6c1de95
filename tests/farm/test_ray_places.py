"""Places of Ray as users name them, and what is said without a cluster; Ray is not needed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.farm.place import Place
from fictl.farm.places_file import places_of
from fictl.farm.ray.needs import ClusterNeeds, is_loopback

_AT = "10.0.0.5:6379"


def in_file(
    tmp_path: Path, text: str, device: str = "cuda", runs: bool = True
) -> tuple[Place, ...]:
    path = tmp_path / "places.toml"
    path.write_text(f'[[place]]\nengine = "ray"\n{text}\n')
    return places_of(str(path), device, int(runs))


def test_a_table_stands_for_as_many_places_as_it_counts(tmp_path: Path) -> None:
    text = f'name = "b"\naddress = "{_AT}"\ncount = 3\nrequire = {{ accelerator_type = "B200", gpus = 2 }}'
    places = in_file(tmp_path, text)
    assert [place.name for place in places] == ["b-0", "b-1", "b-2"]
    assert {place.cluster for place in places} == {ClusterNeeds(_AT, "B200", 2)}
    assert all(place.is_a("b200") and not place.is_here for place in places)


@pytest.mark.parametrize(
    ("device", "runs", "gpus"), [("cuda", True, 1), ("cuda", False, 0), ("emu", True, 0)]
)
def test_the_device_decides_about_gpus_unless_the_file_does(
    tmp_path: Path, device: str, runs: bool, gpus: int
) -> None:
    (place,) = in_file(tmp_path, f'address = "ray://{_AT}"', device, runs)
    assert (place.name, place.cluster) == ("ray", ClusterNeeds(_AT, gpus=gpus))
    (place,) = in_file(tmp_path, f'address = "{_AT}"\nrequire = {{ gpus = 4 }}', device, runs)
    assert place.cluster == ClusterNeeds(_AT, gpus=4)


@pytest.mark.parametrize("on", ["ray:2", f"ray:2@{_AT}", f"ray:2@ray://{_AT}"])
def test_an_option_counts_places(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", _AT)
    places = places_of(on, "emu")
    assert [place.name for place in places] == ["ray-0", "ray-1"]
    assert {place.cluster for place in places} == {ClusterNeeds(_AT, gpus=0)}


@pytest.mark.parametrize(
    "on",
    [
        *(
            "ray:0",
            "ray:2@",
            "ray://",
            "ray://host",
            "ray://host:99999",
            "ray://-x:1",
            "ray:2@a b:1",
        ),
        *("ray://host:1/..", "ray://user:secret@host:1", "ray:2@http://host:1", "ray:99999"),
    ],
)
def test_what_is_no_address_is_refused(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", _AT)
    with pytest.raises(UsageError):
        places_of(on, "emu")


@pytest.mark.parametrize(
    "text",
    [
        "address = 5",
        'address = "auto"',
        'address = "10.0.0.5"',
        f'address = "{_AT}"\ncount = 0',
        f'address = "{_AT}"\ncount = true',
        f'address = "{_AT}"\ncount = 1000000',
        f'address = "{_AT}"\nrequire = 5',
        f'address = "{_AT}"\nrequire = {{ gpus = -1 }}',
        f'address = "{_AT}"\nrequire = {{ gpus = true }}',
        f'address = "{_AT}"\nrequire = {{ memory = 1 }}',
        f'address = "{_AT}"\nrequire = {{ accelerator_type = "a b" }}',
        f'address = "{_AT}"\nlaunch = ["ssh"]',
        f'address = "{_AT}"\ngpu = "0"',
        f'address = "{_AT}"\nruntime_env = {{}}',
    ],
)
def test_bad_tables_are_refused_with_their_number(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="place 1: "):
        in_file(tmp_path, text)


def test_keys_of_ray_are_for_places_of_ray(tmp_path: Path) -> None:
    path = tmp_path / "places.toml"
    path.write_text('[[place]]\nname = "here"\ncount = 3\n')
    with pytest.raises(UsageError, match="count is not known here"):
        places_of(str(path), "emu")


def test_without_an_address_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(UsageError, match="RAY_ADDRESS is not set"):
        places_of("ray", "emu")


@pytest.mark.parametrize(
    "words", [("farm", "check", "ray:1"), ("farm", "up"), ("farm", "check", "ray")]
)
def test_without_the_package_it_is_named(
    fictl, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "fictl.farm.ray.cluster.find_spec", lambda name: None if name == "ray" else real(name)
    )
    answer = fictl(*words)
    assert answer.code == 3
    assert "pip install 'fictl[ray]'" in answer.out + answer.err


def test_nobody_at_the_address_is_said(fictl) -> None:
    pytest.importorskip("ray")
    answer = fictl("farm", "check", "ray:2@127.0.0.1:1")
    assert answer.code == 3
    assert "nobody answers at 127.0.0.1:1" in answer.out


def test_hosts_of_this_machine_alone() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    assert not any(map(is_loopback, ("10.0.0.5", "0.0.0.0", "::", "gpu1", "localhost.corp")))


def test_only_the_bridge_imports_ray() -> None:
    code = "import sys, fictl.farm.engine.ray, fictl.cli.farm.check; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    imports = re.compile(r"^\s*(?:import|from) ray\b", re.MULTILINE)
    files = [
        path.name
        for path in (Path(__file__).parents[2] / "fictl").rglob("*.py")
        if imports.search(path.read_text(encoding="utf-8"))
    ]
    assert files == ["bridge.py"]
