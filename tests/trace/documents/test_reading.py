from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from fictl.trace import Trace
from fictl.trace.documents import reading as document
from fictl.trace.documents.reading import NotReadable, lines_of, parse_document, read_document

LINE: dict[str, Any] = {
    "definition": "d",
    "workload": {
        "axes": {"n": 3},
        "inputs": {
            "x": {"type": "random"},
            "eps": {"type": "scalar", "value": 1e-6},
            "idx": {"type": "safetensors", "path": "./blob/i.safetensors", "tensor_key": "idx"},
        },
        "uuid": "u1",
    },
    "solution": "s",
    "evaluation": {
        "status": "PASSED",
        "environment": {"hardware": "NVIDIA_H200", "libs": {"torch": "2.11"}},
        "timestamp": "2026-01-01T00:00:00",
        "log": "",
        "correctness": {"max_relative_error": 0.0, "max_absolute_error": 0.0, "extra": {"a": None}},
        "performance": {"latency_ms": 1.0, "reference_latency_ms": 2.0, "speedup_factor": 2.0},
    },
}
PLACE = Path("data.jsonl")


def problem(data: bytes, line: int = 7) -> str:
    with pytest.raises(NotReadable) as info:
        parse_document(Trace, data, PLACE, line)
    return str(info.value.problems[0])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b'{"definition": "d"',
            "not valid JSON: Expecting ',' delimiter (column 19); it is cut off",
        ),
        (b'{"definition": d}', "not valid JSON: Expecting value (column 16)"),
        (b'{"definition": "\xff"}', "byte 16 is not UTF-8 (0xff)"),
        (b"\xef\xbb\xbf{}", "begins with a byte-order mark: save it as UTF-8 without"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "c: the name occurs twice in one object"),
        (b'{"a": NaN}', 'NaN is not JSON: write "NaN", as text'),
        (b'{"a": -Infinity}', '-Infinity is not JSON: write "-Infinity", as text'),
        (b'{"a": 1e400}', "1e400 is too large for a 64-bit number"),
        (b'{"a": -1.5e999}', "-1.5e999 is too large for a 64-bit number"),
        ('{"a": \uff14}'.encode(), "not valid JSON: Expecting value (column 7)"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000, "is nested too deeply"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "is nested too deeply"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "definition: Field required"),
        (b"[1, 2]", "is not a JSON object but [1, 2]"),
        (b'{"a": "\\ud800"}', "has a value that cannot be read: 'utf-8' codec can't encode"),
        (b'{"a": ' + b"9" * 5000 + b"}", "has a value that cannot be read: Exceeds the limit"),
        (b"{}", "definition: Field required"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(data: bytes, said: str) -> None:
    assert problem(data).startswith(f"data.jsonl:7: {said}")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        (
            ("workload", "axes", "n"),
            "3",
            'workload.axes.n: Input should be a valid integer (seen "3")',
        ),
        (("workload", "axes", "n"), 3.0, "workload.axes.n: Input should be a valid integer"),
        (("workload", "axes", "n"), True, "workload.axes.n: Input should be a valid integer"),
        (
            ("workload", "axes", "n"),
            -1,
            "workload.axes.n: Input should be greater than or equal to 0",
        ),
        (
            ("workload", "inputs", "eps", "value"),
            "1",
            "workload.inputs.eps.value: expected a number",
        ),
        (("workload", "inputs", "x", "type"), "what", "workload.inputs.x: Input tag 'what' found"),
        (
            ("workload", "inputs", "idx", "path"),
            "../i",
            "workload.inputs.idx.path: no part of a path",
        ),
        (("workload", "inputs", "idx", "path"), "/i", "workload.inputs.idx.path: an absolute path"),
        (
            ("workload", "inputs", "idx", "path"),
            "C:/i",
            "workload.inputs.idx.path: an absolute path",
        ),
        (("workload", "inputs", "idx", "path"), "a\\b", "workload.inputs.idx.path: paths have /"),
        (("workload", "inputs", "idx", "path"), "a\0b", "workload.inputs.idx.path: paths have /"),
        (("workload", "uuid"), "a\nb", "workload.uuid: a name needs printable characters"),
        (("evaluation", "status"), "GREAT", "evaluation.status: Input should be 'PASSED'"),
        (
            ("evaluation", "correctness", "max_absolute_error"),
            "1.5",
            'evaluation.correctness.max_absolute_error: Input should be a valid number (seen "1.5")',
        ),
        (("evaluation", "performance", "latency_ms"), -1, "evaluation.performance.latency_ms: "),
        (("evaluation", "performance", "latency_ms"), "NaN", "evaluation.performance.latency_ms: "),
    ],
)
def test_a_value_that_is_wrong_is_told_by_its_field(field: Any, value: Any, said: str) -> None:
    changed = json.loads(json.dumps(LINE))
    part = changed
    for name in field[:-1]:
        part = part[name]
    part[field[-1]] = value
    assert problem(json.dumps(changed).encode()).startswith(f"data.jsonl:7: {said}")


def test_in_a_file_of_many_lines_the_line_is_the_fields(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({**LINE, "solution": 5}, indent=2))
    with pytest.raises(NotReadable) as info:
        read_document(Trace, path, 1 << 20)
    line = path.read_text().splitlines().index('  "solution": 5,') + 1
    assert [str(p) for p in info.value.problems] == [
        f"{path}:{line}: solution: Input should be a valid string (seen 5)"
    ]


def test_a_long_value_is_shown_by_its_beginning() -> None:
    text = problem(json.dumps({**LINE, "definition": "\n" * 500}).encode())
    assert len(text) < 300


def test_lines_are_those_that_are_not_blank(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"a": 1}\r\n\n  \n{"b": 2}')
    assert [*lines_of(path)] == [(1, b'{"a": 1}\r\n'), (4, b'{"b": 2}')]


def test_a_huge_line_is_told_and_passed_over(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(document, "LONGEST_LINE", 64)
    path = tmp_path / "data.jsonl"
    path.write_bytes(b"a\n" + b"x" * 500 + b"\nb\n" + b"y" * 500)
    first, huge, last, cut = lines_of(path)
    assert (first, last) == ((1, b"a\n"), (3, b"b\n"))
    assert (huge[0], cut[0]) == (2, 4)
    assert isinstance(huge[1], NotReadable)
    assert isinstance(cut[1], NotReadable)


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    ((line, error),) = lines_of(tmp_path / "none.jsonl")
    assert line == 0
    assert "none.jsonl: cannot be read: No such file" in str(error)


def test_whatever_is_broken_is_refused_in_one_way() -> None:
    """Random damage to a good line: it is read, or it is NotReadable; nothing else is raised."""
    numbers = random.Random(12)
    good = json.dumps(LINE).encode()
    pieces = [
        b"",
        b'"',
        b"{",
        b"}",
        b"[",
        b",",
        b"\\",
        b"NaN",
        b"null",
        b"-1e999",
        b"\xff",
        b"\\ud800",
    ]
    for _ in range(400):
        data = bytearray(good)
        for _ in range(numbers.randint(1, 3)):
            at = numbers.randrange(len(data))
            data[at : at + numbers.randint(0, 9)] = numbers.choice(pieces)
        try:
            trace = parse_document(Trace, bytes(data), PLACE, 1)
        except NotReadable:
            continue
        assert parse_document(Trace, trace.to_line().encode(), PLACE, 1) == trace


def _anything(numbers: random.Random, depth: int = 3) -> Any:
    simple = [None, True, -3, 2.5, "é\u2028\U0001f600", "", {}, []]
    if depth == 0 or numbers.random() < 0.5:
        return numbers.choice(simple)
    if numbers.random() < 0.5:
        return [_anything(numbers, depth - 1) for _ in range(3)]
    return {f"k{i}": _anything(numbers, depth - 1) for i in range(3)}


def test_what_others_add_anywhere_is_written_as_it_was() -> None:
    numbers = random.Random(34)
    for _ in range(100):
        document = json.loads(json.dumps(LINE))
        parts = [
            document,
            document["workload"],
            document["evaluation"],
            document["workload"]["inputs"]["x"],
            document["evaluation"]["performance"],
            document["evaluation"]["environment"],
        ]
        for part in parts:
            part[f"extra{numbers.randint(0, 9)}"] = _anything(numbers)
        read = parse_document(Trace, json.dumps(document).encode(), PLACE, 1)
        assert json.loads(read.to_line()) == document
