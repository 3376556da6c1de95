"""The files of an op, as they come and go."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project import select
from fictl.watch.made_of import MadeOf

HEADER = Path("kernels/include/tiny/elementwise/twice.cuh")


@pytest.fixture
def twice(tiny: Path) -> MadeOf:
    return MadeOf(select(["twice"]))


def names(made_of: MadeOf, root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in made_of.contents()}


def test_an_op_is_its_folder_its_headers_its_tests_and_its_project_file(tiny, twice) -> None:
    (tiny / "kernels/elementwise/_shared.py").touch()
    (tiny / "kernels/elementwise/twice/.op.py.swp").touch()
    (tiny / "tests/kernels/conftest.py").touch()
    folder = {
        f"kernels/elementwise/twice/{name}"
        for name in ("op.py", "jit.py", "trace.py", "bench.py", "binding.cpp", "launcher.cu")
    }
    assert names(twice, tiny) == folder | {
        str(HEADER),
        "kernels/elementwise/_shared.py",
        "fictl.toml",
        "tests/kernels/conftest.py",
        "tests/kernels/elementwise/test_twice.py",
    }


def test_a_header_belongs_to_it_as_soon_as_it_is_reached(tiny, twice) -> None:
    (tiny / HEADER).write_text('#include "more.cuh"\n')
    assert "kernels/include/tiny/elementwise/more.cuh" not in names(twice, tiny)
    (tiny / HEADER).with_name("more.cuh").touch()
    assert "kernels/include/tiny/elementwise/more.cuh" in names(twice, tiny)


def test_what_it_uses_belongs_to_it(tiny, twice) -> None:
    op = tiny / "kernels/elementwise/twice/op.py"
    (tiny / "kernels/other/half").mkdir(parents=True)
    decorated = '@op(archs=">=8.0", dtypes="i32", mutates="")\ndef half(input): ...\n'
    (tiny / "kernels/other/half/op.py").write_text(f"from fictl.op import op\n\n{decorated}")
    op.write_text(op.read_text().replace('mutates=""', 'mutates="", uses="half"'))
    assert "kernels/other/half/op.py" in names(twice, tiny)
    assert twice.places()[tiny / "kernels/other"] is True


def test_a_header_that_nothing_can_read_leaves_the_others_watched(tiny, twice, monkeypatch) -> None:
    before = names(twice, tiny)
    monkeypatch.setattr("fictl.jit.sources._known", {})
    (tiny / HEADER).unlink()
    (tiny / HEADER).symlink_to(tiny / HEADER)
    assert names(twice, tiny) == before - {str(HEADER)}


def test_the_places_are_few_and_also_those_that_are_not_there_yet(tiny, twice) -> None:
    (tiny / "tests/kernels/elementwise/test_twice.py").unlink()
    (tiny / "tests/kernels/elementwise").rmdir()
    below = {
        tiny / "kernels/elementwise",
        tiny / "kernels/include",
        tiny / "tests/kernels/elementwise",
    }
    flat = {tiny, tiny / "tests/kernels"}
    assert twice.places() == dict.fromkeys(below, True) | dict.fromkeys(flat, False)


def test_a_header_from_elsewhere_is_watched_where_it_lies(tiny, twice, tmp_path) -> None:
    other = tmp_path / "other" / "far.cuh"
    other.parent.mkdir()
    other.touch()
    (tiny / HEADER).write_text('#include "../../../../../other/far.cuh"\n')
    assert twice.places()[other.parent] is False
