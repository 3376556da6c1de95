"""A build that one machine has sent to a remote, and another machine that asks for it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from fictl.jit.store.entry import Entry
from fictl.trust import keys_file
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey

from ...servers.old_s3 import OldS3, old_s3_server
from ...servers.proxy import Proxy, proxy_of
from ...servers.seaweed import ACCESS_KEY, BUCKET, SECRET_KEY, Seaweed
from .killing import Forks

_SOURCE = Path(__file__).parents[2] / "servers" / "connections.c"
_UNSHARE = ["unshare", "--user", "--map-root-user", "--net"]
DOCUMENT = re.compile(r"builds/.*-[0-9a-f]{64}\.json")


@dataclass(frozen=True)
class Remote:
    """A remote by its URL; its objects as its owner has them, around whatever lies in front of it."""

    url: str
    store: Any
    proxy: Proxy | None = None
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return sorted(item["path"] for page in self.store.list() for item in page)

    def named(self, *parts: str) -> str:
        """Return the only name that has all these parts."""
        (name,) = [name for name in self.names if all(part in name for part in parts)]
        return name

    @property
    def manifest(self) -> str:
        """Return the name of the only document of a build."""
        (name,) = [name for name in self.names if DOCUMENT.fullmatch(name)]
        return name

    @property
    def signature(self) -> str:
        return self.named(self.manifest, ".minisig")

    @property
    def blob(self) -> str:
        return self.named("blobs/")

    def read(self, name: str) -> bytes:
        return bytes(self.store.get(name).bytes())

    def write(self, name: str, data: bytes) -> None:
        self.store.put(name, data)

    def delete(self, name: str) -> None:
        self.store.delete([name])

    def hold(self, objects: dict[str, bytes]) -> None:
        """Have these objects, and no others."""
        for name in self.names:
            self.delete(name)
        for name, data in objects.items():
            self.write(name, data)

    @property
    def objects(self) -> dict[str, bytes]:
        return {name: self.read(name) for name in self.names}


def of_s3(endpoint: str, prefix: str) -> Any:
    from obstore.store import S3Store

    config = {
        "endpoint": endpoint,
        "region": "us-east-1",
        "access_key_id": ACCESS_KEY,
        "secret_access_key": SECRET_KEY,
    }
    return S3Store(BUCKET, prefix=prefix, config=config, client_options={"allow_http": True})


def s3_variables(endpoint: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    }


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Remote], Remote]:
    """Make a remote that of this test's commands."""

    def set_variables(remote: Remote) -> Remote:
        monkeypatch.setenv("FICTL_REMOTE", remote.url)
        for name, value in remote.variables.items():
            monkeypatch.setenv(name, value)
        return remote

    return set_variables


@pytest.fixture
def s3(seaweed: Seaweed, use: Callable[[Remote], Remote]) -> Iterator[Remote]:
    """An empty place in a real S3 server, behind a proxy."""
    prefix = secrets.token_hex(4)
    with proxy_of(seaweed.url) as proxy:
        store = of_s3(seaweed.url, prefix)
        yield use(Remote(f"s3://{BUCKET}/{prefix}", store, proxy, s3_variables(proxy.url)))


@pytest.fixture
def old_server() -> Iterator[OldS3]:
    with old_s3_server() as server:
        yield server


@pytest.fixture
def old_s3(old_server: OldS3, use: Callable[[Remote], Remote]) -> Iterator[Remote]:
    """The same in a server that ignores conditional puts and pages its lists."""
    with proxy_of(old_server.url) as proxy:
        store = of_s3(old_server.url, "old")
        yield use(Remote(f"s3://{BUCKET}/old", store, proxy, s3_variables(proxy.url)))


@pytest.fixture
def folder(tmp_path: Path, use: Callable[[Remote], Remote]) -> Remote:
    """A folder of this user."""
    from obstore.store import LocalStore

    path = tmp_path / "shared folder"
    path.mkdir(mode=0o700)
    return use(Remote(path.as_uri(), LocalStore(path)))


@pytest.fixture(params=["folder", "s3", "old_s3"])
def remote(request: pytest.FixtureRequest) -> Remote:
    """Each kind that can be written to."""
    chosen: Remote = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture(scope="session")
def ci_key() -> SecretKey:
    return SecretKey.generate()


@dataclass(frozen=True)
class Keys:
    """The key that signs, and the user's list of trusted ones, which has it as `ci`."""

    secret: SecretKey
    folder: Path

    def trust(
        self,
        key: SecretKey,
        name: str = "ci",
        projects: tuple[str, ...] = ("*",),
        expires: date | None = None,
    ) -> None:
        keys_file.add(TrustedKey(name, key.public, projects, expires))

    def forget(self) -> None:
        """Trust nobody."""
        keys_file.keys_path().unlink()

    def sign_with(self, key: SecretKey) -> Path:
        path = self.folder / "secret.key"
        path.write_text(key.text(), encoding="utf-8")
        path.chmod(0o600)
        return path


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci_key: SecretKey) -> Keys:
    folder = tmp_path / "keys"
    folder.mkdir()
    made = Keys(ci_key, folder)
    monkeypatch.setenv("FICTL_TRUST", str(folder / "trust.toml"))
    monkeypatch.setenv("FICTL_SIGNING_KEY", str(made.sign_with(ci_key)))
    made.trust(ci_key)
    return made


@pytest.fixture
def compiles(project: Any) -> Callable[[], int]:
    """Count the compiles since the last call."""
    path = project.nvcc.parents[1] / "calls"

    def count() -> int:
        number = project.compiles if path.exists() else 0
        path.unlink(missing_ok=True)
        return number

    return count


@pytest.fixture(scope="session")
def _kept() -> dict[str, bytes]:
    return {}


@pytest.fixture
def sent(
    project: Any,
    keys: Keys,
    fictl_: Callable[..., Any],
    compiles: Callable[[], int],
    tmp_path: Path,
    _kept: dict[str, bytes],
) -> dict[str, bytes]:
    """The objects of a remote that has `twice`, signed by ci; they are made once for all tests."""
    from obstore.store import LocalStore

    if not _kept:
        place = tmp_path / "sent"
        answer = fictl_(
            *("build", "twice"),
            FICTL_REMOTE=f"file://{place}",
            FICTL_REMOTE_MODE="write",
            FICTL_WORKSPACE_BASE=str(tmp_path / "ci"),
        )
        assert answer.code == 0, answer.err
        _kept.update(Remote("", LocalStore(place)).objects)
        assert compiles() == 1
    return dict(_kept)


@pytest.fixture
def filled(s3: Remote, sent: dict[str, bytes]) -> Remote:
    """The S3 server, with `twice`."""
    s3.hold(sent)
    assert s3.proxy is not None
    s3.proxy.forget()
    return s3


@pytest.fixture
def pulled(project: Any, compiles: Callable[[], int]) -> Callable[[], Entry | None]:
    """Return the only build in the cache, if it was taken from the remote and nothing compiled."""

    def entry() -> Entry | None:
        count, entries = compiles(), project.entries
        if not entries:
            return None
        (one,) = entries
        assert (count == 0) == bool(one.manifest.origin), (count, one.manifest.origin)
        one.verify(everything=True)
        return one if one.manifest.origin else None

    return entry


@pytest.fixture
def elsewhere(
    project: Any,
    keys: Keys,
    fictl_: Callable[..., Any],
    compiles: Callable[[], int],
    tmp_path: Path,
) -> Callable[..., dict[str, str]]:
    """Build `twice` on another machine, which sends nothing unless told to; the variables of it."""

    def build(name: str = "elsewhere", mode: str = "off") -> dict[str, str]:
        cache = empty_cache(tmp_path / name)
        answer = fictl_("build", "twice", FICTL_REMOTE_MODE=mode, **cache)
        assert answer.code == 0, answer.err
        assert compiles() == 1
        return cache

    return build


def empty_cache(path: str | os.PathLike[str]) -> dict[str, str]:
    """The variable that makes a folder the cache of another machine."""
    return {"FICTL_WORKSPACE_BASE": str(path)}


@pytest.fixture
def forks(start, tmp_path):
    folder = tmp_path / "forks"
    folder.mkdir()
    process = start(str(Path(__file__).with_name("forked.py")), str(folder))
    yield Forks(process, folder)
    process.kill()
    process.communicate()


@pytest.fixture(scope="session")
def noter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that notes what a process connects to."""
    library = tmp_path_factory.mktemp("connections") / "connections.so"
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C compiler")
    argv = [compiler, "-O1", "-shared", "-fPIC", "-Wall", "-Werror", str(_SOURCE), "-ldl"]
    subprocess.run([*argv, "-o", str(library)], check=True)
    return library


@pytest.fixture
def connections(noter, tmp_path, monkeypatch):
    """What the commands of this test connect to, and the names that they ask for."""
    log = tmp_path / "connections"
    monkeypatch.setenv("LD_PRELOAD", str(noter))
    monkeypatch.setenv("NOTED_CONNECTIONS", str(log))
    return lambda: log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def without_a_network(tmp_path):
    """Run the command line where there is no interface, not even the loopback one."""
    if subprocess.run([*_UNSHARE, "true"], capture_output=True).returncode:
        pytest.skip("needs user and network namespaces: unshare is refused here")

    def run(*words: str, **changes: str) -> tuple[int, str, float]:
        began = time.monotonic()
        done = subprocess.run(
            [*_UNSHARE, sys.executable, "-m", "fictl", *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **changes},
            capture_output=True,
            text=True,
            timeout=120,
        )
        text = done.stdout + done.stderr
        assert "Traceback" not in text
        return done.returncode, text, time.monotonic() - began

    return run
