"""ApplyConfig: which evaluated solutions may run, and what happens at other sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fictl.errors import InvalidValue

FALLBACK_ONLY, USE_DEF_BEST = "fallback_only", "use_def_best"


class ApplyConfig(BaseModel):
    """`max_atol` and `max_rtol` limit errors beyond the judge's verdict; None is its verdict alone.

    At sizes without an evaluation, `on_miss_policy` calls the fallback, or the best solution of the
    definition. `aot_ratio` is the share of the chosen solutions that is built when apply is enabled;
    the others are built at their first call. `authors`, `languages` and `hardware` are patterns; no
    hardware means the device of the tensors. `any_hash` accepts evaluations that do not name the
    hash of the solution, as flashinfer-bench's, so that a source may have changed since.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_atol: Annotated[float, Field(gt=0)] | None = None
    max_rtol: Annotated[float, Field(gt=0)] | None = None
    aot_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    on_miss_policy: Literal["fallback_only", "use_def_best"] = "fallback_only"
    authors: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    any_hash: bool = False


class ApplyConfigRegistry:
    """Configurations by definition; others have the default."""

    def __init__(self, default: ApplyConfig | None = None) -> None:
        self.default = default or ApplyConfig()
        self._configs: dict[str, ApplyConfig] = {}

    def get(self, definition: str) -> ApplyConfig:
        return self._configs.get(definition, self.default)

    def register(
        self, definition: str, config: ApplyConfig, override: bool = False
    ) -> ApplyConfigRegistry:
        if definition in self._configs and not override:
            raise InvalidValue(
                f"a configuration of {definition} already exists", "override=True replaces it"
            )
        self._configs[definition] = config
        return self

    def register_many(
        self, configs: Mapping[str, ApplyConfig], override: bool = False
    ) -> ApplyConfigRegistry:
        for definition, config in configs.items():
            self.register(definition, config, override)
        return self

    def text(self) -> str:
        """Return all configurations as one text, for the digest of a table."""
        own = {name: config.model_dump_json() for name, config in sorted(self._configs.items())}
        return f"{self.default.model_dump_json()} {own}"
