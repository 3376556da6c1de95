"""FICTL_TRACE_DUMP: write a benchmark definition for every distinct case that a program calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.log import logger, warn_once
from fictl.op.watch.call import Call
from fictl.user_file import read_text


class DefinitionDump:
    """One file per case, `<folder>/<name>.json`. Errors here never break the call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: set[tuple[str, str]] = set()
        self._failed: set[str] = set()

    @classmethod
    def from_settings(cls) -> DefinitionDump:
        return cls(settings.TRACE_DUMP_DIR.get())

    def before(self, call: Call) -> None:
        """Write the definition before the call, so that it exists even if the call crashes."""
        api = call.op.api
        if api in self._failed:
            return
        try:
            self._write(api, call.op.template, call.arguments)
        except Exception as error:
            self._failed.add(api)
            logger().warning("no definitions of %s are written: %s", api, error)

    def after(self, call: Call, result: Any) -> None:
        """Nothing: the definition has been written."""

    def failed(self, call: Call, error: BaseException) -> None:
        """Nothing: the definition has been written."""

    def _write(self, api: str, template: Any, arguments: Mapping[str, Any]) -> None:
        from fictl.trace.describe import definition, definition_name
        from fictl.trace.extract import axis_sizes, dtypes
        from fictl.trace.traced_call import save

        sizes, elements = axis_sizes(template, arguments), dtypes(template, arguments)
        name = definition_name(template, api, sizes, elements)
        if (api, name) in self._seen:
            return
        self._seen.add((api, name))
        current = definition(template, api, sizes, elements)
        path = self._folder / f"{name}.json"
        if not os.path.exists(path):
            save(current, self._folder)
        elif read_text(path) != current.to_json():
            warn_once(f"{path.absolute()} holds another definition than {name} of {api}: it stays")
