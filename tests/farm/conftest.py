from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.sshd import Sshd, running_sshd


@pytest.fixture(scope="session")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """An ssh server on the loopback interface, once for all tests of places behind one."""
    with running_sshd(tmp_path_factory.mktemp("ssh")) as server:
        yield server
