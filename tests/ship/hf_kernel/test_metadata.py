from __future__ import annotations

import json

import pytest

from fictl.errors import UsageError
from fictl.ship.hf_kernel.metadata import Backend, default_name, kernel_name, metadata
from fictl.ship.hf_kernel.readme import too_new

CU130 = Backend("cuda", "cu130", ("8.0", "9.0a"))


def document(files: dict[str, bytes], version: int = 1, backend: Backend = CU130) -> dict:
    return json.loads(metadata("my-kernel", version, "MIT", backend, files))


def test_the_digest_names_every_file() -> None:
    made = document({"module.so": b"\x7fELF", "__init__.py": b""})
    assert made["digest"]["algorithm"] == "sha256"
    assert list(made["digest"]["files"]) == ["__init__.py", "module.so"]
    empty = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    assert made["digest"]["files"]["__init__.py"] == empty
    assert made["backend"] == {"type": "cuda", "archs": ["8.0", "9.0a"]}


def test_the_imported_module_has_a_name_of_its_own() -> None:
    """Two that are loaded into one process must not be one."""
    files = {"module.so": b"a"}
    ids = [
        document(files)["id"],
        document({"module.so": b"b"})["id"],
        document(files, version=2)["id"],
        document(files, backend=Backend("cpu", "cpu", ()))["id"],
    ]
    assert len({*ids}) == 4
    assert all(each.isidentifier() for each in ids)
    assert document(files)["id"] == ids[0]


@pytest.mark.parametrize(
    ("project", "module", "name"),
    [("fictl", "act_and_mul", "fictl-act-and-mul"), ("My_K", "x2_", "my-k-x2")],
)
def test_a_kernel_is_named_by_project_and_op(project: str, module: str, name: str) -> None:
    assert default_name(project, module) == name
    assert kernel_name(name) == name


@pytest.mark.parametrize("name", ["", "a", "A-b", "1-b", "a-", "a_b", "a/../b", "a\n"])
def test_a_name_that_the_hub_refuses_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a name of a kernel"):
        kernel_name(name)


def test_libraries_newer_than_the_hubs_are_named() -> None:
    assert too_new((2, 28), (3, 4, 24)) == ""
    assert too_new(None, None) == ""
    assert too_new((2, 34), (3, 4, 9)) == "glibc 2.34 (the hub asks for 2.28 at most)"
    assert "libstdc++ 3.4.26" in too_new((2, 17), (3, 4, 26))
