"""fictl compare: what is asked for, what is shown, and with which exit code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fictl.bench.compare.outcome import Compared, CompareOutcome, Untimed
from fictl.bench.result import BenchReport, Environment, save
from fictl.bench.row import Row
from fictl.timing.verdict import Comparison, Verdict

_SAME = Comparison(1.002, 0.998, 1.006, Verdict.SAME)
_SLOWER = Comparison(1.031, 1.029, 1.033, Verdict.SLOWER)
_UNCLEAR = Comparison(1.02, 0.99, 1.05, Verdict.UNCLEAR, "about 60 rounds would tell; these are 15")


def result(micros: float, **changes: Any) -> BenchReport:
    samples = tuple(micros * 1e-6 * (1 + 0.001 * (i % 5)) for i in range(20))
    state = {"name": "NVIDIA H200", "sm_mhz": 1980, "driver": "580.1", **changes}
    environment = Environment(
        "cuda",
        "2026-11-21T16:00:00+00:00",
        "0.1.0",
        "3f2a91c",
        "3.11",
        "2.13",
        "13.0",
        state,
        state,
    )
    row = Row(
        "my_kernels/elementwise/halve",
        "halve",
        "fictl",
        "halve-8-float16",
        {"n": 8},
        "float16",
        timer="cupti",
        cold=True,
        samples=samples,
    )
    return BenchReport(environment, (row,))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """old.json and new.json, which is 3 % slower in the working folder."""
    monkeypatch.chdir(tmp_path)
    save(result(20.0), tmp_path / "old.json")
    save(result(21.0), tmp_path / "new.json")


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch, repo: Path) -> Callable[..., list[Any]]:
    """Answer a comparison of revisions; the list fills with what was asked."""

    def use(*comparisons: Comparison, **more: Any) -> list[Any]:
        calls: list[Any] = []
        cases = tuple(
            Compared("my_kernels/elementwise/halve", f"halve-{i}", 20e-6, 20e-6 * each.ratio, each)
            for i, each in enumerate(comparisons)
        )

        def compare(*asked: Any) -> CompareOutcome:
            calls.append(asked)
            return CompareOutcome(
                "HEAD~1 (3f2a91c)",
                "working tree",
                "interleaved in one run",
                "NVIDIA H200 · 1980 MHz",
                0.01,
                cases,
                **more,
            )

        monkeypatch.setattr("fictl.bench.compare.dispatch.compare_revisions", compare)
        monkeypatch.setattr(
            "fictl.bench.compare.request.is_revision", lambda word, root: word.startswith("HEAD")
        )
        return calls

    return use


def test_two_results_are_a_table_and_a_summary(fictl, files) -> None:
    said = fictl("compare", "old.json", "new.json")
    assert said.code == 1
    first, columns, row, last = said.out.splitlines()
    assert first == (
        "old.json → new.json · NVIDIA H200 · 1980 MHz · "
        "different runs: 1% more is not a difference · threshold 1.0%"
    )
    assert columns.split() == [
        "case",
        "old.json",
        "new.json",
        "B",
        "/",
        "A",
        "95",
        "%",
        "interval",
        "verdict",
    ]
    assert row.split()[:5] == ["halve-8-float16", "20.04", "us", "21.04", "us"]
    assert row.endswith("SLOWER")
    assert last == "✗ 1 case: 1 SLOWER"


def test_energy_is_a_column_where_both_have_it(fictl, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, micros, joules in (("old", 20.0, 0.0312), ("new", 21.0, 0.028)):
        report = result(micros)
        rows = tuple(replace(row, joules=joules) for row in report.rows)
        save(replace(report, rows=rows), tmp_path / f"{name}.json")
    assert "31.2 → 28 mJ (0.90x)" in fictl("compare", "old.json", "new.json").out
    (case, *_) = fictl("compare", "old.json", "new.json", "--json").document["data"]["cases"]
    assert (case["joules_a"], case["joules_b"]) == (0.0312, 0.028)


def test_json_has_every_number(fictl, files) -> None:
    said = fictl("compare", "old.json", "new.json", "--json")
    assert said.code == 1
    data = said.document["data"]
    assert (said.document["schema"], said.document["ok"]) == ("fictl.compare/1", False)
    assert data["counts"] == {"SLOWER": 1}
    assert data["cases"][0]["ratio"] == pytest.approx(1.05)


@pytest.mark.parametrize("threshold", ["10%", "0.1", " 10 % "])
def test_a_threshold_is_a_share_or_in_percent(fictl, files, threshold: str) -> None:
    assert fictl("compare", "old.json", "new.json", "--threshold", threshold).code == 0


@pytest.mark.parametrize("threshold", ["x", "0", "-1%", "100%", "nan", ""])
def test_a_threshold_that_is_none_is_refused(fictl, files, threshold: str) -> None:
    said = fictl("compare", "old.json", "new.json", f"--threshold={threshold}")
    assert said.code == 2
    assert re.search("is not a share|is empty", said.err)


def test_results_of_different_gpus_are_refused_but_for_force(fictl, files, tmp_path) -> None:
    save(result(20.0, name="NVIDIA H100"), tmp_path / "new.json")
    said = fictl("compare", "old.json", "new.json")
    assert said.code == 2
    assert "GPU NVIDIA H200 and NVIDIA H100" in said.err
    forced = fictl("compare", "old.json", "new.json", "--force")
    assert forced.code == 0
    assert "  note: by force: GPU NVIDIA H200 and NVIDIA H100" in forced.out


@pytest.mark.parametrize(
    ("comparisons", "code", "last"),
    [
        ((_SAME, _SLOWER), 1, "✗ 2 cases: 1 SAME · 1 SLOWER"),
        ((_SAME,), 0, "✓ 1 case: 1 SAME"),
        ((_UNCLEAR,), 0, "? 1 case: 1 UNCLEAR · exit code 0 by --fail-on slower"),
        ((), 3, "! 0 cases: nothing in common"),
    ],
)
def test_the_verdicts_decide_the_exit_code(fictl, answer, comparisons, code, last) -> None:
    answer(*comparisons)
    said = fictl("compare", "HEAD~1", ".")
    assert said.code == code
    assert said.out.splitlines()[-1] == last


@pytest.mark.parametrize(
    ("gate", "comparisons", "more", "code", "last"),
    [
        ("slower,unclear", (_SAME, _UNCLEAR), {}, 1, "1 SAME · 1 UNCLEAR · fails on unclear"),
        ("unclear", (_SLOWER,), {}, 0, "1 SLOWER · exit code 0 by --fail-on unclear"),
        ("never", (_SLOWER,), {}, 0, "1 SLOWER · exit code 0 by --fail-on never"),
        ("missing", (_SAME,), {"only_a": ("x",)}, 1, "1 SAME · 1 missing · fails on missing"),
        ("slower", (_SAME,), {"only_a": ("x",)}, 0, "1 missing · exit code 0 by --fail-on slower"),
        ("new", (_SAME,), {"only_b": ("x",)}, 1, "1 SAME · 1 new · fails on new"),
        ("missing", (), {"only_a": ("x",)}, 1, "0 cases: 1 missing · fails on missing"),
        ("never", (_SAME,), {"untimed": (Untimed("c", "b", "wrong", True),)}, 1, "fails on wrong"),
        ("missing", (_SAME,), {"untimed": (Untimed("c", "b", "no", False),)}, 1, "on missing"),
    ],
)
def test_the_gate_the_text_and_the_exit_code_agree(
    fictl, answer, gate, comparisons, more, code, last
) -> None:
    answer(*comparisons, **more)
    said = fictl("compare", "HEAD~1", ".", "--fail-on", gate)
    assert said.code == code
    line = said.out.splitlines()[-1]
    assert line.endswith(last)
    assert line[0] == ("✗" if code else "?")


@pytest.mark.parametrize("gate", ["slow", "", "slower,never", "slower,,new"])
def test_a_gate_of_unknown_words_is_refused(fictl, answer, gate: str) -> None:
    asked = answer(_SAME)
    said = fictl("compare", "HEAD~1", ".", f"--fail-on={gate}")
    assert (said.code, asked) == (2, [])


def test_the_gate_is_in_the_document(fictl, answer) -> None:
    answer(_UNCLEAR)
    said = fictl("compare", "HEAD~1", ".", "--fail-on", "unclear,slower", "--json")
    data = said.document["data"]
    assert (said.document["ok"], data["fail_on"]) == (False, ["slower", "unclear"])
    assert data["failed"] == {"unclear": 1}


def test_files_are_written_by_their_endings(fictl, files, tmp_path) -> None:
    names = ("c.md", "c.xml", "c.csv", "c.json", "c.svg", "new/c.html")
    outs = [word for name in names for word in ("--out", name)]
    assert fictl("compare", "old.json", "new.json", *outs).code == 1
    texts = [(tmp_path / name).read_text() for name in names]
    begins = ("<!-- fictl compare -->", "<?xml", "op,case", "{", "<svg", "<!doctype html>")
    assert [text.startswith(begin) for text, begin in zip(texts, begins, strict=True)] == [True] * 6


def test_a_name_without_an_ending_needs_a_format(fictl, files, tmp_path) -> None:
    said = fictl("compare", "old.json", "new.json", "--out", "summary")
    assert said.code == 2
    assert "--format markdown|junit|csv|json|plot" in said.err
    words = ("compare", "old.json", "new.json", "--out", "summary", "--format", "markdown")
    assert fictl(*words).code == 1
    assert (tmp_path / "summary").read_text().startswith("<!-- fictl compare -->")


@pytest.mark.parametrize("words", [("x.md", "plot"), ("x.svg", "pdf"), ("x.pdf", "")])
def test_a_format_that_does_not_fit_is_refused_before_anything_runs(fictl, answer, words) -> None:
    asked = answer(_SAME)
    said = fictl("compare", "HEAD~1", ".", "--out", words[0], f"--format={words[1]}")
    assert (said.code, asked) == (2, [])


def test_an_unclear_case_says_what_would_settle_it(fictl, answer) -> None:
    answer(_UNCLEAR)
    out = fictl("compare", "HEAD~1", ".").out
    assert "UNCLEAR  about 60 rounds would tell; these are 15" in out


def test_what_was_not_compared_is_said(fictl, answer) -> None:
    answer(
        _SAME,
        only_a=("gone",),
        only_b=("fresh",),
        untimed=(Untimed("halve-9", "working tree", "[out] differs", True),),
        notes=("the GPU slowed itself down: heat",),
    )
    said = fictl("compare", "HEAD~1", ".")
    assert said.code == 1
    assert said.out.splitlines()[3:-1] == [
        "  only HEAD~1 (3f2a91c) has gone",
        "  only working tree has fresh",
        "  halve-9: working tree: [out] differs",
        "  note: the GPU slowed itself down: heat",
    ]


def test_the_flags_reach_the_benchmark(fictl, answer) -> None:
    asked = answer(_SAME)
    said = fictl(
        "compare",
        "HEAD~1..HEAD",
        "--op",
        "halve",
        "--op",
        "dense",
        "--case",
        "float16",
        "--dtype",
        "f16",
        "--timer",
        "graph",
        "--warm",
        "--rounds",
        "30",
        "--threshold",
        "2%",
    )
    assert said.code == 0, said.err
    ops, a, b, threshold, options = asked[0][:5]
    assert (ops, a, b, threshold) == (["halve", "dense"], "HEAD~1", "HEAD", 0.02)
    assert (options.case, options.dtype, options.timer) == ("float16", "f16", "graph")
    assert (options.cold, options.rounds) == (False, 30)


def test_a_project_without_baselines_says_how_to_make_one(fictl, repo) -> None:
    said = fictl("compare", "--baseline", "--op", "halve")
    assert said.code == 3
    assert "there is no baseline in" in said.err
    assert "fictl bench OP --save" in said.err


def test_a_fresh_run_is_compared_with_the_baseline(fictl, repo, monkeypatch) -> None:
    save(result(20.0), repo / "benchmarks" / "h200-1980" / "halve.json")
    monkeypatch.setattr("fictl.bench.compare.results.bench", lambda *_asked: result(21.0))
    said = fictl("compare", "--baseline", "--op", "halve")
    assert said.code == 1
    assert said.out.startswith("baseline → now · NVIDIA H200")


def test_a_baseline_is_not_compared_with_two_more(fictl, repo) -> None:
    said = fictl("compare", "--baseline", "HEAD", ".")
    assert said.code == 2
    assert "--baseline" in said.err


def test_without_anything_to_compare_it_says_what_there_is(fictl, repo) -> None:
    said = fictl("compare")
    assert said.code == 2
    assert "A and B are two" in said.err
    assert "HEAD~3..HEAD" in said.err
