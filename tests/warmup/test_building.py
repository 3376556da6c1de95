"""Warm-up builds: exactly the recorded modules, with one call of the callback for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.warmup import WarmupProgress, build

Change = Callable[..., Path]


def test_a_module_that_is_built_is_not_compiled_again(warmup_file: Path) -> None:
    seen: list[WarmupProgress] = []
    report = build(warmup_file, seen.append)
    (module,) = report.modules
    assert (module.title, module.compiled, module.stale) == ("tiny/elementwise.twice", False, False)
    (progress,) = seen
    assert (progress.done, progress.total, progress.left) == (1, 1, None)
    assert (progress.module, progress.compiled) == ("tiny/elementwise.twice", False)


def test_one_that_fails_stops_no_other(warmup_file: Path, changed: Change) -> None:
    good = warmup_file.read_text()
    changed(module="elementwise.gone")
    warmup_file.write_text(good + warmup_file.read_text())
    report = build(warmup_file)
    assert [module.error is None for module in report.modules] == [True, False]
    assert "elementwise.gone" in report.errors[0].message


def test_a_failed_compile_is_in_the_report_and_in_the_callback(
    warmup_file: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = next(tiny.rglob("twice.cuh"))
    header.write_text(header.read_text() + "// edited\n")
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    seen: list[WarmupProgress] = []
    report = build(warmup_file, seen.append)
    assert "FICTL_DISABLE_JIT" in report.errors[0].message + report.errors[0].hint
    assert seen[0].error == report.errors[0].message


def test_a_dry_run_builds_nothing_and_says_what_is_stale(warmup_file: Path, tiny: Path) -> None:
    header = next(tiny.rglob("twice.cuh"))
    header.write_text(header.read_text() + "// edited\n")
    (module,) = build(warmup_file, dry_run=True).modules
    assert (module.stale, module.path, module.compiled) == (True, "", False)


def test_a_callback_that_raises_ends_the_warm_up(warmup_file: Path) -> None:
    def stop(progress: WarmupProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(warmup_file, stop)
