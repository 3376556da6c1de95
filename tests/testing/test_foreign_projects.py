"""Projects that are not fictl's: the plugin is loaded there too, and must change nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fictl

Run = Callable[..., subprocess.CompletedProcess[str]]
NAMES = ("arch", "gpus", "needs_gpu", "needs_nvcc")
REGISTERED = "[pytest]\nmarkers =\n" + "".join(f"    {name}: ours\n" for name in NAMES)
# No GPU and no nvcc is found, whatever the machine has: what a gate would skip, it would skip.
BARE = {"CUDA_VISIBLE_DEVICES": "", "FICTL_NVCC": "/nowhere/nvcc", "FICTL_DEVICE": "cuda"}


@pytest.fixture
def project(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Write files below a folder that no fictl project surrounds."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "work" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / "work"

    return write


@pytest.fixture
def run() -> Run:
    """pytest as in a project where somebody has installed fictl."""

    def run(folder: Path, *words: str, loaded: bool = True, **variables: str):
        path = os.pathsep.join([str(Path(fictl.__file__).parents[1]), str(folder)])
        env = {**os.environ, **BARE, "PYTHONPATH": path, "PYTEST_PLUGINS": "", **variables}
        plugin = ("-p", "fictl.testing.plugin") if loaded else ("-p", "no:fictl.testing.plugin")
        argv = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "-rA", *words]
        return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True)

    return run


MARKS = [
    "arch",
    "arch()",
    "arch('x86_64')",
    "arch('9.0a')",
    "arch(64)",
    "arch('x86_64', os='linux')",
    "gpus",
    "gpus(-1)",
    "gpus('two')",
    "gpus(2)",
    "gpus(count=2)",
    "gpus(1, 2)",
    "needs_gpu",
    "needs_gpu('a100')",
    "needs_nvcc",
    "needs_nvcc('12')",
]


@pytest.mark.parametrize("place", ["function", "class", "module"])
def test_their_markers_are_theirs(project, run: Run, place: str) -> None:
    tests = []
    for number, mark in enumerate(MARKS):
        text = {
            "function": f"import pytest\n@pytest.mark.{mark}\ndef test_it(): pass\n",
            "class": f"import pytest\n@pytest.mark.{mark}\n"
            "class TestIt:\n    def test_it(self): pass\n",
            "module": f"import pytest\npytestmark = pytest.mark.{mark}\ndef test_it(): pass\n",
        }[place]
        tests.append((f"test_{number}.py", text))
    folder = project({"pytest.ini": REGISTERED, **dict(tests)})
    done = run(folder, "--strict-markers", "-W", "error")
    assert f"{len(MARKS)} passed" in done.stdout, done.stdout + done.stderr


def test_a_marker_that_they_have_not_registered_stays_unknown(project, run: Run) -> None:
    folder = project({"test_it.py": "import pytest\n@pytest.mark.arch\ndef test_it(): pass\n"})
    done = run(folder, "--strict-markers")
    assert "'arch' not found in `markers`" in done.stdout
    assert "needs_gpu" not in run(folder, "--markers").stdout


def test_their_options_and_fixtures_are_theirs(project, run: Run) -> None:
    conftest = (
        "import pytest\n"
        "def pytest_addoption(parser):\n"
        "    for name in ('gpus', 'device', 'arch', 'require-arch', 'seed', 'case', 'op'):\n"
        "        parser.addoption(f'--{name}', default='theirs')\n"
        "    parser.addini('arch', 'theirs')\n"
        "@pytest.fixture(params=['a', 'b'])\n"
        "def device(request): return request.param\n"
        "@pytest.fixture\n"
        "def ranks(pytestconfig): return pytestconfig.getoption('--gpus')\n"
        "@pytest.fixture(scope='session')\n"
        "def process_group(): return 'theirs'\n"
    )
    text = (
        "def test_it(device, ranks, process_group):\n"
        "    assert device in 'ab' and ranks == '4' and process_group == 'theirs'\n"
    )
    done = run(project({"conftest.py": conftest, "test_it.py": text}), "--gpus", "4")
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_fixture_of_another_plugin_is_that_plugin_s(project, run: Run) -> None:
    plugin = (
        "import pytest\n@pytest.fixture\ndef device(): return 'theirs'\n"
        "@pytest.fixture\ndef fictl_case(): return 'theirs'\n"
    )
    text = "def test_it(device, fictl_case): assert device == fictl_case == 'theirs'\n"
    folder = project({"their_plugin.py": plugin, "test_it.py": text})
    for order in (("-p", "their_plugin"), ()):
        done = run(folder, *order, PYTEST_PLUGINS="their_plugin")
        assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("name", ["device", "ranks", "process_group"])
def test_a_fixture_that_nobody_has_is_not_found(project, run: Run, name: str) -> None:
    folder = project({"test_it.py": f"def test_it({name}): pass\n"})
    done = run(folder)
    assert f"fixture '{name}' not found" in done.stdout
    assert "fictl" not in run(folder, "--fixtures", "-q").stdout


def test_what_their_tests_raise_is_a_failure(project, run: Run) -> None:
    text = (
        "from fictl.errors import NotInstalled, NotOnDevice\n"
        "def test_one(): raise NotInstalled('no triton')\n"
        "def test_two(): raise NotOnDevice('no device')\n"
    )
    assert "2 failed" in run(project({"test_it.py": text})).stdout


def test_the_environment_and_what_is_printed_are_the_same(project, run: Run) -> None:
    text = (
        "import os, sys, warnings\n"
        "def test_it():\n"
        "    print(sorted(os.environ), warnings.filters)\n"
        "    print([name for name in sys.modules if name.startswith('torch')])\n"
    )
    folder = project({"test_it.py": text})
    # Which plugins there are is pytest's to say, and how long it took is no difference.
    words = ("-p", "no:xdist", "-p", "no:timeout", "-v")
    outputs = [run(folder, *words, loaded=loaded).stdout for loaded in (True, False)]
    with_it, without = (
        [line for line in text.splitlines() if not line.startswith(("plugins:", "====="))]
        for text in outputs
    )
    assert with_it == without


def test_it_loads_next_to_nothing(project, run: Run) -> None:
    text = (
        "import sys\n"
        "def test_it():\n"
        "    assert 'torch' not in sys.modules\n"
        "    ours = {name for name in sys.modules if name.split('.')[0] == 'fictl'}\n"
        "    assert ours <= {'fictl', 'fictl.lazy', 'fictl.project_file', 'fictl.testing',\n"
        "        'fictl.testing.hooks', 'fictl.testing.hooks.options', 'fictl.testing.hooks.scope',\n"
        "        'fictl.testing.plugin'}\n"
    )
    done = run(project({"test_it.py": text}))
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.other]\n# [tool.fictl] is what they have next door\n"),
        ("pyproject.toml", '[project]\nname = "x"\ndescription = "like [tool.fictl]"\n'),
        ("pyproject.toml", "[tool.fictl-extras]\nname = 'x'\n"),
        ("fictl.toml.md", "name = 'x'\n"),
        ("sub/fictl.toml", "name = 'x'\n"),
    ],
)
def test_what_only_looks_like_a_project_of_ours(project, run: Run, name: str, text: str) -> None:
    test = "import pytest\n@pytest.mark.arch('x86_64')\ndef test_it(): pass\n"
    folder = project({"pytest.ini": REGISTERED, name: text, "test_it.py": test})
    assert "1 passed" in run(folder).stdout


def test_with_xdist_too(project, run: Run) -> None:
    text = "import pytest\n@pytest.mark.gpus('two')\ndef test_it(): pass\n"
    folder = project({"pytest.ini": REGISTERED, "test_a.py": text, "test_b.py": text})
    assert "2 passed" in run(folder, "-n", "2").stdout


# One repository: `ours` is a fictl project, `theirs` and what lies at the top are not.
TOP = {
    "pytest.ini": REGISTERED,
    "ours/fictl.toml": 'name = "our_kernels"\n',
    "ours/tests/test_a.py": (
        "import pytest\n"
        "@pytest.mark.arch('9.0a')\ndef test_gated(): raise AssertionError\n"
        "@pytest.mark.arch\ndef test_malformed(): pass\n"
        "def test_fixture(ranks, device): assert ranks.size == 1\n"
        "def test_import(): import our_kernels\n"
    ),
    "theirs/test_b.py": (
        "import pytest\n"
        "@pytest.mark.arch('x86_64')\ndef test_theirs(): pass\n"
        "def test_no_fixture(ranks): pass\n"
    ),
    "test_c.py": "import pytest\n@pytest.mark.gpus('two')\ndef test_top(): pass\n",
}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("theirs", "ours", "test_c.py"),
        ("ours/tests/test_a.py", "theirs", "test_c.py"),
        ("-n", "2"),
    ],
    ids=" ".join,
)
def test_a_repository_with_one_project_of_ours_and_others(project, run: Run, words) -> None:
    done = run(project(TOP), *words)
    lines = done.stdout.splitlines()
    outcome = {
        line.split("::")[-1].split(" ")[0]: line.split(" ")[0] for line in lines if "::" in line
    }
    assert outcome["test_theirs"] == outcome["test_top"] == "PASSED", done.stdout
    assert outcome["test_import"] == "PASSED", done.stdout
    assert outcome["test_malformed"] == outcome["test_no_fixture"] == "ERROR", done.stdout
    assert "fixture 'ranks' not found" in done.stdout
    assert "ours/tests/test_a.py:4: @pytest.mark.arch" in done.stdout
    assert "needs a GPU" in done.stdout
    assert "fixture 'device' not found" not in done.stdout


def test_there_the_nearer_fixture_wins(project, run: Run) -> None:
    at_top = "import pytest\n@pytest.fixture\ndef ranks(): return 'of the top'\n"
    nested = "import pytest\n@pytest.fixture\ndef ranks(ranks): return ('more', ranks.size)\n"
    folder = project(
        {
            "pytest.ini": "[pytest]\n",
            "conftest.py": at_top,
            "test_top.py": "def test_top(ranks): assert ranks == 'of the top'\n",
            "plain/fictl.toml": 'name = "plain_kernels"\n',
            "plain/test_plain.py": "def test_plain(ranks): assert ranks.size == 1\n",
            "own/fictl.toml": 'name = "own_kernels"\n',
            "own/conftest.py": nested,
            "own/test_own.py": "def test_own(ranks): assert ranks == ('more', 1)\n",
        }
    )
    for words in ((), ("own", "plain", "test_top.py"), ("own/test_own.py", "plain", "test_top.py")):
        done = run(folder, *words)
        assert "3 passed" in done.stdout, done.stdout


def test_in_a_project_a_conftest_extends_the_fixtures(project, run: Run) -> None:
    conftest = "import pytest\n@pytest.fixture\ndef ranks(ranks): return ('more', ranks.size)\n"
    folder = project(
        {
            "pyproject.toml": '[tool.fictl]\nname = "kernels_here"\n[tool.pytest.ini_options]\n',
            "conftest.py": conftest,
            "tests/test_it.py": "def test_it(ranks): assert ranks == ('more', 1)\n",
        }
    )
    assert "1 passed" in run(folder).stdout
    assert "1 passed" in run(folder, "tests/test_it.py").stdout


def test_a_project_that_cannot_be_read_fails_its_own_tests_alone(project, run: Run) -> None:
    folder = project({**TOP, "ours/fictl.toml": "name = 3\n"})
    done = run(folder, "-k", "gated or theirs")
    assert "1 passed" in done.stdout
    assert "ours/fictl.toml:1: name = 3" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_project_that_cannot_be_read_is_a_sentence(project, run: Run) -> None:
    done = run(project({"fictl.toml": "name = 3\n", "test_it.py": "def test_it(): pass\n"}))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "fictl.toml:1: name = 3" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_can_be_left_out(project, run: Run) -> None:
    text = "import pytest\n@pytest.mark.arch('9.0a')\ndef test_it(): pass\n"
    files = {"pytest.ini": REGISTERED, "fictl.toml": 'name = "x"\n', "test_it.py": text}
    assert "1 passed" in run(project(files), loaded=False).stdout
