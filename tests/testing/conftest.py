"""pytest run as users run it: in a process and a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import fictl

_PATH = os.pathsep.join([str(Path(fictl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def _forked_pytest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run pytest in a fork of a process that has imported torch, which takes longer than the tests."""
    folder = tmp_path_factory.mktemp("forks")
    out, err = folder / "out", folder / "err"
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("forks.py")],
        env={**os.environ, "PYTHONPATH": _PATH},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def run(words: list[str], **place: object) -> subprocess.CompletedProcess[str]:
            request = {"words": words, "out": str(out), "err": str(err), **place}
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
            return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())

        yield run
        server.stdin.close()


@pytest.fixture
def run_pytest(tmp_path: Path, _forked_pytest: Run) -> Run:
    """Run `text` as a test file of a project, with the plugin; `fresh`: before torch is imported."""

    def run(
        text: str, *words: str, cwd: Path | None = None, fresh: bool = False, **changes: str
    ) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "suite" / "test_it.py"
        file.parent.mkdir(exist_ok=True)
        (file.parent / "fictl.toml").write_text('name = "suite_of_tests"\n', encoding="utf-8")
        file.write_text(text, encoding="utf-8")
        # Without a device that is asked for, it would be the emulated one.
        env = {**os.environ, "PYTHONPATH": _PATH, "FICTL_DEVICE": "cuda", **changes}
        env.pop("PYTEST_PLUGINS", None)
        plugins = ["-p", "fictl.testing.plugin", "-p", "no:cacheprovider"]
        argv = [*plugins, "-rs", "-v", "--strict-markers", str(file), *words]
        folder = str(cwd or file.parent)
        if not fresh:
            return _forked_pytest(argv, cwd=folder, env=env)
        python = [sys.executable, "-m", "pytest", *argv]
        return subprocess.run(python, cwd=folder, env=env, capture_output=True, text=True)

    return run
