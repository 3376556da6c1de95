from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def folder(fake_build, tmp_path: Path) -> Path:
    """A folder of prebuilt modules with one build that nobody compiled."""
    root = tmp_path / "prebuilt"
    fake_build(root / "v1" / "local" / "answer" / "recipe" / "build", inputs={"a.cu": "0" * 64})
    (root / "store.json").write_text("{}\n", encoding="utf-8")
    return root


def test_it_is_printed(fictl, folder: Path) -> None:
    answer = fictl("aot", "sbom", str(folder))
    assert answer.code == 0
    document = json.loads(answer.out)
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "prebuilt"
    assert "answer" in {component["name"] for component in document["components"]}


def test_it_is_written(fictl, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "some" / "sbom.json"
    answer = fictl("aot", "sbom", str(folder), "--out", str(out))
    assert answer.out == f"wrote {out}\n"
    assert json.loads(out.read_text()) == json.loads(fictl("aot", "sbom", str(folder)).out)


def test_the_document_holds_it(fictl, folder: Path) -> None:
    answer = fictl("aot", "sbom", str(folder), "--json")
    assert answer.document["schema"] == "fictl.aot.sbom/1"
    assert answer.document["data"]["sbom"]["specVersion"] == "1.6"


def test_what_is_no_such_folder_is_refused(fictl, tmp_path: Path) -> None:
    answer = fictl("aot", "sbom", str(tmp_path), "--json")
    assert answer.code == 2
    assert "is not a folder of prebuilt modules" in answer.document["error"]["message"]


def test_a_folder_with_a_damaged_build_is_refused(fictl, folder: Path) -> None:
    next(folder.rglob("manifest.json")).write_text("{")
    answer = fictl("aot", "sbom", str(folder), "--json")
    assert answer.code == 1
    assert "has no readable manifest" in answer.document["error"]["message"]
    assert "fictl aot verify" in answer.document["error"]["hint"]
