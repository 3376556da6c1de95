"""The texts of a wheel: headers that other tools read."""

from __future__ import annotations

import configparser
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path

import pytest

from fictl.jit.store.entry import Entry, Manifest
from fictl.ship.source_package import SourcePackage
from fictl.ship.wheel_metadata import WheelName, entry_points, metadata_text, wheel_text

NAME = WheelName("My-Kernels.prebuilt-cu13", "1.2", "py3-none-manylinux_2_28_x86_64")
SOURCE = SourcePackage("my-kernels", "1.2", "MIT", {"LICENSE": b"", "NOTICE": b""})


@pytest.fixture
def manifests(fake_build: Callable[..., Entry], tmp_path: Path) -> list[Manifest]:
    facts = ({"module": "b.two", "archs": ("10.0a", "9.0a")}, {"module": "a.one"})
    return [
        fake_build(tmp_path / str(number) / "b", **fact).manifest
        for number, fact in enumerate(facts)
    ]


def test_the_file_is_named_as_installers_want_it() -> None:
    assert NAME.file == "my_kernels_prebuilt_cu13-1.2-py3-none-manylinux_2_28_x86_64.whl"
    assert NAME.info == "my_kernels_prebuilt_cu13-1.2.dist-info"


def test_the_wheel_is_of_one_platform() -> None:
    headers = Parser().parsestr(wheel_text(NAME))
    assert headers["Root-Is-Purelib"] == "false"
    assert headers["Tag"] == NAME.tag


def test_the_entry_point_names_the_folder() -> None:
    parser = configparser.ConfigParser()
    parser.read_string(entry_points(NAME))
    assert dict(parser["fictl.stores"]) == {NAME.package: NAME.package}


def test_the_headers_name_the_package_its_licence_and_its_targets(manifests) -> None:
    headers = Parser().parsestr(metadata_text(NAME, SOURCE, manifests))
    assert (headers["Name"], headers["Version"]) == (NAME.name, "1.2")
    assert headers["License-Expression"] == "MIT"
    assert headers.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert headers["Summary"] == "Prebuilt modules of my-kernels: 8.0 9.0a 10.0a"
    assert headers["Requires-Dist"] == "fictl"


def test_the_description_lists_the_modules_and_the_driver_that_they_need(manifests) -> None:
    text = Parser().parsestr(metadata_text(NAME, SOURCE, manifests)).get_payload()
    assert text.index("| a.one | 8.0 |") < text.index("| b.two | 10.0a 9.0a |")
    assert "a driver of CUDA 13 or newer" in text
    assert "libcudart.so.13, which a torch of CUDA 13 brings" in text
    assert 'pip install "nvidia-cuda-runtime==13.*"' in text


def test_an_emulated_wheel_asks_for_no_driver(fake_build, tmp_path: Path) -> None:
    emulated = fake_build(tmp_path / "r" / "b", device="emu", archs=()).manifest
    text = metadata_text(NAME, SOURCE, [emulated])
    assert "driver" not in text
    assert "NVIDIA CUDA" not in text
    assert "| answer | emu |" in text
