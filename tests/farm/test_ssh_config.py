"""Hosts of a configuration of ssh, whoever wrote it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl.farm.first_file import first_file
from fictl.farm.places_file import places_in
from fictl.farm.ssh_config import hosts_in


def written(folder: Path, text: str, name: str = "config") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("Host gpu1 gpu2\n", ["gpu1", "gpu2"]),
        ("host\tgpu1\nHOST = gpu2\nHost=gpu3\n  Host gpu4\n", ["gpu1", "gpu2", "gpu3", "gpu4"]),
        ('Host "gpu1" gpu2\n', ["gpu1", "gpu2"]),
        ("Host gpu1\r\nHost gpu1\n", ["gpu1"]),
        ("Host * gpu? *.corp !gpu9 gpu1\n", ["gpu1"]),
        ("# Host no\n#Host no\nHostName 10.0.0.1\nMatch host gpu1\nHostkeyalias x\n", []),
        ("Host gpu1\n  ProxyJump me@gate:22,ssh://gate2\nHost gate gate2\n", ["gpu1"]),
        ("Host gpu1\n  ProxyJump none\n", ["gpu1"]),
        ("Host -oProxyCommand=evil $(evil) `evil` a;b a|b a/b x\\y {0..9} \x1b[2J\n", []),
        ("Host " + "a" * 101 + "\n", []),
        ("Host g\u0440u1\n", []),  # A letter of another alphabet.
        ("Host\nHost \n\0\n", []),
    ],
)
def test_hosts_are_named_without_patterns(tmp_path: Path, text: str, hosts: list[str]) -> None:
    assert hosts_in(written(tmp_path, text)) == hosts


def test_included_files_are_read_from_where_ssh_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ssh = tmp_path / ".ssh"
    written(ssh, "Host deep\n", "conf.d/nested/x")
    written(ssh, "Host one\nInclude conf.d/nested/*\n", "conf.d/1")
    written(ssh, "Host two\n", "conf.d/2")
    written(tmp_path, "Host home\n", "own")
    written(tmp_path, "Host absolute\n", "else where")
    text = f'Include conf.d/* ~/own "{tmp_path}/else where" missing\nHost last\n'
    found = hosts_in(written(ssh, text))
    assert found == ["one", "deep", "two", "home", "absolute", "last"]


def test_no_file_is_read_for_ever(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_text("Host large\n" + "#" * (1 << 20))
    (tmp_path / "bytes").write_bytes(b"Host \xff\xfe\nHost fine\n")
    for number in range(100):
        (tmp_path / f"many{number:03}").write_text(f"Host h{number}\nInclude many* config\n")
    text = "Include config\nInclude fifo folder large /dev/zero /dev/stdin bytes\nInclude many*\n"
    hosts = hosts_in(written(tmp_path, text))
    assert hosts[0] == "fine"
    assert 10 < len(hosts) < 100
    assert hosts_in(tmp_path / "nowhere") == []
    many = "\n".join(f"Host a{number}" for number in range(3000))
    assert len(hosts_in(written(tmp_path, many))) == 1000


def test_the_first_file_can_be_read_whatever_the_names_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.node", lambda: 'no"de\n[[place]]\x1b' + "x" * 200)
    monkeypatch.setattr("sys.executable", '/opt/py "3"\\bin/python')
    config = written(tmp_path, "Host gpu1 gpu2\n")
    path = tmp_path / "places.toml"
    path.write_text(first_file(["gpu1"], config))
    here, there = places_in(path)
    assert here.is_here
    assert (there.name, there.launch[-1], there.python) == (
        "gpu1",
        "gpu1",
        '/opt/py "3"\\bin/python',
    )
    assert '# name = "gpu2"' in path.read_text()


def test_gpus_of_this_machine_have_their_model_as_a_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fictl.arch import Arch
    from fictl.farm import first_file as module
    from fictl.toolchain.gpus import Gpu

    names = ("NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090", 'Quadro "x\n')
    gpus = [Gpu(number, name, Arch.parse("9.0")) for number, name in enumerate(names)]
    monkeypatch.setattr(module, "visible_gpus", lambda: tuple(gpus))
    monkeypatch.setattr(module, "gpu_names", lambda: ["0", "1", "2"])
    path = tmp_path / "places.toml"
    path.write_text(first_file([], tmp_path / "none"))
    found = [*places_in(path)]
    assert [place.labels[0] for place in found] == ["H100", "9.0a", "9.0a"]
    assert found[2].variables == {"CUDA_VISIBLE_DEVICES": "2"}
