from __future__ import annotations

import json


def test_an_op_is_written_with_all_that_it_needs(fictl, stray) -> None:
    answer = fictl("solution", "export", "shift", "--out", "out", "--author", "me", "--json")
    data = answer.document["data"]
    assert (answer.code, data["solutions"]) == (0, ["me_shift_i32"])
    (path,) = data["paths"]
    document = json.loads((stray / path).read_text())
    assert [source["path"] for source in document["sources"]] == [
        "main.py",
        "fictl.toml",
        *(
            f"kernels/elementwise/shift/{name}"
            for name in (
                "binding.cpp",
                "jit.py",
                "launcher.cu",
                "op.py",
                "trace.py",
            )
        ),
        "kernels/include/stray/elementwise/shift.cuh",
    ]
    assert document["spec"]["dependencies"] == ["fictl"]
    assert document["spec"]["destination_passing_style"] is True
    assert (stray / "out/definitions/shift/shift_i32.json").is_file()


def test_twice_is_once(fictl, stray) -> None:
    first, again = (fictl("solution", "export", "shift", "--out", "out") for _ in range(2))
    assert (first.code, again.code) == (0, 0), again.err
    assert len([*stray.glob("out/solutions/*/*/*/*.json")]) == 1


def test_to_look_writes_nothing(fictl, stray) -> None:
    answer = fictl("solution", "export", "shift", "--out", "out", "--dry-run")
    assert (answer.code, answer.out) == (0, "1 solution of 8 files each would be written\n")
    assert not (stray / "out").exists()


def test_of_a_definition_that_is_not_there_the_nearest_is_named(fictl, stray) -> None:
    answer = fictl("solution", "export", "shift", "--definition", "shift_i3")
    assert answer.code == 2
    assert "did you mean 'shift_i32'?" in answer.err
