"""An export, loaded and called by the real `kernels` package."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

WORDS = ("--to", "hf-kernel", "--device", "emu")
VARIANT = "tvm-ffi01-cpu-x86_64-linux"
VERIFY = """
import sys
from pathlib import Path
from kernels._rust import Digest, Metadata
root = Path(sys.argv[1])
variant = next((root / "build").iterdir())
metadata = Metadata.read_from_file(variant / "metadata.json")
metadata.digest.validate(Digest.hash_variant(metadata.digest.algorithm, variant))
"""
LOAD = f"""{VERIFY}
import torch
from kernels import get_local_kernel
kernel = get_local_kernel(root)
assert kernel.__name__ == metadata.id
"""


@pytest.fixture
def exported(users_cache: None, fictl, tmp_path: Path) -> Path:
    target = tmp_path / "scale"
    answer = fictl("export-op", "fictl/scale", str(target), *WORDS)
    assert answer.code == 0, answer.err
    return target


def test_a_kernel_is_loaded_and_right_without_fictl(exported: Path, with_kernels) -> None:
    code = """
x = torch.arange(6, dtype=torch.float32)
out = torch.empty_like(x)
kernel.scale(out, x, 2.0)
assert torch.equal(out, 2 * x), out
try:
    kernel.scale(out[:3], x, 2.0)
except ValueError as error:
    print(error)
print(sorted(name for name in sys.modules if name.split(".")[0] == "fictl"))
print(metadata.name, metadata.license, metadata.version, metadata.python_depends)
"""
    done = with_kernels(LOAD + code, exported)
    assert done.returncode == 0, done.stderr
    error, modules, about = done.stdout.splitlines()
    assert error.startswith("scale: argument 'out' has shape (3,)")
    assert modules == "[]"
    assert about == "fictl-scale Apache-2.0 1 ['tvm-ffi']"


def test_a_flipped_byte_is_refused_by_its_digest(exported: Path, with_kernels) -> None:
    """Of any file; and a file that was added or removed."""
    code = """
from kernels._rust import DigestValidationError

def refused(what):
    try:
        metadata.digest.validate(Digest.hash_variant(metadata.digest.algorithm, variant))
    except DigestValidationError as error:
        assert len(error.violations) == 1
        print(what, str(error.violations[0]))

for path in sorted(variant.iterdir()):
    if path.name in ("metadata.json", "__pycache__"):
        continue
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:])
    refused(path.name)
    path.write_bytes(whole)
(variant / "more.py").write_text("")
refused("more.py")
(variant / "more.py").rename(variant / "_ops.py")
refused("_ops.py")
"""
    done = with_kernels(VERIFY + code, exported)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    changed = ["__init__.py", "_ops.py", "libfictl_emu.so", "module.so", "more.py", "_ops.py"]
    assert [line.split()[0] for line in lines] == changed


def test_two_exports_live_in_one_process(exported: Path, fictl, tmp_path, with_kernels) -> None:
    other = tmp_path / "other"
    name = ("--name", "another", "--kernel-version", "3")
    assert fictl("export-op", "fictl/scale", str(other), *WORDS, *name).code == 0
    code = """
other = get_local_kernel(Path(sys.argv[2]))
assert other is not kernel and other.__name__ != kernel.__name__
x = torch.arange(6, dtype=torch.float32)
outs = torch.empty_like(x), torch.empty_like(x)
kernel.scale(outs[0], x, 3.0)
other.scale(outs[1], x, 3.0)
assert torch.equal(*outs)
print(Metadata.read_from_file(Path(sys.argv[2], "build", variant.name, "metadata.json")).version)
"""
    done = with_kernels(LOAD + code, exported, other)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_layers_of_shipped_ops_are_layers_of_the_package(
    users_cache: None, fictl, tmp_path: Path, with_kernels
) -> None:
    """As `kernels` uses them: its forward, in place of that of one's own layer."""
    for op in ("act_and_mul", "rmsnorm"):
        answer = fictl("export-op", f"fictl/{op}", str(tmp_path / op), *WORDS)
        assert answer.code == 0, answer.err
    code = """
from torch.nn.functional import gelu, silu
norm = get_local_kernel(Path(sys.argv[2]))
x = torch.randn(2, 3, 64)
gate, up = x.chunk(2, -1)
expected = {
    "SiluAndMul": silu(gate) * up,
    "GeluAndMul": gelu(gate) * up,
    "GeluTanhAndMul": gelu(gate, approximate="tanh") * up,
}
for name, y in expected.items():
    torch.testing.assert_close(getattr(kernel.layers, name)()(x), y)

class Mine(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.variance_epsilon = torch.nn.Parameter(torch.randn(64)), 1e-5
    def forward(self, hidden_states):
        raise AssertionError("the kernel's forward is used")

mine = Mine()
with torch.no_grad():
    y = norm.layers.RMSNorm.forward(mine, x)
    torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, (64,), mine.weight, 1e-5))
for layer in (*(getattr(kernel.layers, name) for name in expected), norm.layers.RMSNorm):
    print(layer.__name__, layer.__init__ is torch.nn.Module.__init__)
"""
    done = with_kernels(
        LOAD + code.replace("from kernels.layer.layer import _validate_layer\n", ""),
        tmp_path / "act_and_mul",
        tmp_path / "rmsnorm",
    )
    assert done.returncode == 0, done.stderr
    assert {line.split()[1] for line in done.stdout.splitlines()} == {"True"}


def test_what_is_written_says_what_it_is(exported: Path) -> None:
    files = {path.relative_to(exported).as_posix() for path in exported.rglob("*")}
    own = {"__init__.py", "_ops.py", "libfictl_emu.so", "metadata.json", "module.so"}
    assert files == {"README.md", "build", f"build/{VARIANT}"} | {
        f"build/{VARIANT}/{name}" for name in own
    }
    card = (exported / "README.md").read_text()
    assert card.startswith("---\nlicense: apache-2.0\n")
    assert "kernel.scale(out, input, factor)" in card
    assert f"- `{VARIANT}`" in card
    document = json.loads((exported / "build" / VARIANT / "metadata.json").read_text())
    assert document["backend"] == {"type": "cpu"}
    assert document["id"].isidentifier()


def test_an_export_is_made_again_and_gains_variants(exported: Path, fictl) -> None:
    builds = exported / "build"
    shutil.copytree(builds / VARIANT, builds / "tvm-ffi01-cu130-aarch64-linux")
    (builds / VARIANT / "stale.py").write_text("")
    (builds / ".0123456789abcdef").mkdir()  # As a killed export leaves.
    before = (builds / VARIANT / "metadata.json").read_text()
    answer = fictl("export-op", "fictl/scale", str(exported), *WORDS)
    assert answer.code == 0, answer.err
    assert (builds / VARIANT / "metadata.json").read_text() == before
    assert not (builds / VARIANT / "stale.py").exists()
    assert "- `tvm-ffi01-cu130-aarch64-linux`" in (exported / "README.md").read_text()


@pytest.mark.parametrize("strange", ["file", "kernel", "link", "linked build"])
def test_a_folder_of_something_else_is_left_alone(
    tiny: Path, fictl, tmp_path: Path, strange: str
) -> None:
    target, precious = tmp_path / "twice", tmp_path / "precious"
    (precious / VARIANT).mkdir(parents=True)
    if strange == "link":
        target.symlink_to(precious)
    elif strange == "linked build":
        target.mkdir()
        (target / "build").symlink_to(precious)
    elif strange == "file":
        target.mkdir()
        (target / "notes.txt").write_text("")
    else:
        (target / "build" / VARIANT).mkdir(parents=True)
        (target / "build" / VARIANT / "metadata.json").write_text('{"name": "other"}')
    answer = fictl("export-op", "twice", str(target), *WORDS, "--license", "MIT")
    assert answer.code == 2
    assert "name a" in answer.err
    assert [*(precious / VARIANT).iterdir()] == []


def test_to_look_builds_nothing(tiny: Path, fictl, tmp_path: Path) -> None:
    words = ("export-op", "twice", str(tmp_path / "t"), *WORDS, "--license", "MIT", "--dry-run")
    answer = fictl(*words, "--json")
    assert answer.code == 0, answer.err
    data = answer.document["data"]
    assert data["written"] is False
    assert data["functions"] == ["twice(*arguments: object) -> object"]
    assert data["files"] == ["__init__.py", "_ops.py", "metadata.json", "module.so"]
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "says its license"),
        (("--license", "MIT", "--name", "Twice"), "'Twice' is not a name of a kernel"),
        (("--license", "MIT", "--diff"), "--diff shows texts"),
        (("--to", "wheel"), "'wheel': one of project, hf-kernel"),
        (("--to", "project"), "--device is for --to hf-kernel"),
    ],
)
def test_a_wrong_request_is_refused(
    tiny: Path, fictl, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    answer = fictl("export-op", "twice", str(tmp_path / "t"), *WORDS, *words)
    assert answer.code == 2
    assert message in answer.err
    assert not (tmp_path / "t").exists()


def test_a_build_of_this_machine_alone_is_refused(
    tiny: Path, fictl, tmp_path: Path, users_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    answer = fictl("export-op", "twice", str(tmp_path / "t"), *WORDS, "--license", "MIT")
    assert answer.code == 2
    assert "cannot be exported: it is a check build" in answer.err
    assert not (tmp_path / "t").exists()
