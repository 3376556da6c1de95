"""Results that a crash cut off: said, kept aside, and run again."""

from __future__ import annotations

from fictl.dataset.run_observer import RunObserver
from fictl.trace import TraceSet

from .samples import run, saved


def test_resume_after_a_kill_in_the_middle_of_a_line(dataset: TraceSet) -> None:
    """It is said, kept aside, and run again."""
    run(dataset, solutions=("scale_a",))
    (path,) = dataset.root.rglob("traces/**/*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    again = run(dataset, resume=True, solutions=("scale_a",))
    assert [each.workload for each in again.outcomes] == ["s2"]
    (said,) = again.unreadable
    assert said.startswith(f"{path}:3: not valid JSON: ")
    assert "it is in .scale.jsonl.torn now" in said
    assert path.with_name(".scale.jsonl.torn").read_bytes() == whole.splitlines()[2][:-39]
    assert len(saved(dataset)) == 3
    assert run(dataset, resume=True, solutions=("scale_a",)).unreadable == ()


def test_resume_says_broken_lines_in_the_middle_too(dataset: TraceSet) -> None:
    run(dataset, solutions=("scale_a",))
    (path,) = dataset.root.rglob("traces/**/*.jsonl")
    first, *rest = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first[:50], *rest]) + b"\n")
    observer = _Notes()
    again = run(dataset, resume=True, solutions=("scale_a",), observer=observer)
    assert [each.workload for each in again.outcomes] == ["s0"]
    assert len(again.unreadable) == 1
    assert again.unreadable[0].endswith("scale.jsonl:1: " + again.unreadable[0].split(":1: ")[1])
    assert observer.notes == [*again.unreadable]
    assert path.read_bytes().startswith(first[:50] + b"\n")


def test_a_last_line_without_an_end_that_is_whole_counts(dataset: TraceSet) -> None:
    run(dataset, solutions=("mm_a",))
    (path,) = dataset.root.rglob("traces/**/*.jsonl")
    path.write_bytes(path.read_bytes().rstrip())
    again = run(dataset, resume=True, solutions=("mm_a",))
    assert (again.skipped, again.unreadable) == (1, ())


def test_a_whole_line_without_an_end_is_not_cut_for_another_that_is_broken(
    dataset: TraceSet,
) -> None:
    run(dataset, solutions=("scale_a",))
    (path,) = dataset.root.rglob("traces/**/*.jsonl")
    first, *rest = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first[:50], *rest]))
    again = run(dataset, resume=True, solutions=("scale_a",))
    assert [each.workload for each in again.outcomes] == ["s0"]
    assert not path.with_name(".scale.jsonl.torn").exists()
    assert rest[-1] in path.read_bytes().splitlines()


def test_a_file_of_nothing_but_a_torn_line_is_emptied(dataset: TraceSet) -> None:
    run(dataset, solutions=("mm_a",))
    (path,) = dataset.root.rglob("traces/**/*.jsonl")
    path.write_bytes(b"\xff{")
    assert len(run(dataset, resume=True, solutions=("mm_a",)).outcomes) == 1
    assert len(saved(dataset)) == 1
    assert [*dataset.files.others()] == []


def test_what_is_not_kept_mends_nothing(dataset: TraceSet) -> None:
    run(dataset, solutions=("mm_a",))
    (path,) = dataset.root.rglob("traces/**/*.jsonl")
    path.write_bytes(path.read_bytes()[:-40])
    before = path.read_bytes()
    assert len(run(dataset, resume=True, save=False, solutions=("mm_a",)).unreadable) == 1
    assert path.read_bytes() == before


class _Notes(RunObserver):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)
