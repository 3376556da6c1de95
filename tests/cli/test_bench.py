"""fictl bench on ops that are right, wrong, missing, and on a file without a project."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from fictl.bench.result import load
from fictl.bench.worker import respond
from fictl.child.message import to_line
from fictl.process import Finished

HOSTILE = Path(__file__).parents[1] / "hostile_project"
SMALL = ("--device", "emu", "--case", "-64", "--rounds", "10")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = shutil.copytree(HOSTILE, tmp_path / "hostile")
    monkeypatch.chdir(root)
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "hostile"]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of an op is a call here: importing torch takes longer than all else."""

    def stream(argv: list[str], hear: Callable, **_rest: object) -> Finished:
        def send(message: object) -> None:
            hear("\x1e" + to_line(message))

        worker = import_module(argv[2])
        for module in (respond, worker):
            monkeypatch.setattr(module, "send", send, raising=False)
        return Finished(tuple(argv), worker.main(argv[3:]), "", 0.0)

    monkeypatch.setattr("fictl.child.program.stream", stream)


def test_a_case_is_a_line_with_its_sides(fictl: Callable) -> None:
    answer = fictl("bench", "right", *SMALL, "--baseline", "torch,tripled,cudnn", "-v")
    assert answer.code == 0
    assert "emulated: these are times of the host" in answer.out
    header, line = answer.out.split("right\n")[1].splitlines()[:2]
    assert header.split()[:4] == ["case", "fictl", "torch", "tripled"]
    assert line.startswith("64 f32")
    assert "✗ wrong" in line
    assert "right-64-float32  tripled: not timed: out: 64 of 64 elements differ" in answer.out
    assert "hostile/doubling/doubling has no baseline 'cudnn'" in answer.out


def test_json_is_a_result_that_can_be_loaded(fictl: Callable, project: Path) -> None:
    answer = fictl("bench", "right", *SMALL, "--json")
    document = answer.document
    assert (document["schema"], document["ok"]) == ("fictl.bench/1", True)
    (project / "r.json").write_text(answer.out, encoding="utf-8")
    (row,) = load(project / "r.json").rows
    assert (row.function, len(row.samples)) == ("right", 10)


def test_a_wrong_op_exits_with_1_and_is_not_timed(fictl: Callable) -> None:
    answer = fictl("bench", "wrong", *SMALL)
    assert answer.code == 1
    assert "wrong-64-float32  fictl: not timed: out: 64 of 64 elements differ" in answer.out


def test_results_are_written_in_every_form(fictl: Callable, project: Path) -> None:
    names = {"--out": "o/r.json", "--csv": "r.csv", "--jsonl": "r.jsonl", "--plot": "r.svg"}
    words = [word for pair in names.items() for word in pair]
    answer = fictl("bench", "right", *SMALL, *words)
    assert answer.code == 0
    (row,) = load(project / "o" / "r.json").rows
    with (project / "r.csv").open(newline="", encoding="utf-8") as file:
        (cells,) = csv.DictReader(file)
    assert float(cells["median"]) == row.median
    assert json.loads((project / "r.jsonl").read_text(encoding="utf-8"))["side"] == "fictl"
    assert (project / "r.svg").read_text(encoding="utf-8").startswith("<svg")
    assert [name for name in names.values() if f"wrote {name}" not in answer.out] == []


def test_a_dry_run_shows_cases_sides_and_bytes(fictl: Callable) -> None:
    answer = fictl("bench", "right", "--axis", "n=1:4:*2", "--baseline", "torch", "--dry-run")
    assert answer.out.splitlines()[0].split() == ["case", "sides", "bytes"]
    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == [
        "right-1-float32",
        "right-2-float32",
        "right-4-float32",
    ]
    assert "right-4-float32  fictl torch  32 B" in answer.out


def test_a_dry_run_without_a_case_is_a_mistake(fictl: Callable) -> None:
    answer = fictl("bench", "right", "--case", "9x9", "--dry-run")
    assert answer.code == 2
    assert "no case of right matches 9x9" in answer.err


def test_a_sweep_takes_the_place_of_the_sizes(fictl: Callable) -> None:
    answer = fictl(
        "bench", "right", "--device", "emu", "--axis", "n=2,3", "--rounds", "5", "--json"
    )
    assert [row["sizes"] for row in answer.document["data"]["rows"]] == [{"n": 2}, {"n": 3}]


def test_emulated_times_are_no_baseline(fictl: Callable) -> None:
    answer = fictl("bench", "right", *SMALL, "--save")
    assert answer.code == 2
    assert "times of the emulated device are no baseline" in answer.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nothing_like_it"], 2, "there is no op 'nothing_like_it'"),
        (["right"], 3, "there is no GPU here"),
        (["right", "--device", "emu", "--axis", "n"], 2, "'n' is not an axis"),
        (["right", "--device", "emu", "--case", "9x9"], 2, "no case of right matches 9x9"),
        (["right", "--device", "emu", "--backend", "sm90"], 2, "right has no backend sm90"),
        (["right", "--device", "emu", "--plot", "r.pdf"], 2, "r.pdf is not a picture"),
        (["right", "--tensor", "x=4"], 2, "--tensor and --scalar are for one .cu file"),
        (["a.cu", "right"], 2, "a.cu cannot be timed together with other ops"),
        (["a.cu", "--device", "emu"], 2, "a.cu cannot be read"),
    ],
)
def test_a_mistake_is_said(fictl: Callable, words: list[str], code: int, message: str) -> None:
    answer = fictl("bench", *words)
    assert (answer.code, message in answer.err) == (code, True), answer.err


def test_a_list_runs_every_line_and_names_the_bad_ones(fictl: Callable, project: Path) -> None:
    (project / "all.txt").write_text(
        "# of a release\n"
        "fictl bench right --case -64 --rounds 5\n"
        "\n"
        "bench wrong --case -64  # a line may lack the name\n"
        "right --frobnicate\n"
        "right --csv mine.csv\n"
        "nothing_like_it\n"
        "right 'unclosed\n",
        encoding="utf-8",
    )
    answer = fictl("bench", "--list", "all.txt", "--device", "emu", "--out", "r.json")
    assert answer.code == 2
    assert [row.function for row in load(project / "r.json").rows] == ["right", "wrong"]
    for text in (
        "all.txt:5: No such option: --frobnicate",
        "all.txt:6: --csv in a line of a list",
        "all.txt:7: there is no op 'nothing_like_it'",
        "all.txt:8: ",
    ):
        assert text in answer.err


def test_a_list_of_failures_exits_as_the_worst(fictl: Callable, project: Path) -> None:
    (project / "all.txt").write_text("wrong --case -64\nright --case -64\n", encoding="utf-8")
    assert fictl("bench", "--list", "all.txt", "--device", "emu").code == 1


def test_a_list_with_nothing_in_it_is_a_mistake(fictl: Callable, project: Path) -> None:
    (project / "all.txt").write_text("# nothing\n", encoding="utf-8")
    answer = fictl("bench", "--list", "all.txt")
    assert answer.code == 2
    assert "all.txt has no command line" in answer.err


def test_one_source_file_needs_no_project(
    fictl: Callable, tmp_path: Path, users_cache: None
) -> None:
    path = tmp_path / "my.cu"
    path.write_text(
        "// bench: out=64 x=64 factor=2.0\n#include <binding/launch.h>\n"
        "__global__ void scaled(float* out, const float* x, float factor) {\n"
        "  out[threadIdx.x] = x[threadIdx.x] * factor;\n}\n"
        "void my_scale(const fictl::Launch& launch, fictl::View out, fictl::View x, double factor)"
        " {\n  scaled<<<1, x.numel(), 0, launch.stream>>>(out.data<float>(), x.data<const float>(),"
        " static_cast<float>(factor));\n}\n",
        encoding="utf-8",
    )
    answer = fictl("bench", str(path), "--device", "emu", "--rounds", "5", "--tensor", "x=32")
    assert answer.code == 1
    assert "it left 32 of 64 elements of out unwritten" in answer.out
    answer = fictl("bench", str(path), "--device", "emu", "--rounds", "5")
    assert answer.code == 0
    assert "there is no reference: not checked" in answer.out
