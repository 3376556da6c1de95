"""Generated bad inputs: no internal error, no hang, no wrong acceptance, nothing written elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

from fictl.paths import PACKAGE

from . import documents, files, options, variables
from .bad_input import BadInput, Outcome, faults

_SERVER = Path(__file__).with_name("server.py")
_SEED = int(os.environ.get("BAD_INPUTS_SEED", "23"))
_PART = 0.62  # Another seed has another part.
Ask = Callable[[BadInput], Outcome]
_GROUPS: dict[str, tuple[Callable[[Random], Iterator[BadInput]], ...]] = {
    "numbers": (options.of_numbers,),
    "texts": (options.of_texts,),
    "values": (options.of_wrong_values,),
    "arguments": (options.of_arguments,),
    "variables": (variables.of_variables, variables.of_unknown_names, variables.of_settings_files),
    "projects": (files.of_projects, files.of_declarations),
    "ops": (files.of_ops, files.of_code),
    "documents": (documents.of_documents, documents.of_results, documents.of_sizes),
}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def ask(scratch: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Run an input in a warm process of its own."""
    laid_out = tmp_path_factory.mktemp("documents")
    documents.write(laid_out)
    argv = [sys.executable, str(_SERVER), str(scratch), str(laid_out)]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def run(given: BadInput) -> Outcome:
            server.stdin.write(json.dumps(given.request()) + "\n")
            server.stdin.flush()
            said = json.loads(server.stdout.readline())
            said = {**said, "changed": tuple(said["changed"]), "outside": tuple(said["outside"])}
            return Outcome(**said)

        yield run
        server.stdin.close()


def generated(group: str, seed: int = _SEED) -> list[BadInput]:
    """The same for the same seed, whatever else is drawn; of all, a part: each costs a process."""
    drawn = [each for draw in _GROUPS[group] for each in draw(Random(f"{seed} {draw.__name__}"))]
    return Random(f"{seed} {group}").sample(drawn, round(_PART * len(drawn)))


@pytest.mark.parametrize("group", _GROUPS)
def test_bad_inputs_are_refused_in_words(group: str, ask: Ask) -> None:
    assert not [*found(generated(group), ask)]


def test_places_that_cannot_be_read_or_written_are_refused_in_words(
    ask: Ask, scratch: Path
) -> None:
    assert not [*found(options.of_paths(Random(_SEED), str(scratch / "places")), ask)]


def test_there_are_as_many_as_are_promised() -> None:
    paths = sum(1 for _ in options.of_paths(Random(_SEED), ""))
    assert sum(len(generated(group)) for group in _GROUPS) + paths >= 1500


def found(inputs: Iterable[BadInput], ask: Ask) -> Iterator[str]:
    """What is wrong, with what shows it."""
    for given in inputs:
        seen = ask(given)
        for fault in faults(given, seen):
            words = " ".join(word if len(word) < 120 else f"{word[:120]}…" for word in given.words)
            laid = "; ".join(f"{name} {kind} {text[:300]!r}" for name, kind, text in given.files)
            yield (
                f"fictl {words!r} {dict(given.variables)} {laid}: {fault}\n"
                f"    {seen.code} {(seen.err or seen.out)[-600:]!r}"
            )
