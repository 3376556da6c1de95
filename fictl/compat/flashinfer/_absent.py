"""Messages for `import` of modules that FlashInfer has and fictl does not."""

from __future__ import annotations

import sys
from typing import Any

from fictl.compat.flashinfer._names import ALIAS, PACKAGE, recorded, theirs


class AbsentModules:
    """The last finder: it finds nothing, and says so where an import statement asks.

    importlib.util.find_spec gets None, as engines ask with it whether there is such a module.
    """

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if _is_ours(fullname) and theirs(fullname) in recorded() and _is_import(sys._getframe(2)):  # noqa: SLF001
            from fictl.compat.flashinfer._missing import missing

            parent, _, name = fullname.rpartition(".")
            raise ModuleNotFoundError(missing(parent, name, ()), name=fullname)


def tell_of_absent_modules() -> None:
    """Append the finder, once."""
    if not any(isinstance(finder, AbsentModules) for finder in sys.meta_path):
        finder: Any = AbsentModules()  # No importlib.abc.MetaPathFinder, whose import takes 20 ms.
        sys.meta_path.append(finder)


def _is_ours(name: str) -> bool:
    if name.startswith(f"{PACKAGE}."):
        return True
    package = sys.modules.get(ALIAS)
    ours = getattr(sys.modules.get(PACKAGE), "__path__", None)
    return name.startswith(f"{ALIAS}.") and getattr(package, "__path__", ()) == ours


def _is_import(frame: Any) -> bool:
    """Tell whether the import system itself asks, two calls above a finder."""
    return bool(frame.f_code.co_name == "_find_and_load_unlocked")
