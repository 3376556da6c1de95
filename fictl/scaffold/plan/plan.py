"""Plan: the files that a command would write, move or delete; shown, compared, never half done."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fictl.errors import UsageError
from fictl.user_file import read_bytes


@dataclass(frozen=True)
class FileChange:
    """One file; `before` or `after` is None where there is none."""

    path: Path
    before: str | None
    after: str | None

    @property
    def verb(self) -> str:
        if self.before is None:
            return "new"
        return "gone" if self.after is None else "changed"


@dataclass(frozen=True)
class Plan:
    """Texts by path, None for a file that goes; `root` is what paths are shown relative to."""

    root: Path
    files: Mapping[Path, str | None]
    notes: Mapping[Path, str] = field(default_factory=dict)

    def changes(self) -> tuple[FileChange, ...]:
        """Changes that differ from the files on disk."""
        changes = (FileChange(path, _text(path), after) for path, after in self.files.items())
        return tuple(change for change in changes if change.before != change.after)

    def shown(self, path: Path) -> str:
        """Relative to the root, or as it is."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return str(path)

    def refuse_overwriting(self) -> None:
        """Refuse a plan that would write over files."""
        there = [self.shown(c.path) for c in self.changes() if c.before is not None and c.after]
        if there:
            raise UsageError(
                f"{', '.join(there)} {'is' if len(there) == 1 else 'are'} there already",
                "--force writes over them; --diff shows what would change",
            )

    def diff(self) -> str:
        """A patch that `git apply` takes."""
        return "".join(line for change in self.changes() for line in self._patch(change))

    def _patch(self, change: FileChange) -> Iterator[str]:
        name = self.shown(change.path)
        before, after = (change.before or ""), (change.after or "")
        yield f"diff --git a/{name} b/{name}\n"
        if change.before is None:
            yield "new file mode 100644\n"
        elif change.after is None:
            yield "deleted file mode 100644\n"
        lines = difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            "/dev/null" if change.before is None else f"a/{name}",
            "/dev/null" if change.after is None else f"b/{name}",
        )
        for line in lines:
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _text(path: Path) -> str | None:
    try:
        return read_bytes(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "is it a text file of yours?") from error
