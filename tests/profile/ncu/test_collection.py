"""What ncu is asked for."""

from __future__ import annotations

from pathlib import Path

from fictl.profile.ncu.collection import Collection

PATH = Path("a.ncu-rep")


def test_by_default_all_sections_of_the_calls_alone_at_the_clocks_as_they_are() -> None:
    argv = Collection().argv(PATH)
    assert {"--set=full", "--profile-from-start=off", "--clock-control=none"} <= {*argv}
    assert "--export=a.ncu-rep" in argv
    assert not any(word.startswith("--kernel-name") for word in argv)


def test_sections_take_the_place_of_the_set() -> None:
    collection = Collection(sections=("Occupancy", "LaunchStats"))
    argv = collection.argv(PATH)
    assert [word for word in argv if word.startswith("--se")] == [
        "--section=Occupancy",
        "--section=LaunchStats",
    ]
    assert collection.words == "sections Occupancy, LaunchStats"


def test_kernels_are_chosen_by_a_regular_expression() -> None:
    assert "--kernel-name=regex:RMS|Row" in Collection(kernel="RMS|Row").argv(PATH)


def test_who_asks_for_clocks_gets_them() -> None:
    collection = Collection(extra=("--clock-control=base",))
    assert not collection.leaves_clocks_alone
    argv = collection.argv(PATH)
    assert argv[-1] == "--clock-control=base"
    assert "--clock-control=none" not in argv
