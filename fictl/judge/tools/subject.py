"""Subject: the solution a tool works on, with its definition and a workload to run it on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fictl.errors import UsageError
from fictl.trace.dataset.chosen import nearest
from fictl.trace.dataset.file_names import file_name
from fictl.trace.dataset.files import DatasetFiles

if TYPE_CHECKING:
    from pydantic import BaseModel

    from fictl.trace import Definition, Solution, Workload

# A file, or the document itself.
Given: TypeAlias = "str | Path | Mapping[str, Any]"
Model = TypeVar("Model", bound="BaseModel")

_FOLDER = "definitions"
_LARGEST_FILE = 96 << 20


@dataclass(frozen=True)
class SolutionSubject:
    """`root` is the dataset that contains the solution, if there is one."""

    definition: Definition
    solution: Solution
    workload: Workload | None = None
    root: Path | None = None

    @property
    def ready(self) -> Workload:
        if self.workload is None:
            raise UsageError(
                f"{self.definition.name} has no workload here, and a run needs axis sizes",
                f"--axes {','.join(f'{name}=8' for name in self.definition.var_axes)}",
            )
        return self.workload

    def of(self, tool: str) -> dict[str, Any]:
        """Fields that every answer begins with."""
        return {
            "tool": tool,
            "definition": self.definition.name,
            "solution": self.solution.name,
            "hash": self.solution.hash(),
            "workload": self.workload.uuid if self.workload else None,
            "axes": dict(self.workload.axes) if self.workload else None,
        }


def find_subject(
    solution: Given,
    definition: Given = "",
    workload: Given = "",
    axes: Mapping[str, int] | None = None,
    root: str | Path = "",
) -> SolutionSubject:
    """Read the solution, its definition and a workload.

    `definition` is a file, a document or a name in the dataset; by default the solution names it.
    `workload` is a document, a file, or the start of a uuid in the dataset; `axes` gives sizes for
    random inputs. Without both, the first workload of the dataset is used.
    """
    from fictl.trace import Solution
    from fictl.trace.documents.fitting import require_fit

    answer = _read(Solution, solution)
    place = Path(root) if root else _dataset_of(solution)
    answered = _definition(definition or answer.definition, place)
    if answered.name != answer.definition:
        raise UsageError(
            f"{answer.name} is a solution of {answer.definition}, not of {answered.name}",
            "name another definition, or say so in the solution",
        )
    subject = SolutionSubject(answered, answer, None, place)
    chosen = _workload(subject, workload, axes)
    if chosen is not None:
        require_fit(answered, chosen)
    return replace(subject, workload=chosen)


def _definition(given: Given, root: Path | None) -> Definition:
    from fictl.trace import Definition

    if isinstance(given, Mapping) or Path(given).suffix == ".json":
        return _read(Definition, given)
    stem = file_name(str(given))
    places = DatasetFiles(root).definitions() if root else []
    match = next((path for path in places if path.stem == stem), None) or next(
        (path for path in places if _is_named(path, str(given))), None
    )
    if match is None:
        where = f"not in {root}" if root else "in no dataset"
        known = {path.stem for path in places}
        near = f"{nearest(str(given), known)} " if get_close_matches(str(given), known) else ""
        raise UsageError(
            f"the definition {given} is {where}",
            f"{near}--definition names its file, --dataset the folder of a dataset that has it",
        )
    return Definition.read(match)


def _is_named(path: Path, name: str) -> bool:
    """Tell whether the file holds the definition `name`: other tools may name files differently."""
    from fictl.trace import Definition
    from fictl.trace.documents.reading import NotReadable

    try:
        return Definition.read(path).name == name
    except NotReadable:
        return False


def _workload(
    subject: SolutionSubject, given: Given, axes: Mapping[str, int] | None
) -> Workload | None:
    from fictl.trace import Workload

    if isinstance(given, Mapping) or Path(given).suffix == ".json":
        return _read(Workload, given)
    if axes:
        return _random(subject.definition, axes)
    seen: list[str] = []
    for candidate in _workloads(subject):
        if candidate.uuid.startswith(str(given)):
            return candidate
        seen.append(candidate.uuid)
    if given:
        hint = nearest(str(given), seen) if subject.root else "name the dataset with --dataset"
        raise UsageError(f"{subject.definition.name} has no workload {given}", hint)
    return None


def _workloads(subject: SolutionSubject) -> Iterator[Workload]:
    from fictl.trace.dataset.record_lines import parse_workload
    from fictl.trace.documents.reading import lines_of

    definition = subject.definition
    paths = DatasetFiles(subject.root).workloads(definition.name) if subject.root else []
    for path in paths:
        for number, line in lines_of(path):
            trace = parse_workload(line, path, number, definition.name)
            if trace.definition == definition.name:
                yield trace.workload


def _random(definition: Definition, axes: Mapping[str, int]) -> Workload:
    """A workload of random inputs; scalar inputs that are sizes get the axis's value."""
    from fictl.trace import Workload

    sizes = definition.sizes(axes)
    inputs = {
        name: {"type": "scalar", "value": sizes[name]}
        if spec.shape is None and name in sizes
        else {"type": "random"}
        for name, spec in definition.inputs.items()
    }
    uuid = "-".join(f"{name}{size}" for name, size in axes.items()) or "fixed"
    return Workload.model_validate({"axes": dict(axes), "inputs": inputs, "uuid": uuid})


def _dataset_of(solution: Given) -> Path | None:
    if isinstance(solution, Mapping):
        return None
    above = Path(solution).absolute().parents
    return next((place for place in above if os.path.isdir(place / _FOLDER)), None)


def _read(model: type[Model], given: Given) -> Model:
    from fictl.trace.documents.reading import parse_document, read_document

    if not isinstance(given, Mapping):
        return read_document(model, Path(given), _LARGEST_FILE)
    import json

    return parse_document(model, json.dumps(given).encode(), Path(model.__name__.lower()))
