"""Ops as definitions, workloads and solutions: all that fictl ships, and what stands in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from safetensors.torch import load_file

from fictl.case.definitions import Traced, traced
from fictl.dataset.export.bundle import Bundle
from fictl.dataset.export.solution import solution_of, solutions_of
from fictl.dataset.export.workloads import CaseWorkload, workloads_of
from fictl.dataset.export.write import Export
from fictl.errors import UsageError
from fictl.project import OpFolder, Project, folders
from fictl.project.cpp_source import read_cpp
from fictl.trace import Solution, TraceSet

SHIPPED = Project.shipped()


def op(family: str, module: str) -> OpFolder:
    return OpFolder(SHIPPED, family, module)


def of(family: str, module: str, name: str) -> Solution:
    one = Traced(op(family, module), name)
    return solution_of(one, next(iter(one.definitions().values())))


def entry(solution: Solution) -> str:
    return solution.get_entry_source().content.partition("\n\n\n")[2]


@pytest.fixture(scope="module")
def solutions() -> dict[str, Solution]:
    """The first of each public function that fictl ships, by its name."""
    found = {}
    for each in traced(folders(SHIPPED)):
        definition = each.definition(each.cases[0])
        found[each.name] = solution_of(each, definition)
    return found


def test_every_shipped_function_is_a_solution(solutions: dict[str, Solution]) -> None:
    assert {*solutions} == {d.name for each in folders(SHIPPED) for d in each.declarations()}
    for solution in solutions.values():
        ast.parse(solution.get_entry_source().content)


def test_nothing_of_what_it_includes_or_imports_is_left_behind(
    solutions: dict[str, Solution],
) -> None:
    """But for headers of toolkits and of the FFI, which are installed."""
    for name, solution in solutions.items():
        paths = {source.path for source in solution.sources}
        for source in solution.sources:
            where = (
                SHIPPED.kernels / Path(source.path).relative_to("kernels")
                if (source.path.startswith("kernels/"))
                else None
            )
            if where is None or where.suffix == ".py":
                continue
            for include in read_cpp(where).includes:
                if include.name.startswith(("fictl/", "binding/")):
                    places = (f"kernels/include/{include.name}", f"kernels/{include.name}")
                    assert {*places} & paths, f"{name}: {source.path} includes {include.name}"


def test_an_op_of_others_brings_them_along() -> None:
    found = {path.parent.name for path in Bundle(op("attention", "cascade")).files}
    assert {"cascade", "decode", "prefill", "merge_state"} <= found


def test_benchmarks_and_tests_stay(solutions: dict[str, Solution]) -> None:
    names = {Path(s.path).name for each in solutions.values() for s in each.sources}
    assert not {"bench.py", *(n for n in names if n.startswith("test_"))} & names


def test_what_the_caller_may_allocate_is_passed() -> None:
    solution = of("elementwise", "scale", "scale")
    assert solution.spec.destination_passing_style
    assert entry(solution) == (
        "def run(input, factor, out):\n    scale(input=input, factor=factor, out=out)\n"
    )


def test_what_is_written_in_place_is_returned() -> None:
    solution = of("norm", "rmsnorm", "fused_add_rmsnorm")
    assert not solution.spec.destination_passing_style
    assert entry(solution).endswith("    return input, residual\n")


def test_room_that_the_op_wants_is_made() -> None:
    said = entry(of("norm", "rmsnorm", "fused_add_rmsnorm_quant"))
    assert (
        "    out = torch.empty((input.shape[0], 264), dtype=torch.float8_e4m3fn, "
        "device=input.device)\n"
    ) in said
    assert said.endswith("    return out, residual\n")


def test_a_class_plans_in_every_call() -> None:
    said = entry(of("segment", "segment_sum", "SegmentSum"))
    assert said.endswith(
        "    plan, launch = bind(SegmentSum, inputs)\n    plan()\n    return launch()\n"
    )


def test_a_definition_that_is_none_of_it_is_told_by_the_nearest() -> None:
    every = [Traced(op("elementwise", "scale"), "scale")]
    with pytest.raises(UsageError, match="no definition of it is called 'scale_f17'") as raised:
        next(solutions_of(every, ["scale_f17"]))
    assert "scale_f16" in raised.value.hint


def cases(family: str, module: str, name: str) -> Iterator[CaseWorkload]:
    return workloads_of(Traced(op(family, module), name), most=1 << 14)


def test_numbers_are_said_and_the_rest_is_random() -> None:
    first = next(cases("topk", "top_k", "top_k")).workload
    assert first.inputs["input"].type == "random"
    assert first.scalars()["k"] == first.axes["k"]


def test_what_cannot_be_random_is_in_a_file_of_the_same_tensors(tmp_path: Path) -> None:
    every = tuple(traced([op("segment", "segment_sum")]))
    Export(tmp_path, every, most=1 << 12).run()
    (first, *_) = TraceSet.from_path(tmp_path).workloads()
    spec = first.workload.inputs["indptr"]
    held = load_file(tmp_path / spec.path)[spec.tensor_key]
    assert int(held[-1]) == first.workload.axes.get("total", int(held[-1]))
    assert int(held[0]) == 0


def test_what_is_large_is_left_to_the_definitions_init() -> None:
    made = workloads_of(Traced(op("sampling", "from_probs"), "sampling_from_probs"))
    types = {each.workload.inputs["probs"].type for each in made}
    assert types == {"safetensors", "custom"}


def test_once_more_changes_nothing(tmp_path: Path) -> None:
    export = lambda: Export(tmp_path, tuple(traced([op("elementwise", "scale")]))).run()  # noqa: E731
    first = export()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert export().to_dict() == first.to_dict()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_to_count_writes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "data"
    made = Export(root, tuple(traced([op("elementwise", "scale")]))).run(dry_run=True)
    assert (made.definitions, made.solutions, made.written) == (3, 3, False)
    assert not root.exists()


def test_an_import_by_the_projects_name_is_a_relative_one_in_a_copy(stray: Path) -> None:
    """The copy has another name, and would get what is installed, or nothing."""
    project = Project.at(stray)
    folder = OpFolder(project, "elementwise", "shift")
    beside = project.kernels / "moves" / "swap"
    beside.mkdir(parents=True)
    (beside / "op.py").write_text("from stray.moves._shared import by\n")
    (beside.parent / "_shared.py").write_text("by = 1\n")
    text = folder.op.read_text().replace(
        "import torch\n", "import torch\n\nfrom stray.moves.swap.op import by\n", 1
    )
    folder.op.write_text(text)
    (solution,) = (solution_of(t, t.definition(t.cases[0])) for t in [Traced(folder, "shift")])
    texts = {source.path: source.content for source in solution.sources}
    assert "\nfrom ...moves.swap.op import by\n" in texts["kernels/elementwise/shift/op.py"]
    assert texts["kernels/moves/swap/op.py"] == "from ...moves._shared import by\n"
    assert texts["kernels/moves/_shared.py"] == "by = 1\n"
