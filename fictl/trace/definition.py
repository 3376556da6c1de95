"""Definition: a computation in the JSON that flashinfer-bench and its datasets use."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from fictl.errors import UsageError

ElementType = Literal[
    "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1",
    "int64", "int32", "int16", "int8", "bool",
]  # fmt: skip
ELEMENT_TYPES: tuple[str, ...] = get_args(ElementType)
API_TAG = "fi_api:"
# Far above what any op is, far below what takes a reader's memory.
_LARGEST_FILE = 4 << 20


class _Part(BaseModel):
    # Others' extensions of the format are kept as they are.
    model_config = ConfigDict(frozen=True, extra="allow")


class VarAxis(_Part):
    type: Literal["var"] = "var"
    description: str | None = None


class ConstAxis(_Part):
    type: Literal["const"] = "const"
    value: int = Field(ge=0, strict=True)
    description: str | None = None


class Spec(_Part):
    """Of a tensor, or of a Python number where `shape` is None."""

    shape: tuple[str, ...] | None
    dtype: ElementType
    description: str | None = None


class Definition(_Part):
    """What an op computes at these constant sizes and dtypes. The order of inputs is the call's."""

    name: str = Field(min_length=1, max_length=200)
    description: str | None = None
    op_type: str = Field(min_length=1)
    tags: tuple[str, ...] = ()
    axes: dict[str, Annotated[VarAxis | ConstAxis, Field(discriminator="type")]]
    constraints: tuple[str, ...] = ()
    inputs: dict[str, Spec]
    outputs: dict[str, Spec]
    reference: str = Field(min_length=1)
    init: str | None = None

    @field_validator("name", "op_type")
    @classmethod
    def _names_a_file(cls, value: str) -> str:
        if not re.fullmatch(r"[\w+-][\w.+-]*", value):
            raise ValueError("letters, digits and _ . + - only: it names a file")
        return value

    @field_validator("constraints")
    @classmethod
    def _are_expressions(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            _python(text, "eval")
        return value

    @field_validator("reference")
    @classmethod
    def _defines_run(cls, value: str) -> str:
        tree = _python(value, "exec")
        if not any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body):
            raise ValueError("no top-level function run")
        return value

    @model_validator(mode="after")
    def _axes_are_declared(self) -> Definition:
        for name, spec in [*self.inputs.items(), *self.outputs.items()]:
            unknown = [axis for axis in spec.shape or () if axis not in self.axes]
            if unknown:
                raise ValueError(f"{name} has the unknown axes {unknown}")
        return self

    @property
    def api(self) -> str:
        """The function that it is a definition of, as in my_kernels.ops.rmsnorm; or ''."""
        tagged = [tag for tag in self.tags if tag.startswith(API_TAG)]
        return tagged[0].removeprefix(API_TAG) if tagged else ""

    def constants(self) -> dict[str, int]:
        return {n: axis.value for n, axis in self.axes.items() if isinstance(axis, ConstAxis)}

    def to_dict(self) -> dict[str, Any]:
        """Only what is said; `shape` is null for numbers."""
        document = self.model_dump(mode="json", exclude_none=True)
        for part in (document["inputs"], document["outputs"]):
            part.update({name: {"shape": None, **spec} for name, spec in part.items()})
        if not self.constraints:
            del document["constraints"]
        return document

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Definition:
        """A file that is none is refused with the first thing that is wrong."""
        try:
            if path.stat().st_size > _LARGEST_FILE:
                raise UsageError(f"{path} has {path.stat().st_size} bytes: that is no definition")
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            at = ".".join(map(str, first["loc"]))
            problem = first["msg"].removeprefix("Value error, ")
            raise UsageError(
                f"{path} is no definition: {at + ': ' if at else ''}{problem}",
                "fictl trace export writes them",
            ) from None


def _python(text: str, mode: Literal["eval", "exec"]) -> Any:
    try:
        return ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"not valid Python: {error}") from None
