"""Errors in words for answers of places, whose documents may have any content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fictl.errors import FictlError, shown
from fictl.farm.spread.command_job import CommandResult


@contextmanager
def readable(result: CommandResult) -> Iterator[None]:
    """Name the place and the job of an answer that does not have what its command prints."""
    try:
        yield
    except FictlError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OSError) as error:
        why = shown(f"{type(error).__name__}: {error}".partition("\n")[0])
        raise FictlError(
            f"{result.job.name}: the answer of {result.place} cannot be read: {why}"
        ) from None
