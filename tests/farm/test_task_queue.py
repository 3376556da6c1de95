"""Which place gets a task, and when there is none any more."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from fictl.farm.place import Place
from fictl.farm.task_queue import Batch, Task, TaskQueue


def queue_of(*batches: Batch[str], places: str = "a b") -> TaskQueue[str]:
    left: dict[str, int] = {}
    for batch in batches:
        left[batch.kind] = left.get(batch.kind, 0) + batch.left
    queue: TaskQueue[str] = TaskQueue(left, {name: Place(name) for name in places.split()})
    for batch in batches:
        queue.add(batch)
    return queue


def batch(words: str, kind: str = "", count: int = 0) -> Batch[str]:
    works = words.split()
    return Batch(iter(works), count or len(works), kind)


def works(queue: TaskQueue[str], place: str, count: int = 100) -> list[str]:
    """Have the place do all it gets, alone; return the work."""
    done = []
    while len(done) < count and (task := queue.take(place)) is not None:
        done.append(task.work)
        queue.end(task.batch.kind)
    return done


def test_a_place_stays_with_its_batch_and_others_help_when_they_have_none() -> None:
    queue = queue_of(batch("a1 a2 a3 a4"), batch("b1"))
    first, second = queue.take("a"), queue.take("b")
    assert first
    assert second
    assert (first.work, second.work) == ("a1", "b1")
    assert works(queue, "b", 1) == ["a2"]
    assert works(queue, "a", 1) == ["a3"]


def test_a_lost_task_is_first_in_line_for_another_place() -> None:
    queue = queue_of(batch("lost next more"))
    lost = queue.take("a")
    assert lost is not None
    queue.give_back(lost.lost_at("a"))
    assert works(queue, "a", 1) == ["next"]
    again = queue.take("b")
    assert again
    assert (again.work, again.losses) == ("lost", ("a",))


def test_a_task_that_every_place_lost_goes_round_again() -> None:
    queue = queue_of(batch("lost"))
    lost = queue.take("a")
    assert lost is not None
    queue.give_back(lost.lost_at("a").lost_at("b").lost_at("a"))
    assert works(queue, "a", 1) == ["lost"]


def test_a_place_that_waits_for_its_gpu_is_not_waited_for() -> None:
    queue = queue_of(batch("lost"))
    lost = queue.take("a")
    assert lost is not None
    queue.step_aside("b")
    queue.give_back(lost.lost_at("a"))
    again = queue.take("a")
    assert again is not None
    queue.enter("b")
    queue.give_back(again)
    assert works(queue, "b", 1) == ["lost"]


def test_a_place_waits_for_what_another_may_lose() -> None:
    queue = queue_of(batch("only"))
    taken = queue.take("a")
    assert taken is not None
    got: list[Task[str] | None] = []
    waiting = threading.Thread(target=lambda: got.append(queue.take("b")))
    waiting.start()
    queue.give_back(taken.lost_at("a"))
    waiting.join(30)
    assert [task and task.work for task in got] == ["only"]
    queue.end("")
    assert queue.take("a") is None
    assert queue.is_over


def test_what_a_place_leaves_behind_is_begun_by_another() -> None:
    queue = queue_of(batch("a1 a2"))
    assert works(queue, "a", 1) == ["a1"]
    queue.leave("a")
    assert works(queue, "b") == ["a2"]


def test_without_places_nobody_waits() -> None:
    queue = queue_of(batch("only"))
    queue.leave("b")
    assert not queue.is_over
    queue.leave("a")
    assert queue.is_over
    assert queue.take("a") is None


def test_a_batch_may_be_shorter_than_was_counted() -> None:
    queue = queue_of(batch("a1", count=3), batch("b1"))
    assert works(queue, "a") == ["a1", "b1"]
    assert queue.is_over


def test_what_is_dropped_is_counted_once() -> None:
    first = batch("a1 a2 a3")
    queue = queue_of(first, batch("b1"))
    lost = queue.take("a")
    assert lost is not None
    queue.give_back(lost)
    assert queue.drop(first) == 3
    assert queue.drop(first) == 0
    assert works(queue, "a") == ["b1"]


def test_a_kind_goes_to_its_places_only() -> None:
    places = {"a": Place("a", hardware="NVIDIA_H200"), "b": Place("b", hardware="NVIDIA_B200")}
    queue: TaskQueue[str] = TaskQueue({"H200": 1, "B200": 1}, places)
    queue.add(batch("for-b", "B200"))
    queue.add(batch("for-a", "H200"))
    assert works(queue, "a") == ["for-a"]
    assert works(queue, "b") == ["for-b"]


def put_off(queue: TaskQueue[str], place: str, key: str, *built: str) -> str:
    task = queue.take(place)
    assert task is not None
    queue.put_off(task, place, key, built)
    return task.work


def test_a_place_does_other_work_while_a_task_waits_for_its_build() -> None:
    queue = queue_of(batch("a1 a2"), batch("b1"), places="a")
    assert put_off(queue, "a", "k") == "a1"
    task = queue.take("a")
    assert task is not None
    assert (task.work, task.waits_for) == ("b1", "")
    queue.end("")
    again = queue.take("a")
    assert again is not None
    assert (again.work, again.waits_for) == ("a1", "k")  # Nothing else is left: it waits.
    queue.end("")
    assert works(queue, "a") == ["a2"]


def test_what_is_built_comes_before_what_was_not_begun() -> None:
    queue = queue_of(batch("a1"), batch("b1"), batch("c1"), places="a")
    assert put_off(queue, "a", "k") == "a1"
    assert put_off(queue, "a", "l", "k") == "b1"
    assert works(queue, "a") == ["a1", "c1", "b1"]


def test_places_of_one_machine_share_what_is_built_and_others_do_not() -> None:
    queue = queue_of(batch("a1"), batch("b1"), places="a b")
    assert put_off(queue, "a", "k") == "a1"
    queue.put_off(Task(batch(""), "other"), "a", "l", ["k"])
    assert works(queue, "b", 1) == ["a1"]
    far = {"a": Place("a", launch=("ssh", "a")), "b": Place("b", launch=("ssh", "b"))}
    apart: TaskQueue[str] = TaskQueue({"": 3}, far)
    for words in ("a1", "b1", "c1"):
        apart.add(batch(words))
    assert put_off(apart, "a", "k") == "a1"
    assert put_off(apart, "a", "l", "k") == "b1"
    assert works(apart, "b", 1) == ["c1"]
    assert works(apart, "b", 1) == ["a1"]  # It has nothing else to do.


def test_a_second_build_of_a_task_is_waited_for_as_well() -> None:
    queue = queue_of(batch("a1"), places="a")
    put_off(queue, "a", "k")
    put_off(queue, "a", "l", "k")
    put_off(queue, "a", "k", "l")  # Its build went away, and is made again.
    task = queue.take("a")
    assert task is not None
    assert task.waits_for == "k"


def test_what_was_put_off_is_dropped_with_its_batch_and_left_with_its_place() -> None:
    dropped = batch("a1 a2 a3")
    queue = queue_of(dropped, batch("b1"))
    put_off(queue, "a", "k")
    put_off(queue, "b", "k")
    assert queue.left == 4
    queue.leave("a")
    assert queue.drop(dropped) == 3
    assert works(queue, "b") == ["b1"]


def test_tasks_that_wait_for_builds_are_neither_lost_nor_doubled() -> None:
    queue = queue_of(*(batch(f"{name}1 {name}2 {name}3") for name in "abcdefgh"), places="a b c")
    done: list[str] = []
    built: set[str] = set()
    lock = threading.Lock()

    def work(place: str) -> None:
        while (task := queue.take(place)) is not None:
            key = task.work[0]
            with lock:
                is_ready = key in built or bool(task.waits_for)
                built.add(key)
                if is_ready:
                    done.append(task.work)
            if is_ready:
                queue.end("")
            else:
                queue.put_off(task, place, key)

    threads = [threading.Thread(target=work, args=(place,)) for place in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == sorted(f"{name}{number}" for name in "abcdefgh" for number in (1, 2, 3))


def _two_tasks(closed: list[bool]) -> Iterator[str]:
    try:
        yield from ("a", "b")
    finally:
        closed.append(True)


@pytest.mark.parametrize("count", [1, 2, 3], ids=["fewer than there are", "all", "more"])
def test_what_tasks_are_read_from_is_closed_with_the_last(count: int) -> None:
    closed: list[bool] = []
    one = Batch(_two_tasks(closed), count)
    while one.next() is not None:
        pass
    assert (one.left, closed) == (0, [True])


def test_what_tasks_are_read_from_is_closed_if_they_are_dropped() -> None:
    closed: list[bool] = []
    one = Batch(_two_tasks(closed), 2)
    queue = queue_of(one)
    assert queue.take("a") is not None
    assert queue.drop(one) == 1
    assert closed == [True]
