"""What a report must not tell."""

from __future__ import annotations

import shlex

import pytest

from fictl import redact as module
from fictl.redact import HIDDEN, hidden, hide_secrets, redact


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

    monkeypatch.setattr("getpass.getuser", fail)
    assert redact("text") == "text"


SECRETS = [
    "-DTOKEN=hunter2abc",
    '-DHF_TOKEN="hunter2abc x"',
    '-DTOKEN=\\"hunter2abc\\"',
    "-D TOKEN=hunter2abc,hunter2abc",
    "AWS_SECRET_ACCESS_KEY=hunter2abc/hunter2abc+1",
    "AKIAHUNTER2ABC234567",
    "https://bob:hunter2abc@host/x",
    "https://hunter2abc@host/x",
    "https://bob:hunter2abc/@host/x",
    "git+ssh://bob:hunter2abc@host",
    "ghp_hunter2abc0123456789",
    "github_pat_hunter2abc0123456789",
    "glpat-hunter2abc0123456789",
    "hf_hunter2abc0123456789",
    "sk-hunter2abc0123456789",
    "xoxb-hunter2abc0123456789",
    "nvapi-hunter2abc0123456789",
    "--token hunter2abc",
    "--api-key=hunter2abc",
    "--password 'hunter2abc'",
    "-u bob:hunter2abc",
    "Authorization: Bearer hunter2abc",
    "X-Api-Key: hunter2abc",
    "curl -H 'Bearer hunter2abc'",
    "https://host/x?sig=hunter2abc&se=1",
    "https://host/x?access_token=hunter2abc",
    "DB_PWD=hunter2abc",
    "eyJhbGciOi.hunter2abc.hunter2abc",
    "-DKEYS=hunter2abc",
    "session_cookie=hunter2abc",
    "-----BEGIN RSA PRIVATE KEY-----hunter2abc-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("text", SECRETS)
@pytest.mark.parametrize("around", ["{}", "before {} after", "a|{}|b", "{}, {}"])
def test_what_looks_like_a_secret_is_hidden(text, around):
    told = hide_secrets(around.format(text, text))
    assert "hunter2" not in told.lower()
    assert HIDDEN in told


@pytest.mark.parametrize("text", SECRETS)
def test_a_list_of_words_hides_them_too(text):
    words = [text] if text.startswith("---") else shlex.split(text)
    assert "hunter2" not in str(hidden("FICTL_EXTRA_CFLAGS", words)).lower()


@pytest.mark.parametrize(
    "text",
    [
        "-DNUM_TOKENS=128",
        "-DKEY_SIZE=64",
        "max_tokens=8192",
        "--max-tokens 128",
        "-O3 -DN=1",
        "author=me",
        "https://host:8080/x@2",
        "part of a build's key: yes",
        "-I/opt/keys/include",
        "cases: x=1,y=2",
        "basic block 3",
        "FICTL_CUDA_ARCH_LIST=10.0f",
        "-Xptxas=-v",
    ],
)
def test_what_kernels_are_compiled_with_is_not(text):
    assert hide_secrets(text) == text
    assert " ".join(hidden("FICTL_EXTRA_CUDAFLAGS", text.split())) == text
