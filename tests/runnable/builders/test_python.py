"""Solutions in Python: built of their text, refused with the line that is wrong."""

from __future__ import annotations

import sys

import pytest
import torch

from fictl.runnable import BuildError
from fictl.runnable.builders import PythonBuilder

X = torch.arange(4.0)


@pytest.fixture
def build(definition, kept):
    made = []

    def build(solution):
        made.append(PythonBuilder().build(definition, solution))
        return made[-1]

    yield build
    for runnable in made:
        runnable.cleanup()


def test_it_runs(build, solution, kept):
    runnable = build(solution({"main.py": "from helper import f as run", "helper.py": SCALE}))
    assert torch.equal(runnable(X, 2.0), X * 2)
    package = runnable.metadata.misc["module_name"].partition(".")[0]
    assert package.startswith("fictl_python_answer_")
    assert {path.name for path in (kept / "python" / package).iterdir()} == {"main.py", "helper.py"}
    assert runnable.metadata.misc["entry_symbol"] == "run"


SCALE = "def f(x, s):\n    return x * s\n"


def test_fib_cache_path_is_honoured(definition, solution, tmp_path, monkeypatch):
    monkeypatch.setenv("FIB_CACHE_PATH", str(tmp_path / "theirs"))
    PythonBuilder().build(definition, solution(SCALE, entry="main.py::f")).cleanup()
    assert [*(tmp_path / "theirs" / "python").glob("fictl_python_*/main.py")]


def test_what_was_changed_on_disk_is_not_run(build, solution, kept):
    wanted = solution(SCALE, entry="main.py::f")
    build(wanted).cleanup()
    (path,) = kept.rglob("main.py")
    path.write_text("raise SystemExit")
    assert torch.equal(build(wanted)(X, 2.0), X * 2)
    assert path.read_text() == SCALE


def test_nothing_of_it_is_left_after_cleanup(build, solution):
    before = ([*sys.path], {*sys.modules}, [*sys.meta_path])
    build(solution({"main.py": "import helper\nfrom helper import f as run", "helper.py": SCALE}))
    runnable = build(solution(SCALE, entry="main.py::f"))
    assert {*sys.modules} != before[1]
    runnable.cleanup()
    assert any(name.startswith("fictl_python_") for name in sys.modules)


@pytest.mark.parametrize(
    ("text", "entry", "said"),
    [
        ("x = 1\ny = (\n", "main.py::run", r"main.py:2: SyntaxError: '\(' was never closed"),
        ("x = 1\nraise ValueError('no')", "main.py::run", "main.py:2: ValueError: no"),
        ("import no_such_module", "main.py::run", "main.py:1: ModuleNotFoundError"),
        ("raise SystemExit(3)", "main.py::run", "main.py:1: SystemExit: 3"),
        (SCALE, "main.py::run", "main.py defines no run"),
        ("run = 5", "main.py::run", "run is a int, which cannot be called"),
        ("def run(x):\n    pass", "main.py::run", r"run\(x\) is called with x, s: too many"),
        ("def run(x, s, z):\n    pass", "main.py::run", "missing a required argument: 'z'"),
        ("def run(x, *, s):\n    pass", "main.py::run", r"run\(x, s\) is called with x, s"),
        (
            "def run(x, s) -> tuple[int, int]:\n    pass",
            "main.py::run",
            "run returns 2 values, the outputs are y",
        ),
    ],
)
def test_what_is_wrong_is_said(build, solution, text, entry, said):
    modules = {*sys.modules}
    with pytest.raises(BuildError, match=said) as raised:
        build(solution(text, entry=entry))
    assert raised.value.exit_code == 1
    assert not {name for name in {*sys.modules} - modules if name.startswith("fictl_python_")}


def test_the_other_style_is_suggested(build, solution):
    with pytest.raises(BuildError, match="x, s, y") as raised:
        build(solution("def run(x, s):\n    pass", dps=True))
    assert "destination_passing_style false" in raised.value.hint


def test_what_takes_any_arguments_fits(build, solution):
    build(solution("def run(*args):\n    return args[0]"))


def test_a_missing_module_names_what_is_declared(build, solution):
    with pytest.raises(BuildError, match="no_such") as raised:
        build(solution("import no_such", dependencies=["no-such >= 2"]))
    assert raised.value.hint == "install what has no_such; it declares that it needs no-such >= 2"


def test_the_log_is_the_traceback(build, solution):
    files = {"main.py": "import helper", "helper.py": "def f():\n    boom\nf()\n"}
    with pytest.raises(BuildError, match=r"helper.py:2: NameError") as raised:
        build(solution(files))
    assert "    boom" in raised.value.log
    assert raised.value.first_error.startswith("helper.py:2: NameError")


def test_an_entry_in_another_language_is_refused(build, solution):
    with pytest.raises(BuildError, match=r"main.cu is not a Python file"):
        build(solution({"main.cu": "x"}, entry="main.cu::run"))


def test_a_model_that_was_not_checked_does_not_write_outside(build, solution, tmp_path):
    good = solution(SCALE, entry="main.py::f")
    source = good.sources[0].model_copy(update={"path": "../../out.py"})
    with pytest.raises(BuildError, match="cannot be the path"):
        build(good.model_copy(update={"sources": (*good.sources, source)}))
    assert not [*tmp_path.rglob("out.py")]


def test_torch_compile_takes_it(build, solution):
    files = {
        "main.py": "import torch\nfrom helper import f\n"
        "@torch.compile(backend='eager')\ndef run(x, s):\n    import helper\n    return f(x, s)",
        "helper.py": SCALE,
    }
    assert torch.equal(build(solution(files))(X, 2.0), X * 2)
