"""What a report must not tell."""

from __future__ import annotations

import pytest

from fictl.doctor import redact as module
from fictl.doctor.redact import redact


@pytest.fixture(autouse=True)
def somebody(monkeypatch):
    monkeypatch.setenv("HOME", "/home/alice")
    monkeypatch.setattr(module, "_user", lambda: "alice")
    monkeypatch.setattr(module.platform, "node", lambda: "gpu7.lab.example.org")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/home/alice/.cache/fictl", "~/.cache/fictl"),
        ("CXX=/home/alice", "CXX=~"),
        ("/home/alicea/x", "/home/alicea/x"),
        ("/data/alice/x of alice", "/data/<user>/x of <user>"),
        ("malice alice-in-chains", "malice alice-in-chains"),
        ("on gpu7.lab.example.org, gpu7", "on <host>, <host>"),
        ("gpu77", "gpu77"),
        ("https://bob:pw@host/x", "https://<hidden>@host/x"),
        ("https://host/x@2", "https://host/x@2"),
        ("MY_API_KEY=abc other", "MY_API_KEY=<hidden> other"),
        ("-DHF_TOKEN='a b' -DX=1", "-DHF_TOKEN=<hidden> -DX=1"),
        ("db_password=x;secret=y", "db_password=<hidden>;secret=<hidden>"),
        ("part of a build's key: yes", "part of a build's key: yes"),
    ],
)
def test_names_and_secrets_are_taken_out_and_nothing_else(text, told):
    assert redact(text) == told


def test_a_name_that_is_a_common_word_stays(monkeypatch):
    monkeypatch.setattr(module, "_user", lambda: "root")
    assert redact("run it as root") == "run it as root"


def test_a_user_without_a_name_is_no_problem(monkeypatch):
    monkeypatch.undo()

    def fail() -> str:
        raise KeyError("uid 1234")

    monkeypatch.setattr(module.getpass, "getuser", fail)
    assert redact("text") == "text"
