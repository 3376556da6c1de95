"""Limits: which ops are dumped, and how much."""

from __future__ import annotations

import threading

import pytest

from fictl.op.watch.dump.limits import Limits


@pytest.mark.parametrize(
    ("include", "exclude", "wanted"),
    [
        ((), (), True),
        (("hal*",), (), True),
        (("toy.ops.*",), (), True),
        (("scale",), (), False),
        (("HALVE",), (), False),
        ((), ("halve",), False),
        (("*",), ("toy.*",), False),
    ],
)
def test_an_op_is_chosen_by_name_or_as_users_write_it(op, include, exclude, wanted) -> None:
    assert Limits(1, 1.0, include, exclude).wants(op) is wanted


def test_the_settings_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DUMP_MAX_COUNT", "3")
    monkeypatch.setenv("FICTL_DUMP_MAX_SIZE_GB", "0.5")
    monkeypatch.setenv("FICTL_DUMP_INCLUDE", "a, b*")
    limits = Limits.from_settings()
    assert (limits.count, limits.size, limits.include) == (3, 0.5e9, ("a", "b*"))


def test_a_call_that_does_not_fit_leaves_room_for_one_that_does(warned) -> None:
    limits = Limits(9, 100.0)
    assert not limits.admit(101)
    assert limits.admit(60)
    assert not limits.grow(41)
    assert limits.grow(40)


def test_threads_together_do_not_go_beyond(warned) -> None:
    limits, admitted = Limits(50, 1e9), []
    threads = [
        threading.Thread(target=lambda: admitted.extend(limits.admit(1) for _ in range(20)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(admitted) == 50
