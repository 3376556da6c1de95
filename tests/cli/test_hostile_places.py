"""Places that say what a terminal would obey, too much, or what is not of its type: shown harmless."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from fictl.farm.facts import kernels_digest
from fictl.farm.line import PROTOCOL, Ready, ready_in
from fictl.version import VERSION

# Clears the screen, sets a title, asks for an answer, goes up a line, hides what follows.
EVIL = "\x1b[2J\x1b]0;owned\x07\x1b[6n\x1b[1A\r\x9b31m\u202eevil\x00\b✓ fine\n✓ another place"

_WORKER = """#!{python}
import json, os, sys
evil = {evil!r}
sys.stderr.write(evil + "\\n"); sys.stderr.flush()
sys.stdin.readline()
def send(**message): os.write(1, json.dumps(message).encode() + b"\\n")
ready = dict(kind="Ready", protocol={protocol}, fictl={version!r}, python="3", hardware="x",
             kernels={kernels!r}, toolchain={{"platform": evil}})
{code}
"""


@pytest.fixture
def on(tmp_path: Path) -> object:
    def write(code: str) -> str:
        text = _WORKER.format(
            python=sys.executable,
            evil=EVIL,
            protocol=PROTOCOL,
            version=VERSION,
            kernels=kernels_digest(),
            code=code,
        )
        script = tmp_path / "worker"
        script.write_text(text)
        script.chmod(0o755)
        path = tmp_path / "places.toml"
        path.write_text(f'[[place]]\nname = "bad"\nlaunch = ["env"]\npython = "{script}"\n')
        return str(path)

    return write


TEXTS = [
    *("fictl", "python", "hardware", "commit", "torch", "driver", "gpu", "uuid", "clocks"),
    *("platform", "host", "sandbox", "nvcc", "holder", "unlocked", "exposed", "remote", "kernels"),
]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("as_json", [False, True])
def test_every_text_of_a_hello_is_shown_harmless(fictl, on, name: str, as_json: bool) -> None:
    path = on(f"ready[{name!r}] = evil\nsend(**ready)\nsys.stdin.readline()")
    answer = fictl("farm", "check", path, "--device", "emu", *(["--json"] if as_json else []))
    _require_harmless(answer.out + answer.err)
    lines = [line for line in answer.out.splitlines() if line.startswith("✓ another")]
    assert lines == []


@pytest.mark.parametrize(
    "code",
    [
        "send(**{**ready, 'cores': 'x' + evil})",
        "send(**{**ready, 'cores': -1})",
        "send(**{**ready, 'free_bytes': 10 ** 300})",
        "send(**{**ready, 'toolchain': [evil]})",
        "send(**{**ready, evil: 1})",
        "send(**{**ready, 'protocol': evil})",
        "send(**{**ready, 'protocol': 99, 'fictl': evil})",
        "send(**{**ready, 'host': 'x' * 5_000_000})",
        "send(**{**ready, 'host': {}})",
        "os.write(1, b'[' * 100_000 + b'\\n')",
        "os.write(1, b'9' * 100_000 + b'\\n')",
        "os.write(1, b'\\xff\\xfe\\x1b[2J\\n')",
        "os.write(1, (evil * 100 + '\\n').encode())",
        "sys.exit(9)",
    ],
)
def test_a_hello_that_is_none_is_a_place_that_cannot_work(fictl, on, code: str) -> None:
    answer = fictl("farm", "check", on(code + "\nos.close(1)"), "--device", "emu", "--json")
    assert answer.code == 3
    assert "1 of 1 place cannot work: bad" in answer.document["error"]["message"]
    (one,) = answer.document["data"]
    assert len(one["problems"][0]) < 1000
    _require_harmless(answer.out + answer.err)


@pytest.mark.parametrize(
    "reply",
    [
        "dict(kind='NotDone', message=evil, hint=evil, code=3)",
        "dict(kind='Note', text=evil)",
        "dict(kind=evil)",
        "dict(kind='CommandDone', code=1, document='', words=evil)",
        "dict(kind='CommandDone', code=1, document=json.dumps({'schema': 'fictl.build/1',"
        " 'data': None, 'error': {'message': evil, 'hint': evil}}), words=evil)",
        "dict(kind='CommandDone', code=0, document=json.dumps({'schema': 'fictl.build/1',"
        " 'data': [{'project': evil, 'module': evil, 'title': evil, 'why': evil, 'path': evil,"
        " 'error': {'message': evil, 'hint': None}}]}), words='')",
        "dict(kind='CommandDone', code=0, document=json.dumps({'schema': 'fictl.build/1',"
        " 'data': [{'project': 1, 'module': evil, evil: 2}]}), words='')",
        "dict(kind='CommandDone', code=0, document=json.dumps({'schema': 'fictl.build/1',"
        " 'data': [evil, [], None]}), words='')",
        "dict(kind='CommandDone', code=0, document='[' * 100_000, words='')",
    ],
)
def test_every_answer_is_shown_harmless(fictl, tiny: Path, on, reply: str) -> None:
    code = f"""
from fictl.farm.compilers import compilers_here
ready["toolchain"] = compilers_here("emu")
send(**ready)
for line in sys.stdin:
    number = json.loads(line)["number"]
    reply = {reply}
    send(**({{"number": number, **reply}} if reply["kind"] in ("NotDone", "CommandDone") else reply))
    if reply["kind"] == "Note":
        sys.exit(1)
"""
    answer = fictl("build", "twice", "--device", "emu", "--on", on(code))
    assert answer.code in (1, 3)
    assert "Traceback" not in answer.err
    _require_harmless(answer.out + answer.err)


def test_a_hello_keeps_what_is_plain() -> None:
    ready = Ready(PROTOCOL, "1", "3", "x", host="höst", toolchain={"cxx": "g++ 12"})
    document = {"kind": "Ready", **ready.__dict__}
    assert ready_in(json.dumps(document)) == ready


def _require_harmless(text: str) -> None:
    # What rich writes to draw is on terminals alone, and this is a pipe.
    assert [one for one in text if not (one.isprintable() or one in "\n\t")] == []
