"""Specs of a record: of the project's own files and flags; what does not fit them is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.builds.building import specs_of
from fictl.errors import FictlError
from fictl.jit.recipe import recipe_of
from fictl.warmup import read
from fictl.warmup.specs import is_stale, spec_of

Change = Callable[..., Path]


def test_the_recorded_module_is_the_one_that_is_built(warmup_file: Path) -> None:
    (needed,) = read(warmup_file).modules
    assert recipe_of(spec_of(needed)).key == recipe_of(specs_of(["twice"])[0]).key == needed.recipe


def test_parameters_of_no_aot_make_the_module_that_the_op_makes(changed: Change) -> None:
    import torch

    from fictl.kernels.sampling.renorm.jit import module

    spec = module(torch.float32)
    path = changed(
        project="fictl",
        module="sampling.renorm",
        sources=[source.name for source in spec.sources],
        parameters={"type": "float"},
    )
    (needed,) = read(path).modules
    assert recipe_of(spec_of(needed)).key == recipe_of(spec).key


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"project": "others"}, "there is no project 'others' here"),
        ({"module": "elementwise.gone"}, "no module elementwise.gone"),
        ({"sources": ["launcher_sm90.cu", "binding.cpp"]}, "launcher_sm90.cu"),
        ({"cuda_flags": ["-fplugin=/tmp/evil.so"]}, "-fplugin"),
        ({"link_flags": ["-Wl,-rpath,/tmp"]}, "-rpath"),
        ({"parameters": {"type": "float"}}, "has no config.jinja"),
    ],
)
def test_what_the_project_does_not_have_is_refused(
    changed: Change, values: dict[str, object], words: str
) -> None:
    (needed,) = read(changed(**values)).modules
    with pytest.raises(FictlError) as caught:
        spec_of(needed)
    assert words in caught.value.message


def test_other_parameters_than_the_template_has_are_refused(changed: Change) -> None:
    values = {"project": "fictl", "module": "sampling.renorm"}
    (needed,) = read(changed(**values, parameters={"type": "float", "more": 1})).modules
    with pytest.raises(FictlError, match="its template takes type, not"):
        spec_of(needed)


def test_an_edit_makes_a_record_stale(warmup_file: Path, tiny: Path) -> None:
    (needed,) = read(warmup_file).modules
    assert not is_stale(needed, spec_of(needed))
    header = next(tiny.rglob("twice.cuh"))
    header.write_text(header.read_text() + "// edited\n")
    assert is_stale(needed, spec_of(needed))


def test_a_project_of_another_user_is_refused(
    warmup_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fictl.project import trusted

    (needed,) = read(warmup_file).modules
    monkeypatch.setattr(trusted, "_trusted_users", lambda: {54321})
    trusted.require_trusted.cache_clear()
    with pytest.raises(FictlError, match="its code does not run"):
        spec_of(needed)
