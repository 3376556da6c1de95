"""The document of a build: stable, canonical, and hostile until it is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fictl.jit.remote.bucket import BadAnswer
from fictl.jit.remote.document import LARGEST_FILE, canonical, document_of, read_document
from fictl.jit.store.entry import FileStamp, Manifest

MANIFEST = Manifest(
    project="my_kernels",
    module="elementwise.scale",
    recipe="49f8" * 6,
    build="bfe4" * 6,
    device="cuda",
    variant="release",
    archs=("8.0", "9.0a"),
    toolchain={"nvcc": "13.0"},
    ffi_abi="0.1",
    cudart=13,
    inputs={"a.cu": "00" * 32},
    flags={"cxx": ["-O3"]},
    parameters={"n": 3},
    files={"module.so": FileStamp(757736, 1_700_000_000_000, "d07e" * 16)},
    fictl="0.1.0",
    created=1.0,
    seconds=2.0,
    peak_kib=3,
    units={"binding.o": 1.0},
)


def test_what_one_run_decides_is_not_in_it() -> None:
    stamps = {"module.so": replace(MANIFEST.files["module.so"], mtime_ns=5)}
    other = replace(MANIFEST, created=9.0, seconds=9.0, peak_kib=9, units={}, files=stamps)
    assert document_of(MANIFEST, {}, "b") == document_of(other, {}, "b")
    assert document_of(MANIFEST, {}, "b").data != document_of(MANIFEST, {"commit": "1"}, "b").data


def test_it_is_read_again_as_it_was() -> None:
    document = document_of(MANIFEST, {"commit": "abc", "dirty": False}, "fictl 0.1.0")
    again = read_document(document.data)
    assert again == document
    assert again.manifest.files["module.so"].sha256 == "d07e" * 16
    assert again.comment == f"fictl.build my_kernels/elementwise.scale/{'49f8' * 6}/{'bfe4' * 6}"
    assert again.name.endswith(f"/{'bfe4' * 6}-{again.sha256}.json")
    assert again.blobs == {"module.so": f"blobs/sha256/d0/{'d07e' * 16}"}


def changed(**values: Any) -> bytes:
    return canonical({**json.loads(document_of(MANIFEST, {}, "").data), **values})


def one_file(name: str = "module.so", size: Any = 1, sha256: Any = "00" * 32) -> dict[str, Any]:
    return {name: {"size": size, "sha256": sha256}}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 100_000,
        changed(schema="fictl.build/0"),
        changed(project="../.."),
        changed(module="a/b"),
        changed(recipe=""),
        changed(build="../x"),
        changed(archs=["x"]),
        changed(files={}),
        changed(files=[]),
        changed(files=one_file("../module.so")),
        changed(files=one_file(".hidden")),
        changed(files=one_file(size=-1)),
        changed(files=one_file(size=LARGEST_FILE + 1)),
        changed(files=one_file(size=1.5)),
        changed(files=one_file(size=True)),
        changed(files=one_file(sha256="../../etc/passwd")),
        changed(files=one_file(sha256=None)),
        changed(files={f"f{n}": {"size": 1, "sha256": "00" * 32} for n in range(17)}),
    ],
)
def test_what_is_not_one_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(BadAnswer, match="not the document of a build"):
        read_document(data)
