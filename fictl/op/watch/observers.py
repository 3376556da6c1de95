"""Observers of this process's calls, chosen by the settings when the first op is imported."""

from __future__ import annotations

from functools import cache

from fictl import settings
from fictl.op.watch.call import CallObserver
from fictl.setting_values import DUMPS


@cache
def observers() -> tuple[CallObserver, ...]:
    """List the observers, outermost first: the log sees refused calls, dumps only accepted ones."""
    active: list[CallObserver] = []
    if settings.AUTORELOAD.get():
        from fictl.op.notebook.autoreload import AutoReload

        active.append(AutoReload())
    if settings.LOGLEVEL.get():
        from fictl.op.watch.call_log import CallLog

        active.append(CallLog.from_settings())
    if settings.VALIDATE_INPUTS.get():
        from fictl.op.watch.validation import Validation

        active.append(Validation())
    if settings.LOGLEVEL.get() >= DUMPS:
        from fictl.op.watch.dump.writer import DumpWriter

        active.append(DumpWriter.from_settings())
    if settings.TRACE_DUMP.get():
        from fictl.op.watch.definition_dump import DefinitionDump

        active.append(DefinitionDump.from_settings())
    return tuple(active)
