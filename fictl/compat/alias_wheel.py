"""A wheel that gives fictl's names to `import flashinfer`, for engines that nobody edits.

Its distribution has FlashInfer's own name, flashinfer-python, as engines require it by that name; its
version ends with +fictl. pip has one distribution of a name, so that it replaces the one by the other
as a whole, and says so: two distributions with one folder would be mixed without a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from fictl.compat.flashinfer._names import ALIAS
from fictl.compat.flashinfer._names import VERSION as FOLLOWED
from fictl.errors import UsageError
from fictl.ship.wheel_file import write_wheel
from fictl.ship.wheel_metadata import WheelName
from fictl.version import VERSION

DISTRIBUTION = "flashinfer-python"
_LOCAL = "fictl"
_TAG = "py3-none-any"
_LARGEST = 1 << 20
# Engines ask for some of them, as in flashinfer_python[cu13]: fictl's own extras have the compilers.
_EXTRAS = ("b12x", "cu12", "cu13", "nvep", "ptx", "sm107")

_PACKAGE = '''\
"""flashinfer, as far as fictl has it: written by `fictl compat wheel`."""

import os

_FOLDER = os.path.dirname(__file__)
_OTHERS = sorted({{*os.listdir(_FOLDER)}} - {{"__init__.py", "__pycache__"}})
if _OTHERS:
    raise ImportError(
        f"{{_FOLDER}} has fictl's __init__.py and files of another flashinfer, as {{_OTHERS[0]}}: "
        "remove the folder, then install one of the two"
    )

from fictl.compat.flashinfer import __path__, __version__, parts  # noqa: E402
from fictl.compat.flashinfer._served import served  # noqa: E402

__getattr__, __dir__ = served(__name__, *parts())
'''

_METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: `import flashinfer`, served by fictl: not FlashInfer itself
Requires-Python: >=3.10
Requires-Dist: fictl=={fictl}
{extras}
Description-Content-Type: text/markdown

fictl's ops under FlashInfer's names, for engines that import `flashinfer` and require {name}.
`pip install {name}=={followed}` brings FlashInfer itself back.
"""


@dataclass(frozen=True)
class AliasWheel:
    """The wheel that is written, and the version of the distribution that pip would replace here."""

    path: Path
    version: str
    replaces: str

    def to_dict(self) -> dict[str, Any]:
        return {"path": str(self.path), "version": self.version, "replaces": self.replaces}


def write_alias_wheel(out: Path, version: str = FOLLOWED, dry_run: bool = False) -> AliasWheel:
    """Write the wheel to a folder; `version` is what an engine requires: 0.7.2, or a post-release."""
    if not re.fullmatch(rf"{re.escape(FOLLOWED)}(\.post\d+)?", version):
        raise UsageError(
            f"{version!r} is not a version of FlashInfer that fictl follows",
            f"{FOLLOWED}, or a post-release, as in {FOLLOWED}.post1",
        )
    name = WheelName(DISTRIBUTION, f"{version}+{_LOCAL}.{VERSION}", _TAG)
    wheel = AliasWheel(out / name.file, name.version, _installed())
    if not dry_run:
        write_wheel(wheel.path, _members(name), _LARGEST)
    return wheel


def _installed() -> str:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return ""


def _members(name: WheelName) -> dict[str, Callable[[], bytes]]:
    head = ("Wheel-Version: 1.0", f"Generator: fictl {VERSION}", "Root-Is-Purelib: true")
    texts = {
        f"{ALIAS}/__init__.py": _PACKAGE.format(),
        f"{name.info}/WHEEL": "\n".join((*head, f"Tag: {_TAG}", "")),
        f"{name.info}/METADATA": _METADATA.format(
            name=DISTRIBUTION,
            version=name.version,
            fictl=VERSION,
            followed=FOLLOWED,
            extras="\n".join(f"Provides-Extra: {extra}" for extra in _EXTRAS),
        ),
    }
    return {path: text.encode for path, text in texts.items()}
