"""Files whose names change stay formatted: lines are longer or shorter afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fictl.scaffold.existing.belongings import text_of
from fictl.scaffold.kinds.polish import polish


def keep_formatted(texts: Mapping[Path, str], origins: Mapping[Path, Path]) -> dict[Path, str]:
    """`origins` are the files that the texts were before. What no formatter has had its way with
    is left as its author wrote it.
    """
    before = {path: text_of(origins[path]) for path in texts}
    changed = [path for path in texts if texts[path] != before[path]]
    as_formatted = polish({origins[path]: before[path] for path in changed})
    formatted = [path for path in changed if as_formatted[origins[path]] == before[path]]
    return {**texts, **polish({path: texts[path] for path in formatted})}
