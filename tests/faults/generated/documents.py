"""Bad documents: results, definitions, solutions, lists, traces; and sizes in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from .bad_input import BadInput
from .files import KINDS
from .values import chosen, mangled

_ENVIRONMENT = {"device": "cuda", "timestamp": "t", "fictl": "0.1", "commit": "c", "python": "3.11"}
_ROW = {
    "op": "tiny/elementwise/twice",
    "function": "twice",
    "side": "fictl",
    "case": "n1",
    "sizes": {"n": 1},
    "dtype": "int32",
    "samples": [1e-6, 1.1e-6, 1.2e-6, 1e-6],
    "kernels": [],
    "status": "timed",
}
_RESULT = {"schema": "fictl.bench/1", "environment": _ENVIRONMENT, "rows": [_ROW]}
_SPEC = {"shape": ["n"], "dtype": "float32"}
_DEFINITION = {
    "name": "d",
    "op_type": "norm",
    "axes": {"n": {"type": "var"}},
    "inputs": {"x": _SPEC},
    "outputs": {"y": _SPEC},
    "reference": "def run(x):\n    return x\n",
}
_SOLUTION = {
    "name": "s",
    "definition": "d",
    "author": "me",
    "sources": [{"path": "main.py", "content": "def run(x): return x\n"}],
    "spec": {
        "language": "python",
        "target_hardware": ["cpu"],
        "entry_point": "main.py::run",
        "destination_passing_style": False,
    },
}
_WORKLOAD = {
    "definition": "d",
    "workload": {"axes": {"n": 4}, "inputs": {"x": {"type": "random"}}, "uuid": "u"},
}
_LIST = "fictl bench twice --dtype i32\n# a remark\nbench twice --warm\n"
_STRANGE: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e308,
    10**30,
    "",
    "x" * 5000,
    [],
    {},
    [[]],
    {"a": {}},
    "nan",
    "\u202e",
    0,
    -0.0,
    "１",
)
_WHOLE = (
    "",
    " ",
    "null",
    "[]",
    "1",
    '"x"',
    "{",
    "[1",
    "NaN",
    '{"a": NaN}',
    "\ufeff{}",
    "{}{}",
    '{"a": 1, "a": 2}',
    "\udcff",
    "nul",
    "{'a': 1}",
    '{"schema": "fictl.bench/1"}',
    '{"schema": "fictl.bench/2"}',
)
# Document -> who reads it.
_READERS = {
    "a.json": "compare documents/a.json documents/b.json",
    "definition.json": "trace run documents/definition.json --device=emu",
    "solution.json": "solution build documents/solution.json --definition=documents/definition.json --device=cuda",
    "dataset/definitions/norm/d.json": "dataset validate documents/dataset",
    "dataset/solutions/me/norm/d/s.json": "dataset validate documents/dataset",
    "dataset/workloads/norm/d.jsonl": "dataset validate documents/dataset",
    "dataset/traces/norm/d.jsonl": "dataset report documents/dataset",
    "dataset/eval_config.toml": "dataset run documents/dataset --dry-run --device=cpu",
    "list.txt": "bench --list=documents/list.txt --dry-run",
    "store/store.json": "aot verify documents/store",
}
_SIZES = (
    "n",
    "n=",
    "=1",
    "n=x",
    "n=-1",
    "n=１",
    "n=٣",
    "n=²",
    "n=1.5",
    "n=nan",
    "n=" + "9" * 40,
    "n=1=2",
    "n=1,n=2",
    "1n=2",
    "n==1",
    "n=1;m=2",
    "n=0x10",
    "n=1_0",
    "n=1e3",
    "é!=1",
    "n=" + "9" * 5000,
    "n= ",
)


def write(folder: Path) -> None:
    """The documents as they should be."""
    texts = {
        "a.json": json.dumps(_RESULT),
        "b.json": json.dumps(_RESULT),
        "list.txt": _LIST,
        "definition.json": json.dumps(_DEFINITION),
        "solution.json": json.dumps(_SOLUTION),
        "dataset/definitions/norm/d.json": json.dumps(_DEFINITION),
        "dataset/solutions/me/norm/d/s.json": json.dumps(_SOLUTION),
        "dataset/workloads/norm/d.jsonl": json.dumps(_WORKLOAD) + "\n",
        "dataset/traces/norm/d.jsonl": "",
        "dataset/eval_config.toml": "iterations = 3\n",
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def of_documents(random: Random) -> Iterator[BadInput]:
    for name, reader in _READERS.items():
        for text in chosen(random, _WHOLE, 6):
            yield _document(name, reader, "text", text)
        for part, end in (('{"a":', ""), ("[", ""), ('{"a":[', "")):
            yield _document(name, reader, "repeated", json.dumps([part, 100_000, end]))
        for kind in random.sample(KINDS, 5):
            yield _document(name, reader, kind, "")
        for _ in range(7):
            yield _document(name, reader, "text", _changed(random, name))


def of_results(random: Random) -> Iterator[BadInput]:
    """A result that is cut or lacks its rows is never compared."""
    whole = json.dumps(_RESULT)
    words = tuple(_READERS["a.json"].split())
    texts = [*_WHOLE, *(whole[: random.randrange(1, len(whole))] for _ in range(12))]
    for text in texts:
        file = ("documents/a.json", "text", text)
        yield BadInput("documents", words, "refused", ("a.json",), files=(file,))


def _document(name: str, reader: str, kind: str, text: str) -> BadInput:
    file = (f"documents/{name}", kind, text)
    return BadInput("documents", tuple(reader.split()), "either", (name,), files=(file,))


def _changed(random: Random, name: str) -> str:
    """The document with a value of it exchanged, or a character."""
    known = {
        "a.json": _RESULT,
        "d.json": _DEFINITION,
        "definition.json": _DEFINITION,
        "d.jsonl": _WORKLOAD,
    }
    document = json.loads(json.dumps(known.get(name.rpartition("/")[2], _SOLUTION)))
    if random.random() < 0.4:
        text = {"list.txt": _LIST, "eval_config.toml": "iterations = 3\n"}
        return mangled(random, text.get(name.rpartition("/")[2], json.dumps(document)))
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = random.choice(list(keys))
        if not isinstance(place[key], dict | list) or not place[key] or random.random() < 0.3:
            place[key] = random.choice(_STRANGE)
            return json.dumps(document)
        place = place[key]


def of_sizes(random: Random) -> Iterator[BadInput]:
    for size in _SIZES:
        for reader in ("definition.json", "solution.json"):
            words = (*_READERS[reader].split(), f"--axes={size}")
            if reader == "solution.json":
                words = ("solution", "run", *words[2:])
            yield BadInput("sizes", words, "refused", ("--axes",))
