"""The bill of materials: what it lists, that it repeats, and that the schema of CycloneDX takes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fictl.jit.store.entry import Entry, Manifest
from fictl.ship.sbom import Shipment, sbom

SHIPMENT = Shipment("my-kernels-prebuilt-cu13", "1.2", "Apache-2.0")
SOURCES = {"<fictl/device/vec.cuh>": "a" * 64, "launcher.cu": "b" * 64}
TOOLCHAIN = {
    "nvcc": "13.0 cuda_13.0.r13.0/compiler.36424714_0",
    "cxx": "g++ (Debian 12.2.0-14+deb12u1) 12.2.0 x86_64-linux-gnu",
    "cutlass": "4.2.1",
    "cccl": "3000003",
}


@pytest.fixture
def manifest(fake_build: Callable[..., Entry], tmp_path: Path) -> Manifest:
    facts = {"inputs": SOURCES, "toolchain": TOOLCHAIN}
    return fake_build(tmp_path / "recipe" / "build", **facts).manifest


@pytest.fixture
def other(fake_build: Callable[..., Entry], tmp_path: Path) -> Manifest:
    facts = {"inputs": {**SOURCES, "launcher.cu": "c" * 64}, "module": "other", "device": "emu"}
    return fake_build(tmp_path / "second" / "build", b"other", **facts).manifest


def _document(*manifests: Manifest) -> dict[str, Any]:
    return json.loads(sbom(SHIPMENT, manifests))


def _by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {component["name"]: component for component in document["components"]}


def test_every_module_is_listed_with_the_hash_of_its_bytes(manifest: Manifest) -> None:
    module = _by_name(_document(manifest))["answer"]
    assert module["hashes"] == [
        {"alg": "SHA-256", "content": manifest.files["module.so"].sha256},
    ]
    assert {"name": "fictl:archs", "value": "8.0"} in module["properties"]


def test_every_source_is_listed_with_its_hash(manifest: Manifest) -> None:
    parts = _by_name(_document(manifest))
    names = {"fictl/device/vec.cuh": "a" * 64, "local/answer/launcher.cu": "b" * 64}
    for name, sha256 in names.items():
        assert parts[name]["hashes"] == [{"alg": "SHA-256", "content": sha256}]


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("nvcc", "13.0"),
        ("g++", "12.2.0"),
        ("cudart", "13"),
        ("nvidia-cutlass", "4.2.1"),
        ("cccl", "3.0.3"),
        ("apache-tvm-ffi", "0.1"),
    ],
)
def test_what_built_it_and_what_is_inside_has_a_version(
    manifest: Manifest, name: str, version: str
) -> None:
    assert _by_name(_document(manifest))[name]["version"] == version


def test_an_emulated_module_holds_no_cuda_runtime(other: Manifest) -> None:
    assert "cudart" not in _by_name(_document(other))


def test_a_header_of_two_modules_is_listed_once_and_each_module_names_its_own_parts(
    manifest: Manifest, other: Manifest
) -> None:
    document = _document(manifest, other)
    names = [component["name"] for component in document["components"]]
    assert names.count("fictl/device/vec.cuh") == 1
    uses = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
    modules = uses[SHIPMENT.ref]
    assert len(modules) == 2
    sources = [{ref for ref in uses[module] if "launcher.cu" in ref} for module in modules]
    assert not sources[0] & sources[1]


def test_every_reference_is_there(manifest: Manifest, other: Manifest) -> None:
    document = _document(manifest, other)
    refs = {component["bom-ref"] for component in document["components"]} | {SHIPMENT.ref}
    for entry in document["dependencies"]:
        assert {entry["ref"], *entry["dependsOn"]} <= refs


def test_it_is_the_same_whenever_and_in_whatever_order_it_is_made(
    manifest: Manifest, other: Manifest
) -> None:
    later = replace(manifest, created=2e9, seconds=99.0, peak_kib=7)
    assert sbom(SHIPMENT, [manifest, other]) == sbom(SHIPMENT, [other, later])


def test_another_content_has_another_number(manifest: Manifest, other: Manifest) -> None:
    assert _document(manifest)["serialNumber"] != _document(other)["serialNumber"]


def test_the_schema_of_cyclonedx_takes_it(manifest: Manifest, other: Manifest) -> None:
    json_schema = pytest.importorskip(
        "cyclonedx.validation.json", reason="needs cyclonedx-python-lib[json-validation]"
    )
    from cyclonedx.schema import SchemaVersion

    validator = json_schema.JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(sbom(SHIPMENT, [manifest, other])) is None
