"""Places behind a real ssh server on the loopback interface."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_options import RunOptions
from fictl.trace import TraceSet
from tests.dataset.samples import definition, solution, workload

SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
pytestmark = pytest.mark.skipif(not SSHD, reason="needs sshd (openssh-server)")

_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile {folder}/pid
StrictModes no
UsePAM no
PasswordAuthentication no
"""
_PLACES = """
[[place]]
name = "gpu{0..1}"
launch = ["ssh", "-F", "%s/config", "loopback"]
python = "%s"
variables = { FICTL_WORKSPACE_BASE = "%s/with space{0..1}" }
"""


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the configuration of a client; the server ends with the module."""
    assert SSHD
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "sshd").write_text(_CONFIG.format(port=port, folder=folder))
    client = f"Host loopback\n HostName 127.0.0.1\n Port {port}\n User {getpass.getuser()}\n"
    client += f" IdentityFile {folder}/user\n IdentitiesOnly yes\n BatchMode yes\n"
    client += " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
    (folder / "config").write_text(client)
    with suppress(OSError):  # Needed by, and possible for, root alone.
        Path("/run/sshd").mkdir(exist_ok=True)
    with subprocess.Popen(
        [SSHD, "-D", "-e", "-f", folder / "sshd"], stderr=subprocess.PIPE
    ) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        if b"listening" not in line:
            server.kill()
            pytest.skip(f"sshd does not start here: {line.decode(errors='replace').strip()}")
        yield folder
        server.terminate()


def test_a_dataset_is_evaluated_over_ssh(ssh: Path, tmp_path: Path) -> None:
    root = tmp_path / "dataset"
    root.mkdir()
    dataset = TraceSet.from_path(root)
    dataset.add_definition(definition("d"))
    dataset.add_workloads("d", [workload(f"w{n}") for n in range(4)])
    dataset.add_solution(solution("s", "d", code="def run(x):\n    return x.clone()\n"))
    places = tmp_path / "places.toml"
    places.write_text(_PLACES % (ssh, sys.executable, tmp_path))
    flags = {"iterations": 1, "warmup_runs": 1, "num_trials": 1, "profile_baseline": False}
    options = RunOptions(device="cpu", on=str(places), flags=flags)
    summary = run_dataset(root, options)
    assert (dict(summary.statuses), summary.left_out) == ({"PASSED": 4}, ())
    assert {outcome.place[:3] for outcome in summary.outcomes} == {"gpu"}


def test_a_host_that_refuses_is_left_out_by_name(ssh: Path, tmp_path: Path) -> None:
    from fictl.farm.line import Greeting
    from fictl.farm.opening import open_all
    from fictl.farm.place import Place

    closed = Place("gone", launch=("ssh", "-F", str(ssh / "config"), "-p", "1", "loopback"))
    (one,) = open_all([closed], lambda place: Greeting("cpu"))
    assert "exit code 255" in one.why
    assert "refused" in one.why
