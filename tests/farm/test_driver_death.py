"""A driver that is killed leaves nothing at a place, whatever it was doing, and how deep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.servers.sshd import Sshd

from .busy_places import KINDS, BusyPlace, left_of

# 3 s are promised; a busy machine takes longer to run what ends them.
_SECONDS = 6.0


def _killed(busy: BusyPlace) -> None:
    with busy.driver() as driver:
        family = busy.until_at_work(driver)
        assert len(family) >= 2
        driver.kill()
    assert left_of(family, _SECONDS) == {}
    assert busy.family() == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_process_is_left(kind: str, tmp_path: Path) -> None:
    _killed(BusyPlace(tmp_path, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_no_process_is_left_behind_ssh(kind: str, tmp_path: Path, ssh: Sshd) -> None:
    _killed(BusyPlace(tmp_path, kind, json.dumps(ssh.launch)))
