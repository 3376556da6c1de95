"""build.ninja from a plan, as ninja itself reads it."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from fictl.errors import SetupError
from fictl.jit import gen_jit_spec
from fictl.jit.build import plan_build
from fictl.jit.compile import ninja_binary
from fictl.jit.ninja_file import ninja_text

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def plan(tmp_path):
    def make(*names, folder="op", **options):
        root = tmp_path / folder
        root.mkdir(exist_ok=True)
        for name in names:
            (root / name).write_text("")
        return plan_build(gen_jit_spec("m", [root / name for name in names], **options))

    return make


def _words(command):
    """What a program is given when a shell runs `command`."""
    script = f"set -- {command}; printf '%s\\n' \"$@\""
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, encoding="utf-8")
    return tuple(done.stdout.splitlines())


def _ninja(tmp_path, text, *arguments):
    (tmp_path / "build.ninja").write_text(text, encoding="utf-8")
    argv = [ninja_binary(), "-C", str(tmp_path), *arguments]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


def test_there_is_an_edge_for_every_unit_and_one_for_the_link(plan, tmp_path):
    text = ninja_text(plan("a.cu", "b.cpp"))
    targets = _ninja(tmp_path, text, "-t", "targets", "all")
    assert set(targets) == {"a.o: nvcc", "b.o: run", "module.so: run"}


def test_a_cached_object_has_no_edge_and_is_linked(plan, tmp_path):
    text = ninja_text(plan("a.cu", "b.cpp"), cached={"a.o"})
    (tmp_path / "a.o").touch()
    assert set(_ninja(tmp_path, text, "-t", "targets", "all")) == {"b.o: run", "module.so: run"}
    assert "a.o b.o" in _ninja(tmp_path, text, "-t", "commands")[-1]


def test_threads_are_given_to_device_units_alone(plan):
    lines = ninja_text(plan("a.cu", "b.cpp"), threads=4).splitlines()
    threaded = [line for line in lines if "--threads=4" in line]
    assert len(threaded) == 1
    assert "a.cu" in threaded[0]
    assert "--threads" not in ninja_text(plan("a.cu", "b.cpp"), threads=1)


@pytest.mark.parametrize(
    "folder",
    [
        "with space",
        "ünï çødé",
        "it's",
        "dollar$HOME",
        "dollar$ x",
        "pi|pe",
        "a | b",
        "co:lon",
        "#x",
        "(p)",
    ],
)
def test_any_path_reaches_the_compiler_unchanged(plan, tmp_path, folder):
    made = plan("a b.cpp", folder=folder)
    commands = _ninja(tmp_path, ninja_text(made), "-t", "commands")
    assert _words(commands[0]) == made.units[0].argv
    assert _words(commands[1]) == made.link
    (made.units[0].source.parent / "a b.cpp").touch()
    assert "2/2" in " ".join(_ninja(tmp_path, ninja_text(made), "-n"))


def test_a_flag_with_quotes_reaches_the_compiler_unchanged(plan, tmp_path):
    made = plan("a.cpp", extra_cflags=["-DTEXT=\"a 'b' $c\""])
    commands = _ninja(tmp_path, ninja_text(made), "-t", "commands")
    assert "-DTEXT=\"a 'b' $c\"" in _words(commands[0])


def test_a_source_s_name_is_shown_as_it_is(plan, tmp_path):
    made = plan("a$b.cpp")
    assert "a$b.cpp" in _ninja(tmp_path, ninja_text(made), "-n")[1]


@pytest.mark.parametrize("sign", "$`\"',")
def test_a_path_that_nvcc_would_garble_is_refused(plan, sign):
    with pytest.raises(SetupError, match=rf"nvcc cannot take the \{sign} in .*x\{sign}y"):
        ninja_text(plan("a.cu", folder=f"x{sign}y"))
    with pytest.raises(SetupError, match=f"nvcc cannot take the \\{sign}"):
        ninja_text(plan("a.cu", extra_include_paths=[f"/x{sign}y"]))
    assert ninja_text(plan("a.cpp", folder=f"x{sign}y"))


def test_the_output_of_a_kernels_compiler_is_kept_and_shown_and_its_exit_code_counts(
    plan, tmp_path, script
):
    nvcc = script("nvcc", 'echo "ptxas info of $1"\nexit 3\n')
    made = plan("a.cu")
    unit = replace(made.units[0], argv=(str(nvcc), "x", "-c", "a.cu"))
    (tmp_path / "build.ninja").write_text(ninja_text(replace(made, units=(unit,))))
    done = subprocess.run([ninja_binary(), "-C", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode != 0
    assert "ptxas info of x" in done.stdout
    assert (tmp_path / "a.o.log").read_text() == "ptxas info of x\n"
