"""Running a plan: staging, ninja, what a failure says, publication."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from fictl.errors import SetupError, UsageError
from fictl.jit import BuildFailed, JitSpec, Template, gen_jit_spec
from fictl.jit import compile as compile_module
from fictl.jit.cache.cause import CAUSE
from fictl.jit.store.entry import MANIFEST, MODULE, Manifest
from fictl.jit.store.history import BuildHistory
from fictl.jit.store.stores import writable_store

pytestmark = pytest.mark.needs_nvcc


def _module_dir(spec: JitSpec):
    return writable_store().module_dir(spec.project, spec.name)


def _staged(spec):
    return list((_module_dir(spec) / "staging").iterdir())


class Recorder:
    """An observer that keeps what it is told."""

    verbose = False

    def __init__(self):
        self.told = []

    def started(self, build):
        self.told.append(("started", build.module, build.archs, build.units, build.cached))
        assert build.log.parent.is_dir()

    def advanced(self, done, total, what):
        self.told.append(("advanced", done, total, what))

    def finished(self, module, seconds, why):
        self.told.append(("finished", module, why))
        assert seconds > 0

    def note(self, text):
        self.told.append(("note", text))

    def command(self, line):
        pass


@pytest.fixture
def two(tmp_path, cpp):
    """A module of two units: `one` exports a function, `two` another."""
    folder = tmp_path / "op"
    folder.mkdir()
    (folder / "one.cpp").write_text(cpp("one", 1))
    (folder / "two.cpp").write_text(cpp("two", 2))
    return gen_jit_spec("pair", [folder / "one.cpp", folder / "two.cpp"])


def test_a_published_build_has_what_a_reader_needs_and_nothing_else(answer):
    spec = answer()
    entry = spec.build()
    names = {path.name for path in entry.path.iterdir()}
    assert names == {MODULE, MANIFEST, CAUSE, "build.log", "build.ninja", "src"}
    assert entry.path.name == entry.manifest.build
    assert entry.path.parent.name == entry.manifest.recipe
    assert _staged(spec) == []


def test_the_manifest_says_what_was_built_from_what_with_what(answer, monkeypatch):
    monkeypatch.setenv("FICTL_JIT_LINEINFO", "1")
    entry = answer(extra_cflags=["-DX"]).build()
    manifest = entry.manifest
    assert (manifest.project, manifest.module) == ("local", "answer")
    assert (manifest.variant, manifest.device) == ("lineinfo", "cuda")
    assert list(manifest.inputs) == ["answer.cpp"]
    assert "-DX" in manifest.flags["cxx"]
    assert set(manifest.toolchain) == {"nvcc", "cxx"}
    assert set(manifest.units) == {"answer.o", MODULE}
    assert manifest.files[MODULE].size == entry.module.stat().st_size
    assert manifest.peak_kib > 1000
    assert 0 < manifest.seconds < 60


def test_the_manifest_is_written_last(answer):
    entry = answer().build()
    times = {path.name: path.stat().st_mtime_ns for path in entry.path.iterdir()}
    assert max(times, key=times.__getitem__) == MANIFEST


def test_a_build_that_dies_before_its_manifest_is_not_there(answer, monkeypatch, compiled):
    spec = answer()

    def die(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Manifest, "to_json", die)
        spec.build()
    assert spec.try_load() is None
    assert writable_store().entries("local", "answer") == []
    assert _staged(spec) == []
    spec.build()
    assert compiled() == ["answer.o"]


def test_the_published_ninja_file_builds_the_module_again(two, tmp_path):
    two.build()
    (two.base / "two.cpp").write_text((two.base / "two.cpp").read_text() + "// edited\n")
    entry = two.build()
    (tmp_path / "build.ninja").write_bytes((entry.path / "build.ninja").read_bytes())
    ninja = [compile_module.ninja_binary(), "-C", str(tmp_path)]
    subprocess.run(ninja, check=True, capture_output=True)
    assert (tmp_path / MODULE).is_file()


def test_an_observer_is_told_each_step(two):
    watch = Recorder()
    two.build(observer=watch)
    assert watch.told[0] == ("started", "local/pair", "8.0", 2, 0)
    assert [told[:3] for told in watch.told[1:4]] == [("advanced", n, 3) for n in (1, 2, 3)]
    assert {told[3] for told in watch.told[1:3]} == {"one.cpp", "two.cpp"}
    assert watch.told[3][3] == "link"
    assert watch.told[4] == ("finished", "pair", "first build")


def test_the_library_says_a_line_before_and_one_after(two, caplog):
    two.build()
    first, last = caplog.messages
    assert re.fullmatch(r"building local/pair for 8\.0: 2 units; log .*/latest\.log", first)
    assert re.fullmatch(r"built pair in \d+\.\d s \(first build\)", last)


def test_the_next_build_knows_how_long_the_last_one_took(two, monkeypatch):
    two.build()
    history = BuildHistory.read(_module_dir(two))
    assert set(history.seconds) == {"one.o", "two.o", MODULE}
    assert history.peak_kib > 1000


def test_an_edit_recompiles_only_the_units_that_see_it(two, compiled):
    two.build()
    (two.base / "two.cpp").write_text((two.base / "two.cpp").read_text() + "// edited\n")
    watch = Recorder()
    module = two.build(observer=watch)
    assert compiled()[2:] == ["two.o"]
    assert watch.told[0][3:] == (2, 1)
    assert module.manifest.archs == ("8.0",)


def test_a_header_edit_recompiles_the_units_that_include_it(two, compiled):
    header = two.base / "inc" / "two.h"
    header.parent.mkdir()
    header.write_text("// one\n")
    unit = two.base / "two.cpp"
    unit.write_text('#include "inc/two.h"\n' + unit.read_text())
    two.build()
    header.write_text("// two\n")
    two.build()
    assert compiled()[2:] == ["two.o"]


def test_a_failure_shows_the_first_error_the_hint_the_repeat_and_the_log(answer):
    spec = answer(above="#include <no/such/header.h>\n")
    with pytest.raises(BuildFailed) as caught:
        spec.build()
    assert "answer.cpp:1:10: fatal error: no/such/header.h: No such file" in caught.value.message
    hint, repeat, log = caught.value.hint.split("\n")
    assert "include_dirs" in hint
    argv = shlex.split(repeat.partition("repeat: ")[2])
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{_ninja_folder()}:{os.environ['PATH']}"},
    )
    assert done.returncode != 0
    assert "no/such/header.h: No such file" in done.stdout
    assert "g++" in done.stdout
    with open(log.partition("log: ")[2]) as file:
        assert "no/such/header.h: No such file" in file.read()
    assert _staged(spec) == []
    assert spec.try_load() is None


def _ninja_folder():
    return os.path.dirname(compile_module.ninja_binary())


def test_an_undefined_symbol_fails_at_the_link_by_name(answer):
    spec = answer(value="scale_float(3)", above="int scale_float(int);")
    with pytest.raises(BuildFailed, match=r"undefined reference to .scale_float\(int\)") as caught:
        spec.build()
    assert "compare its parameter types in binding.cpp and launcher.cu" in caught.value.hint


def test_what_compiled_before_a_failure_is_not_compiled_again(two, compiled, cpp, monkeypatch):
    monkeypatch.setenv("FICTL_MAX_JOBS", "1")
    (two.base / "two.cpp").write_text("#error not yet\n")
    with pytest.raises(BuildFailed, match="not yet"):
        two.build()
    (two.base / "two.cpp").write_text(cpp("two", 2))
    two.build()
    assert sorted(compiled()) == ["one.o", "two.o", "two.o"]


def test_two_failures_in_a_row_leave_the_folder_of_the_last(answer):
    for reason in ("first", "second"):
        with pytest.raises(BuildFailed, match=reason) as caught:
            answer(above=f"#error {reason}").build()
    assert "second" in (caught.value.folder / "build.log").read_text()


def test_a_compiler_killed_for_memory_is_run_again_alone(
    tmp_path, cpp, script, monkeypatch, caplog
):
    names = ("a", "b", "c", "d")
    for name in names:
        (tmp_path / f"{name}.cpp").write_text(cpp(name, 1))
    once, running, most = tmp_path / "once", tmp_path / "running", tmp_path / "most"
    launcher = script(
        "oom",
        f'if mkdir "{once}" 2>/dev/null; then echo Killed; exit 137; fi\n'
        f'mkdir "{running}.$$"; sleep 0.1; ls -d "{running}".* | wc -l >> "{most}"\n'
        f'"$@"; code=$?; rmdir "{running}.$$"; exit $code\n',
    )
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", str(launcher))
    monkeypatch.setenv("FICTL_MAX_JOBS", "2")
    gen_jit_spec("many", [tmp_path / f"{name}.cpp" for name in names]).build()
    assert "many: a compiler was killed for memory; again with one job" in caplog.messages
    assert most.read_text().split() == ["1"] * 4


def test_a_compiler_that_is_killed_alone_too_is_an_error_that_says_memory(
    answer, script, monkeypatch
):
    runs = script("oom", "echo Killed; exit 137\n")
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", str(runs))
    with pytest.raises(BuildFailed, match="Killed") as caught:
        answer().build()
    assert "out of memory: FICTL_MAX_JOBS=1" in caught.value.hint


def test_a_killed_build_leaves_nothing_visible_and_is_swept(
    answer, script, monkeypatch, python, tmp_path
):
    spec = answer()
    reached = tmp_path / "compiling"
    launcher = script("slow", f'touch "{reached}"; sleep 60; exec "$@"\n')
    victim = python(
        "from fictl.jit import gen_jit_spec\n"
        f"gen_jit_spec('answer', [{str(spec.sources[0])!r}]).build()\n",
        FICTL_CXX_LAUNCHER=str(launcher),
    )
    deadline = time.monotonic() + 30
    while not reached.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.communicate()
    assert len(_staged(spec)) == 1
    assert spec.try_load() is None
    assert writable_store().entries("local", "answer") == []
    assert spec.build_and_load().answer() == 42
    assert _staged(spec) == []


@pytest.fixture
def templated(tmp_path, cpp):
    folder = tmp_path / "op"
    folder.mkdir()
    (folder / "config.jinja").write_text("#define VALUE {{ value }}\n")
    (folder / "answer.cpp").write_text(cpp(value="VALUE", above='#include "config.inc"'))

    def make(**parameters):
        spec = gen_jit_spec("answer", [folder / "answer.cpp"])
        template = Template(folder / "config.jinja", "config.inc", parameters)
        return replace(spec, template=template)

    return make


def test_a_template_specialises_a_module_and_its_text_is_kept(templated):
    for value in (3, 4):
        spec = templated(value=value)
        assert spec.build_and_load().answer() == value
        assert (spec.build().path / "src" / "config.inc").read_text() == f"#define VALUE {value}\n"


def test_a_template_is_rendered_only_on_a_miss(templated, monkeypatch):
    templated(value=3).build()
    monkeypatch.setattr(compile_module, "render", lambda *_: pytest.fail("rendered"))
    assert templated(value=3).build_and_load().answer() == 3


def test_a_name_that_a_template_does_not_know_fails_before_any_compiler(templated, compiled):
    with pytest.raises(UsageError, match=r"config\.jinja:1: 'value' is undefined"):
        templated(other=3).build()
    assert compiled() == []


def test_ninja_is_found_beside_the_interpreter_or_on_the_path(monkeypatch, tmp_path):
    monkeypatch.setattr(compile_module.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"(?s)neither at .* nor on PATH.*pip install ninja"):
        compile_module.ninja_binary()
    (tmp_path / "ninja").write_text("#!/bin/sh\n")
    (tmp_path / "ninja").chmod(0o755)
    assert compile_module.ninja_binary() == str(tmp_path / "ninja")


def test_verbose_writes_every_command_to_the_log_and_changes_no_byte(answer, monkeypatch):
    quiet = answer().build()
    monkeypatch.setenv("FICTL_JIT_VERBOSE", "1")
    assert answer().build() == quiet
    loud = answer(folder="again", value=43).build()
    assert "-fvisibility=hidden" in (loud.path / "build.log").read_text()


@pytest.mark.parametrize("folder", ["with space", "ünï çødé", "it's", "dollar$HOME"])
def test_sources_and_cache_may_lie_anywhere(answer, monkeypatch, tmp_path, folder):
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / folder / "base"))
    (tmp_path / folder / "inc").mkdir(parents=True)
    (tmp_path / folder / "inc" / "x.h").write_text("#define VALUE 9\n")
    spec = answer(
        "VALUE",
        folder=f"{folder}/op",
        above="#include <x.h>",
        extra_include_paths=[tmp_path / folder / "inc"],
    )
    assert spec.build_and_load().answer() == 9


def test_a_device_unit_may_lie_in_a_folder_with_spaces_and_letters_of_any_kind(tmp_path):
    source = tmp_path / "ünï çødé" / "kernel.cu"
    source.parent.mkdir()
    source.write_text("__global__ void fill(int* out) { *out = 1; }\n")
    entry = gen_jit_spec("kernel", [source]).build()
    assert entry.manifest.archs == ("8.0",)
