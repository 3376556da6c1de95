"""Histories on a branch that is not checked out: commits of code stay free of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fictl.bench.history.keeping import LARGEST, SUFFIX, Change
from fictl.bench.stored import FOLDER
from fictl.errors import FictlError, UsageError
from fictl.project import Project
from fictl.project.revision import repository

_ATTEMPTS = 5
# As update-ref spells that a branch must not exist.
_NOTHING = "0" * 40


@dataclass(frozen=True)
class BranchHistory:
    """The files of FolderHistory, at the same paths, on a branch of the project's repository."""

    project: Project
    branch: str

    @property
    def label(self) -> str:
        return f"branch {self.branch}"

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def read(self) -> dict[str, str]:
        self._require_usable()
        return self._texts(self._tip())

    def write(self, changes: Mapping[str, Change], message: str) -> None:
        """Add a commit to the branch; what another process adds meanwhile is kept."""
        self._require_usable()
        for _ in range(_ATTEMPTS):
            tip = self._tip()
            before = self._texts(tip)
            texts = {name: change(before.get(name, "")) for name, change in changes.items()}
            commit = self._commit(tip, texts, message)
            if self._moved(tip, commit):
                return
        raise FictlError(f"{self.label} is changed by others all the time", "run it again")

    def _texts(self, tip: str) -> dict[str, str]:
        if not tip:
            return {}
        listed = self._git("ls-tree", "-r", "-l", "-z", tip, "--", f"{self._inside}/").split("\0")
        names = [self._named(line) for line in listed if line.endswith(SUFFIX)]
        return {
            name: self._git("cat-file", "blob", f"{tip}:{self._inside}/{name}") + "\n"
            for name in names
        }

    def _commit(self, tip: str, texts: Mapping[str, str], message: str) -> str:
        """Write a commit with these files, through an index of its own."""
        with TemporaryDirectory(prefix="fictl-history-") as folder:
            own = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            if tip:
                self._git("read-tree", tip, **own)
            for name, text in texts.items():
                content = Path(folder) / "content"
                content.write_text(text, encoding="utf-8")
                blob = self._git("hash-object", "-w", "--no-filters", str(content))
                entry = f"100644,{blob},{self._inside}/{name}"
                self._git("update-index", "--add", "--cacheinfo", entry, **own)
            tree = self._git("write-tree", **own)
        parent = ["-p", tip] if tip else []
        return self._git("commit-tree", tree, *parent, "-m", message)

    def _moved(self, tip: str, commit: str) -> bool:
        try:
            self._git("update-ref", self._ref, commit, tip or _NOTHING)
        except FictlError:
            if self._tip() != tip:
                return False
            raise
        return True

    def _require_usable(self) -> None:
        try:
            self._git("check-ref-format", "--branch", self.branch)
        except FictlError:
            raise UsageError(f"--branch {self.branch!r} is not the name of a branch") from None
        if self.branch.startswith("@"):  # Git takes @{-1} for the branch before.
            raise UsageError(f"--branch {self.branch!r} is not the name of a branch")
        if f"branch {self._ref}" in self._git("worktree", "list", "--porcelain").splitlines():
            raise UsageError(
                f"--branch {self.branch} is checked out: its files are the working tree's",
                "name a branch for histories alone, or leave --branch out",
            )

    def _tip(self) -> str:
        """Return the commit of the branch; '' if it does not exist."""
        wanted = ("for-each-ref", "--format=%(objectname) %(refname)", self._ref)
        for line in self._git(*wanted).splitlines():
            sha, _, name = line.partition(" ")
            if name == self._ref:
                return sha
        return ""

    def _git(self, command: str, *words: str, **variables: str) -> str:
        from git import GitCommandError

        call = getattr(repository(self.project.root).git, command.replace("-", "_"))
        try:
            return str(call(*words, env=variables or None))
        except GitCommandError as error:
            text = str(error.stderr).replace("stderr:", "").strip(" \n'")
            raise FictlError(f"{self.label}: git {command} failed: {text}", _HINT) from error

    @property
    def _inside(self) -> str:
        """Path of the folder in the repository, the same as in a working tree."""
        top = Path(repository(self.project.root).working_tree_dir).resolve()
        return (self.project.root / FOLDER).relative_to(top).as_posix()

    def _named(self, line: str) -> str:
        """Return the name of a listed blob; one that is a link or too large is refused."""
        facts, _, path = line.partition("\t")
        mode, kind, _, size = facts.split()
        if kind != "blob" or mode == "120000" or int(size) > LARGEST:
            raise UsageError(f"{self.label}: {path} is not a history", "remove it")
        return path.removeprefix(f"{self._inside}/")


_HINT = "git says why; a commit needs user.name and user.email"
