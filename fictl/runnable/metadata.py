"""RunnableMetadata: how a runnable was built, and from what."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fictl.trace import Definition


class RunnableMetadata(BaseModel):
    """`misc` differs between builders."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    # Why both: the literals are fictl's, other builders may use any text.
    build_type: Literal["torch", "tvm_ffi", "python", "triton", "tilelang"] | str  # noqa: PYI051
    definition_name: str
    solution_name: str
    destination_passing_style: bool = True
    definition: Definition | None = None
    misc: dict[str, Any] = Field(default_factory=dict)
