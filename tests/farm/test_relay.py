"""Large files through the remote that both ends use; whatever fails there, they go over the pipe."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fictl import settings
from fictl.child.local_process import LocalProcess
from fictl.farm.blobs import BlobStore, blob_of
from fictl.farm.connection import Connection
from fictl.farm.line import CommandDone, Greeting, RunCommand
from fictl.farm.place import Place
from fictl.farm.relay import known_remotes, relay_to
from fictl.farm.tree import pack_folder
from fictl.jit.remote import breaker
from tests.servers import proxy as faults
from tests.servers.old_s3 import OldS3
from tests.servers.proxy import Proxy, proxy_of

pytest.importorskip("obstore")
URL = "s3://bucket/shared"
SECRET = "a-secret-of-this-machine"


@dataclass
class Farm:
    """A server, a proxy between it and the place, and what went over the pipe."""

    server: OldS3
    proxy: Proxy
    folder: Path
    lines: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    def run(self) -> CommandDone:
        """Send a tree with a large file to a place, which sends that file back."""
        source = self.folder / "source"
        source.mkdir(exist_ok=True)
        (source / "large").write_bytes(os.urandom(600_000))
        packed = self.folder / "packed.tar"
        pack_folder(source, packed)
        tree = blob_of(packed)
        base = str(self.folder / "far")
        own = {settings.WORKSPACE_BASE.name: base, "AWS_ENDPOINT_URL": self.proxy.url}
        place = Place("far", {**own, **self.variables}, launch=("env",))
        connection = Connection(place)
        try:
            connection.greet(Greeting(""))
            request = RunCommand(("skills", "list"), tree, keeps=("large",))
            into = BlobStore.of_user()
            done: CommandDone = connection.ask(request, 60, {tree.sha256: packed}, into)
        finally:
            connection.hang_up()
            connection.end()
        assert into.path(done.kept["large"]).read_bytes() == (source / "large").read_bytes()
        return done

    def count(self, kind: str) -> int:
        return sum(f'"kind": "{kind}"' in line for line in self.lines)


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Farm]:
    monkeypatch.setattr(breaker, "_down", {})
    server = OldS3()
    try:
        with proxy_of(server.url) as proxy:
            environment = {
                "AWS_ENDPOINT_URL": server.url,
                "AWS_ACCESS_KEY_ID": "me",
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_REGION": "us-east-1",
                "AWS_ALLOW_HTTP": "true",
                settings.REMOTE.name: URL,
                settings.REMOTE_MODE.name: "write",
                settings.REMOTE_TIMEOUT.name: "2",
            }
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            one = Farm(server, proxy, tmp_path)
            _spy(monkeypatch, one.lines)
            yield one
    finally:
        server.stop()


def _spy(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    write, read = LocalProcess.write_line, LocalProcess.next_line

    def written(self: LocalProcess, line: str) -> None:
        lines.append(line)
        write(self, line)

    def came(self: LocalProcess, deadline: float) -> str | None:
        line = read(self, deadline)
        lines.extend([line] if line else [])
        return line

    monkeypatch.setattr(LocalProcess, "write_line", written)
    monkeypatch.setattr(LocalProcess, "next_line", came)


def test_both_ways_go_through_the_remote(farm: Farm) -> None:
    farm.run()
    assert (farm.count("AtRemote"), farm.count("Frame")) == (2, 0)
    stored = [name for name in farm.server.objects if "/blobs/sha256/" in name]
    assert len(stored) == 2
    assert farm.proxy.count("^(PUT|GET) .*/blobs/") == 2  # What the place asked for.


def test_the_pipe_carries_no_credentials_and_no_url(farm: Farm) -> None:
    farm.run()
    words = "\n".join(farm.lines)
    assert SECRET not in words
    assert "s3://" not in words
    assert "bucket" not in words


def test_what_is_there_is_not_sent_again(farm: Farm) -> None:
    source = farm.folder / "file"
    source.write_bytes(os.urandom(300_000))
    for _ in range(2):
        digest, relay = relay_to(known_remotes())
        assert relay is not None
        assert digest
        assert relay.put(blob_of(source), source)
    blob = blob_of(source)
    farm.server.objects[f"/bucket/shared/blobs/sha256/{blob.sha256[:2]}/{blob.sha256}"] = b"cut"
    _, again = relay_to(known_remotes())
    assert again is not None
    assert again.put(blob, source)
    assert [len(data) for name, data in farm.server.objects.items() if blob.sha256 in name] == [
        300_000
    ]


def _other_bytes(farm: Farm) -> None:
    farm.proxy.fail(faults.flip(), "GET .*/blobs/")


def _other_file(farm: Farm) -> None:
    farm.proxy.fail(faults.replace(lambda body: b"x" * len(body)), "GET .*/blobs/")


def _too_many_bytes(farm: Farm) -> None:
    farm.proxy.fail(faults.replace(lambda body: body + b"x"), "GET .*/blobs/")


def _endless(farm: Farm) -> None:
    farm.proxy.fail(faults.Endless(), "GET .*/blobs/")


def _missing(farm: Farm) -> None:
    farm.proxy.fail(faults.status(404), "GET .*/blobs/")


def _refused(farm: Farm) -> None:
    farm.proxy.fail(faults.status(403))


def _cut(farm: Farm) -> None:
    farm.proxy.fail(faults.cut(1000), "GET .*/blobs/")


def _hangs(farm: Farm) -> None:
    farm.proxy.fail(faults.hang, "/blobs/")


def _down(farm: Farm) -> None:
    farm.variables["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"


def _no_network(farm: Farm) -> None:
    farm.variables[settings.NO_DOWNLOAD.name] = "1"


@pytest.mark.parametrize(
    "spoil",
    [
        *(_other_bytes, _other_file, _too_many_bytes, _endless, _missing, _refused),
        *(_cut, _hangs, _down, _no_network),
    ],
)
def test_a_place_that_the_remote_does_not_serve_right_gets_the_file_over_the_pipe(
    farm: Farm, spoil: Callable[[Farm], None]
) -> None:
    spoil(farm)
    farm.run()
    assert farm.count("Frame") >= 1
    parts = [*(farm.folder / "far" / ".cache/fictl/v1/.farm").glob("*.part")]
    assert parts == []


def test_the_drivers_own_remote_may_be_down(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    farm.run()
    assert farm.count("AtRemote") <= 1  # The place's file; the driver cannot take it from there.
    assert farm.count("Frame") >= 2


@pytest.mark.parametrize(
    "variables",
    [
        {settings.REMOTE.name: "s3://bucket/other"},
        {settings.REMOTE.name: ""},
        {settings.REMOTE_MODE.name: "off"},
    ],
)
def test_a_place_with_another_remote_uses_none(farm: Farm, variables: dict[str, str]) -> None:
    farm.variables |= variables
    farm.run()
    assert (farm.count("AtRemote"), farm.server.objects) == (0, {})


def test_who_only_reads_sends_nothing(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.REMOTE_MODE.name, "read")
    farm.run()
    assert (farm.count("AtRemote"), farm.server.objects) == (0, {})


def test_a_bucket_of_somebody_else_is_left_alone(farm: Farm) -> None:
    farm.server.objects["/bucket/shared/theirs"] = b"x"
    farm.run()
    assert farm.count("AtRemote") == 0
    assert {*farm.server.objects} == {"/bucket/shared/theirs"}


def test_urls_are_compared_without_their_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.REMOTE.name, "https://me:one@host/x")
    mine = known_remotes()
    monkeypatch.setenv(settings.REMOTE.name, "https://you:two@host/x")
    assert known_remotes() == mine
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in mine)
