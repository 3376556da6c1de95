"""Who watches the calls of this process: decided by the settings when the first op is imported."""

from __future__ import annotations

from functools import cache

from fictl import settings
from fictl.op.watch.call import Observer
from fictl.setting_values import DUMPS


@cache
def observers() -> tuple[Observer, ...]:
    """From the outermost: what a call is refused for is logged; what is dumped was accepted."""
    found: list[Observer] = []
    if settings.AUTORELOAD.get():
        from fictl.op.notebook.autoreload import AutoReload

        found.append(AutoReload())
    if settings.LOGLEVEL.get():
        from fictl.op.watch.call_log import CallLog

        found.append(CallLog.from_settings())
    if settings.VALIDATE_INPUTS.get():
        from fictl.op.watch.validation import Validation

        found.append(Validation())
    if settings.LOGLEVEL.get() >= DUMPS:
        from fictl.op.watch.dump.writer import DumpWriter

        found.append(DumpWriter.from_settings())
    if settings.TRACE_DUMP.get():
        from fictl.op.watch.definition_dump import DefinitionDump

        found.append(DefinitionDump.from_settings())
    return tuple(found)
