"""A journal: written a line at a time, read while it grows, by one process or several ranks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl.report.outcome import TestOutcome
from fictl.testing.runner.journal import Journal, JournalWriter

GOOD, BAD = (
    TestOutcome("test_it", "passed", 0.5),
    TestOutcome("test_it", "failed", 0.5, "why", "fictl …"),
)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def test_before_the_first_line_there_is_nothing(journal: Journal) -> None:
    assert not journal.read()
    assert not journal.ended


def test_what_a_process_wrote_is_read_once(journal: Journal) -> None:
    writer = JournalWriter(journal.path)
    writer.began("emu", ["forward"])
    writer.collected(3)
    assert journal.read()
    assert not journal.read()
    assert (journal.processes, journal.device, journal.total) == ({0: os.getpid()}, "emu", 3)


def test_a_test_that_runs_is_a_failure_until_it_says_otherwise(journal: Journal) -> None:
    writer = JournalWriter(journal.path)
    writer.started("test_it", "fictl test x -k test_it")
    journal.read()
    running = journal.running[0]
    assert (running.outcome, running.command) == ("failed", "fictl test x -k test_it")
    writer.finished(GOOD)
    journal.read()
    assert (journal.running, journal.outcomes) == ({}, {"test_it": GOOD})


def test_half_a_line_waits_for_the_rest(journal: Journal) -> None:
    JournalWriter(journal.path).collected(3)
    line = journal.path.read_bytes()
    journal.path.write_bytes(line[:5])
    assert not journal.read()
    journal.path.write_bytes(line)
    assert journal.read()


@pytest.mark.parametrize("order", [(GOOD, BAD), (BAD, GOOD)])
def test_a_test_ended_as_on_its_worst_rank(journal: Journal, order) -> None:
    for rank, outcome in enumerate(order):
        JournalWriter(journal.path, rank).finished(outcome)
    journal.read()
    assert journal.outcomes == {"test_it": BAD}


def test_all_ranks_have_to_end(journal: Journal) -> None:
    ranks = [JournalWriter(journal.path, rank) for rank in range(2)]
    for rank in ranks:
        rank.began("emu", [])
    ranks[1].ended()
    journal.read()
    assert not journal.ended
    ranks[0].ended()
    journal.read()
    assert journal.ended


def test_another_process_goes_on_with_the_outcomes(journal: Journal) -> None:
    writer = JournalWriter(journal.path)
    writer.began("cuda", [])
    writer.finished(GOOD)
    writer.started("test_other", "")
    journal.read()
    journal.begin()
    assert (journal.processes, journal.running) == ({}, {})
    writer.collected(4)
    journal.read()
    assert (journal.total, [*journal.outcomes]) == (5, ["test_it"])
