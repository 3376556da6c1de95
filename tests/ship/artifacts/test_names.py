"""Names of snapshots, as users write them and as files have them."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.ship.artifacts.names import parsed, path_of, split

_HASH = "ab" * 32


def test_a_path_has_name_and_hash() -> None:
    assert parsed(path_of("2026.11-rc1", _HASH)) == ("2026.11-rc1", _HASH)


@pytest.mark.parametrize(
    "path",
    [
        f"snapshots/x-{_HASH}.json.minisig",
        f"snapshots/../x-{_HASH}.json",
        f"snapshots/a..b-{_HASH}.json",
        f"snapshots/.x-{_HASH}.json",
        f"snapshots/-{_HASH}.json",
        f"snapshots/a/b-{_HASH}.json",
        f"snapshots/x-{_HASH[:-1]}.json",
        f"snapshots/x-{_HASH.upper()}.json",
        f"builds/x-{_HASH}.json",
        "snapshots/index.json",
        f"snapshots/x-{_HASH}.json\n",
    ],
)
def test_other_paths_have_none(path: str) -> None:
    assert parsed(path) is None


def test_users_write_a_name_with_or_without_a_hash() -> None:
    assert split("2026.11") == ("2026.11", "")
    assert split(f"2026.11@{_HASH}") == ("2026.11", _HASH)


@pytest.mark.parametrize("text", ["", "../x", "a b", "x@", "x@abc", f"@{_HASH}", "x" * 101, "a..b"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"cannot name a snapshot|is not the hash"):
        split(text)
