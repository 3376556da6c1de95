"""One file of an op: what becomes of it where the scaffold writes another text than it once did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.quantity import counted
from fictl.scaffold.existing.upgrade.merge import as_lf, is_crlf, lines_of, merge
from fictl.scaffold.record import MOST_LINES

# From here on a file that appeared is one that went, under another name, as git has it.
_ALIKE = 0.5


@dataclass(frozen=True)
class FileTexts:
    """Texts of one file, None where there is none: once written, written now, and on disk.

    `first` are spellings of the first text, before and after a formatter: a file that is one of
    them was not changed.
    """

    first: Sequence[str]
    now: str | None
    mine: str | None

    @property
    def is_untouched(self) -> bool:
        return self.mine is not None and as_lf(self.mine) in self.first


@dataclass(frozen=True)
class FileUpgrade:
    """`change` is new, changed, merged, conflict, gone, kept or left; `text` is the file's new one,
    None if it goes. `writes` is false where nothing becomes of it.
    """

    path: Path
    change: str
    text: str | None = None
    why: str = ""
    conflicts: tuple[int, ...] = ()

    @property
    def writes(self) -> bool:
        return self.change in ("new", "changed", "merged", "conflict", "gone")

    def described(self) -> str:
        """Describe what becomes of it, for people."""
        if self.conflicts:
            lines = ", ".join(map(str, self.conflicts))
            return f"{counted(len(self.conflicts), 'conflict')}, in line {lines}"
        words = {
            "new": "new",
            "changed": "as the scaffold writes it now; you had not changed it",
            "merged": "both changes are in it",
            "gone": "deleted: the scaffold writes it no more, and you had not changed it",
        }
        return words.get(self.change, self.why) + (
            f" ({self.why})" if self.writes * bool(self.why) else ""
        )

    def to_dict(self, shown: str) -> dict[str, Any]:
        return {
            "path": shown,
            "change": self.change,
            "conflicts": list(self.conflicts),
            "note": self.why,
        }


def upgraded(path: Path, texts: FileTexts, others: Mapping[Path, str], label: str) -> FileUpgrade:
    """Say what becomes of a file. `others` are files beside it that the scaffold did not write."""
    first, now, mine = texts.first, texts.now, texts.mine
    if mine is None and first and now is not None:
        moved = _moved(first[-1], others)
        if moved is None:
            return FileUpgrade(
                path, "left", why="left out: you deleted it, and the scaffold changed it"
            )
        where = f"was {path.name}"
        return _merged(moved, first, now, others[moved], label, where)
    if now is None:
        return _no_more(path, texts)
    if mine is None:
        return FileUpgrade(path, "new", now)
    if texts.is_untouched:
        return FileUpgrade(path, "changed", _ends_as(mine, now))
    return _merged(path, first, now, mine, label)


def _no_more(path: Path, texts: FileTexts) -> FileUpgrade:
    if texts.mine is None:
        return FileUpgrade(path, "left", why="is gone, and the scaffold writes it no more")
    if texts.is_untouched:
        return FileUpgrade(path, "gone")
    why = "kept: the scaffold writes it no more, but you changed it"
    return FileUpgrade(path, "kept", why=why)


def _merged(
    path: Path, first: Sequence[str], now: str, mine: str, label: str, where: str = ""
) -> FileUpgrade:
    if as_lf(mine) == now:
        return FileUpgrade(path, "kept", why="is as the scaffold writes it now")
    if len(lines_of(mine)) > MOST_LINES:
        raise UsageError(
            f"{path} has more than {MOST_LINES} lines, the most that is merged",
            "split it, or move it out of the op's folder",
        )
    result = merge(first[-1] if first else "", mine, now, label)
    change = "conflict" if result.conflicts else "merged"
    return FileUpgrade(path, change, result.text, where, result.conflicts)


def _moved(first: str, others: Mapping[Path, str]) -> Path | None:
    """The file that this text has become, if one of the others is like it."""
    lines = lines_of(first)
    if len(lines) > MOST_LINES:
        return None
    likeness = {
        path: SequenceMatcher(None, lines, lines_of(as_lf(text)), autojunk=False).ratio()
        for path, text in others.items()
        if text.count("\n") <= MOST_LINES
    }
    best = max(likeness, key=likeness.__getitem__, default=None)
    return best if best is not None and likeness[best] >= _ALIKE else None


def _ends_as(mine: str, now: str) -> str:
    return now.replace("\n", "\r\n") if is_crlf(mine) else now
