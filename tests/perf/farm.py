"""The scheduler of places, with simulated ones: a million tasks, and what it costs to hand them on;
and the way to a worker in a Ray cluster.
"""

from __future__ import annotations

import os
import queue
import sys
import tempfile
import threading
from pathlib import Path

from fictl.farm.connection import Connection
from fictl.farm.line import Greeting, HoldGpu, JobStarted
from fictl.farm.place import Place
from fictl.farm.ray.link import end_links
from fictl.farm.ray.needs import ClusterNeeds
from fictl.judge.config import EvalConfig
from sample import Pair, interleave, timed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "farm"))

from ray_cluster import TriedCluster, token_of
from simulation import Found, Habits, simulate, without_pauses

_TASKS, _PLACES = 1_000_000, 1_000
_HABITS = Habits(
    dies=0.02, is_preempted=0.005, straggles=0.002, bad_places=0.02, absent_places=0.02
)
_MOST_GROWTH_MIB = 32


def large() -> Pair:
    """Seconds of the driver; raises if a result is lost, doubled or blamed, or if memory grows."""
    peaks: list[int] = []

    def tick(found: Found) -> None:
        if sum(found.results[:1]) and len(peaks) < 10_000:
            peaks.append(_resident_mib())

    for _ in without_pauses():
        found = simulate(_PLACES, _TASKS, _HABITS, batches=200, tick=tick)
    wrong = _TASKS - found.keys_with(1)
    if wrong or found.blamed:
        raise RuntimeError(f"{wrong} tasks have not one result, {len(found.blamed)} are blamed")
    if peaks and max(peaks) - peaks[0] > _MOST_GROWTH_MIB:
        raise RuntimeError(f"memory grew from {peaks[0]} to {max(peaks)} MiB")
    yardstick = timed(_handed_on)
    return Pair(found.seconds, yardstick, found.seconds / yardstick)


def _handed_on() -> None:
    """Two threads that send a number back and forth, as a place and a writer do."""
    there: queue.SimpleQueue[int] = queue.SimpleQueue()
    back: queue.SimpleQueue[int] = queue.SimpleQueue()

    def answer() -> None:
        for _ in range(_TASKS):
            back.put(there.get())

    other = threading.Thread(target=answer)
    other.start()
    for number in range(_TASKS):
        there.put(number)
        back.get()
    other.join()


def _resident_mib() -> int:
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


_MOST_OVERHEAD_S = 0.05
_DOCUMENT = "x" * 20_000  # A definition, or a solution.
_EVALUATIONS = 50


def over_ray() -> Pair:
    """Seconds that the messages of an evaluation take by Ray more than by a pipe, in those it may."""
    cluster = TriedCluster(1)
    try:
        whole = cluster.whole()
        os.environ.update(token_of(whole))
        there = Place("there", engine="ray", cluster=ClusterNeeds(whole.address, gpus=0))
        with tempfile.TemporaryDirectory() as folder:
            job = JobStarted(True, EvalConfig(device="cpu"), _DOCUMENT, _DOCUMENT, Path(folder))
            far, near = _greeted(there), _greeted(Place("here"))
            try:
                pair = interleave(lambda: _messages(far, job), lambda: _messages(near, job), 9)
            finally:
                far.end()
                near.end()
    finally:
        end_links()
        cluster.close()
    more = (pair.ours - pair.yardstick) / _EVALUATIONS
    return Pair(more, _MOST_OVERHEAD_S, more / _MOST_OVERHEAD_S)


def _greeted(place: Place) -> Connection:
    connection = Connection(place)
    connection.greet(Greeting("cpu"))
    return connection


def _messages(connection: Connection, job: JobStarted) -> float:
    def send_and_ask() -> None:
        for _ in range(_EVALUATIONS):
            connection.send(job)
            connection.ask(HoldGpu(), 60.0)

    return timed(send_and_ask)


if __name__ == "__main__":
    print(large())
    print(over_ray())
