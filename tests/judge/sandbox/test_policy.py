"""Each wall alone: what it keeps a process from, and that it is refused where it is wanted and missing."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.judge.sandbox import kernel, landlock, policy, seccomp
from fictl.judge.sandbox.policy import SandboxPolicy, possible, require

# Python 3.12 says so of every fork beside torch's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
needs_landlock = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
needs_namespaces = pytest.mark.skipif(
    not possible().has_namespaces, reason="this machine allows no user namespaces"
)
DENIED = ("PermissionError", "OSError", "FileNotFoundError")


def behind(made: SandboxPolicy, step: Callable[[], object]) -> str:
    """Run `step` in a process under this policy and return its result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = "done"
        try:
            made.unshare()
            if os.fork() == 0:
                made.apply()
                step()
            else:
                said = ""
                os.wait()
        except OSError as error:
            said = type(error).__name__
        finally:
            os.write(write, said.encode())
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as file:
        return file.read()


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "files",
    [
        pytest.param("landlock", marks=needs_landlock),
        pytest.param("mountns", marks=needs_namespaces),
    ],
)
def test_only_its_own_folder_is_written(files: str, inside: Path, tmp_path: Path) -> None:
    made = SandboxPolicy(files, writable=(str(inside),))
    outside = tmp_path / "outside"
    outside.write_text("as it was")
    assert behind(made, lambda: (inside / "file").write_text("x")) == "done"
    assert behind(made, lambda: outside.write_text("x")) in DENIED
    assert behind(made, (tmp_path / "new").mkdir) in DENIED
    assert behind(made, outside.unlink) in DENIED
    assert outside.read_text() == "as it was"


@needs_landlock
def test_landlock_hides_a_folder_and_nothing_beside_it(inside: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "file").write_text("secret")
    (tmp_path / "beside").write_text("")
    made = SandboxPolicy("landlock", writable=(str(inside),), hidden=(str(hidden),))
    assert behind(made, (hidden / "file").read_text) == "PermissionError"
    assert behind(made, (tmp_path / "beside").read_text) == "done"


@needs_namespaces
def test_a_namespace_hides_a_folder(inside: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "file").write_text("secret")
    made = SandboxPolicy("", "netns", writable=(str(inside),), hidden=(str(hidden),))
    assert behind(made, (hidden / "file").read_text) == "FileNotFoundError"


@pytest.mark.parametrize(
    ("files", "network"),
    [
        pytest.param("landlock", "", marks=needs_landlock),
        pytest.param("landlock", "netns", marks=[needs_landlock, needs_namespaces]),
        pytest.param("mountns", "netns", marks=needs_namespaces),
    ],
)
def test_what_is_shown_is_read_where_all_beside_it_is_hidden(
    files: str, network: str, tmp_path: Path
) -> None:
    for name in ("inside", "shown", "others"):
        (tmp_path / "all" / name).mkdir(parents=True)
        (tmp_path / "all" / name / "file").write_text("")
    at = tmp_path / "all"
    made = SandboxPolicy(
        files,
        network,
        writable=(str(at / "inside"),),
        hidden=(str(at),),
        shown=(str(at / "shown"),),
    )
    assert behind(made, lambda: (at / "inside" / "file").write_text("x")) == "done"
    assert behind(made, (at / "shown" / "file").read_text) == "done"
    assert behind(made, lambda: (at / "shown" / "file").write_text("x")) in DENIED
    assert behind(made, (at / "others" / "file").read_text) in DENIED
    assert (at / "inside" / "file").read_text() == "x"


@needs_namespaces
def test_no_network_is_reached_from_a_namespace() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        place = server.getsockname()

        def connect() -> None:
            socket.create_connection(place, timeout=1).apply()

        assert behind(SandboxPolicy(), connect) == "done"
        assert behind(SandboxPolicy("", "netns"), connect) == "OSError"


def test_untrusted_code_is_refused_without_walls() -> None:
    with pytest.raises(
        SetupError, match="this machine cannot restrict writing files and the network"
    ):
        require(SandboxPolicy())
    with pytest.raises(SetupError, match="this machine cannot restrict the network"):
        require(SandboxPolicy("landlock", ""))
    assert require(SandboxPolicy("landlock", "tcp")).label == "landlock"


def test_results_name_the_walls() -> None:
    assert SandboxPolicy().label == "none"
    assert SandboxPolicy("landlock", "netns").label == "landlock+netns"
    assert SandboxPolicy("mountns", "netns").label == "mountns+netns"


def test_walls_travel_to_the_process_that_is_behind_them() -> None:
    made = replace(possible(), writable=("/a",), hidden=("/b",), environment={"A": "1"}, memory=5)
    assert SandboxPolicy.from_dict(made.to_dict()) == made


def test_what_cannot_be_built_is_not_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_works", lambda step: False)
    assert possible.__wrapped__().label == "none"


@pytest.mark.skipif(not possible().calls, reason="this machine has no seccomp")
@pytest.mark.parametrize("name", sorted(seccomp._REFUSED))
def test_calls_that_reach_into_others_are_refused(name: str) -> None:
    column = ["x86_64", "aarch64"].index(platform.machine())
    number = seccomp._REFUSED[name][column]

    def tried() -> None:
        kernel.call(number, 0, 0, 0, 0, 0, 0)

    assert behind(SandboxPolicy(calls="seccomp"), tried) == "PermissionError"


@pytest.mark.skipif(not possible().calls, reason="this machine has no seccomp")
def test_what_programs_need_works_behind_the_filter(inside: Path) -> None:
    def works() -> None:
        subprocess.run(["/bin/sh", "-c", "echo x | cat > file"], cwd=inside, check=True)

    assert behind(SandboxPolicy(calls="seccomp"), works) == "done"
    assert (inside / "file").read_text() == "x\n"
