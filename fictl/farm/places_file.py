"""Places that a user names: by `--on`, or in a file of places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import InvalidValue, UsageError, shown, unreadable
from fictl.farm.engine import ENGINES
from fictl.farm.place import Place, places_here
from fictl.farm.ranges import expanded
from fictl.farm.ray import places as ray
from fictl.toml_text import TomlError, parse_toml
from fictl.user_file import read_text

LOCAL, SSH = "local", "ssh"
# Without them ssh would ask for a password, or wait for a dead machine for minutes.
SSH_COMMAND = (
    *("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
)
_NAME = re.compile(r"[\w@.:/+-]{1,100}")
_HOST = re.compile(r"(?!-)[\w@.:-]+")
_GPU = re.compile(r"[\w,./-]*")
_PYTHON = re.compile(r"(?!-)[^\0\n]+")
_KEYS = ("name", "launch", "python", "gpu", "labels", "engine", "variables")
_NOT_OF_RAY = ("launch", "gpu")
_EXAMPLE = '--on ssh:gpu1,gpu2, --on local, or a file: name = "gpu1", launch = ["ssh", "gpu1"]'


def places_of(on: str, device: str, gpus: int = 1) -> tuple[Place, ...]:
    """Return the places of an `--on`: `local`, `ssh:HOSTS`, `ray://HOST:PORT`, a file, or names of
    places in the file of FICTL_PLACES, all of them if empty; `local,` may stand before any of
    these.

    gpus: how many each place needs; none where a compiler is enough.
    """
    here, _, others = on.partition(",")
    if here == LOCAL:
        own = places_here(device, ranks=max(1, gpus))
        both = [*own, *(places_of(others, device, gpus) if others else ())]
        _refuse_twins(both)
        return tuple(both)
    if device.partition(":")[0] != "cuda":
        gpus = 0
    kind, _, rest = on.partition(":")
    if kind == SSH and rest:
        places = [place for text in expanded(rest) for place in _of_hosts(text)]
    elif ray.is_ray(on):
        places = [*ray.of_option(on, gpus)]
    elif on.endswith(".toml") or "/" in on:
        places = [*places_in(Path(on))]
    else:
        places = [*_chosen(on)]
    _refuse_twins(places)
    return tuple(ray.settled(place, gpus) for place in places)


def places_in(path: Path) -> Iterator[Place]:
    """Read the places of a file."""
    try:
        document = parse_toml(read_text(path, largest=1 << 20))
    except OSError as error:
        raise unreadable(path, error, "fictl farm init writes a first one") from None
    except (TomlError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a file of places: {error}") from None
    tables = document.pop("place", None)
    if document or not isinstance(tables, list) or not tables:
        other = f": it has {shown(next(iter(document)))}" if document else ""
        raise UsageError(f"{path} is not a file of [[place]] tables{other}", _EXAMPLE)
    for number, table in enumerate(tables, 1):
        try:
            for filled in expanded(table):
                yield from _places(filled)
        except InvalidValue as error:
            raise UsageError(f"{path}: place {number}: {error.message}", error.hint) from None


def _chosen(names: str) -> Iterator[Place]:
    path = settings.PLACES.get()
    if path is None:
        raise UsageError(
            f"{settings.PLACES.name} names no file of places"
            + (f", in which {shown(names)} would be looked up" if names else ""),
            _EXAMPLE,
        )
    places = [*places_in(path)]
    _refuse_twins(places)
    known = {place.name: place for place in places}
    if not names:
        yield from places
        return
    chosen: dict[str, Place] = {}  # One may be meant by its name, and by a label.
    for text in names.split(","):
        for name in expanded(text.strip()):
            meant = {one.name: one for one in places if name in (one.name, *one.labels)}
            if not meant:
                raise UsageError(f"{path} has no place {shown(name)}", f"it has {_some(known)}")
            chosen |= meant
    yield from chosen.values()


def _of_hosts(hosts: str) -> Iterator[Place]:
    """Read `gpu1,me@gpu2/3=/opt/python`: hosts, each with a GPU and a Python if that is given."""
    for text in hosts.split(","):
        place, _, python = text.strip().partition("=")
        host, _, gpu = place.partition("/")
        if not _HOST.fullmatch(host):
            raise UsageError(f"--on: {shown(text)!r} is not a host", _EXAMPLE)
        yield _place({"name": place, "launch": [*SSH_COMMAND, host], "gpu": gpu, "python": python})


def _places(table: dict[str, Any]) -> Iterator[Place]:
    if not (isinstance(table, dict) and table.get("engine") == ray.RAY):
        yield _place(table)
        return
    unfit = [key for key in _NOT_OF_RAY if key in table]
    if unfit:
        raise InvalidValue(f"{unfit[0]} is not for places of Ray, which has its own", _EXAMPLE)
    own = {key: value for key, value in table.items() if key not in ray.KEYS}
    yield from ray.of_table(_place({"name": ray.RAY, **own}), table)


def _place(table: dict[str, Any]) -> Place:
    """Check one table, so that nothing in it can be taken for an option or another command."""
    if not isinstance(table, dict):
        raise InvalidValue(f"{shown(repr(table))} is not a table", _EXAMPLE)
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        known = ", ".join((*_KEYS, *ray.KEYS))
        raise InvalidValue(f"{shown(unknown[0])} is not known here", f"there are {known}")
    variables = _variables(table)
    return Place(
        name=_text(table, "name", _NAME),
        launch=_words(table, "launch"),
        python=_text(table, "python", _PYTHON) if table.get("python") else "",
        labels=_words(table, "labels"),
        engine=_engine(table),
        variables=variables,
    )


def _variables(table: dict[str, Any]) -> dict[str, str]:
    given = table.get("variables", {})
    if not isinstance(given, dict) or not all(
        re.fullmatch(r"[A-Za-z_]\w*", name) and isinstance(value, str)
        for name, value in given.items()
    ):
        raise InvalidValue("variables is not a table of texts", 'as in { OMP_NUM_THREADS = "1" }')
    gpu = _text(table, "gpu", _GPU) if table.get("gpu") not in (None, "") else ""
    return {**given, **({settings.CUDA_VISIBLE_DEVICES.name: gpu} if gpu else {})}


def _text(table: dict[str, Any], key: str, pattern: re.Pattern[str]) -> str:
    value = table.get(key)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise InvalidValue(f"{key} is {shown(repr(value))}", _EXAMPLE)
    return text


def _words(table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise InvalidValue(f"{key} is {shown(repr(value))}, not a list of words", _EXAMPLE)
    return tuple(value)


def _engine(table: dict[str, Any]) -> str:
    engine = table.get("engine", "command")
    if engine not in ENGINES:
        raise InvalidValue(f"engine is {shown(repr(engine))}", f"there is {', '.join(ENGINES)}")
    return str(engine)


def _refuse_twins(places: list[Place]) -> None:
    name, count = Counter(place.name for place in places).most_common(1)[0]
    if count > 1:
        raise UsageError(f"{count} places are named {name}", "each place has a name of its own")


def _some(known: dict[str, Place]) -> str:
    names = [*known]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
