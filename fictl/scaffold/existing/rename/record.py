"""Another name in the record of an op's scaffold, so that `fictl upgrade` knows the op again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.upgrade.again import rewritten, texts_now
from fictl.scaffold.new.new_op import place, where_of
from fictl.scaffold.record import ScaffoldRecord, read_record
from fictl.scaffold.record import place as record_place


def renamed_record(
    renaming: Renaming, moved: Callable[[Path], Path], renamed: Callable[[Path, str], str]
) -> Iterator[tuple[Path, str | None]]:
    """Yield the record as a plan moves it. One that cannot be read goes: it is of no use."""
    before, after = renaming.before, renaming.after
    try:
        record = read_record(before)
    except FictlError:
        record = None
        yield record_place(before), None
    if record is None:
        return
    request = replace(record.request, name=after.module, family=after.family)
    new = replace(record, request=request)
    yield record_place(before), None
    try:
        if texts_now(before.project, record) == record.files:
            yield record_place(after), rewritten(after.project, new).text()
            return
    except FictlError:  # What this fictl refuses to write, an older one wrote.
        pass
    yield record_place(after), replace(new, files=_renamed(record, before, moved, renamed)).text()


def _renamed(
    record: ScaffoldRecord,
    folder: OpFolder,
    moved: Callable[[Path], Path],
    renamed: Callable[[Path, str], str],
) -> dict[str, str]:
    """The texts of then, as they had been with the other name."""
    project, files = folder.project, {}
    homes = (folder.path, folder.header.parent, folder.test.parent)
    for where, text in record.files.items():
        path = place(project, where)
        if path.parent in homes:
            files[where_of(project, moved(path))] = renamed(path, text)
        else:
            files[where] = text
    return files
