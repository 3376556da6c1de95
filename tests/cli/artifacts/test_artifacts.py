"""fictl artifacts, from a project to a machine that cannot compile, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.jit.lock_file import FILE
from fictl.trust import keys_file
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture(autouse=True)
def _one_architecture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0")
    monkeypatch.setenv("FICTL_TRUST", str(tmp_path / "trust.toml"))


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SecretKey:
    secret = SecretKey.generate()
    path = tmp_path / "secret.key"
    path.write_text(secret.text(), encoding="utf-8")
    path.chmod(0o600)
    monkeypatch.setenv("FICTL_SIGNING_KEY", str(path))
    keys_file.add(TrustedKey("ci", secret.public))
    return secret


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return tmp_path / "repository"


@pytest.fixture
def sent(fictl, twice_build: Path, key: SecretKey, repository: Path) -> str:
    """A snapshot that was built and pushed; its hash."""
    built = fictl("artifacts", "build", "2026.11", "--json")
    assert built.code == 0, built.err
    assert fictl("artifacts", "push", "2026.11", "--to", str(repository)).code == 0
    return built.document["data"]["sha256"]


def test_from_one_machine_to_one_that_cannot_compile(
    fictl, sent: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fictl("artifacts", "lock").code == 0
    assert f'sha256 = "{sent}"' in Path(FILE).read_text(encoding="utf-8")
    assert fictl("artifacts", "lock", "--check").code == 0
    disk = tmp_path / "disk"
    assert "1 snapshot copied" in fictl("artifacts", "mirror", str(repository), str(disk)).out
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("FICTL_NO_DOWNLOAD", "1")
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    missing = fictl("build", "--json")
    assert missing.code == 3
    assert missing.document["error"]["hint"] == "fictl artifacts pull brings them"
    pulled = fictl("artifacts", "pull", "--from", str(disk))
    assert pulled.code == 0
    assert "signed by ci" in pulled.out
    assert "1 build brought" in pulled.out
    assert "loads here" in fictl("artifacts", "verify").out
    (module,) = fictl("build", "--json").document["data"]
    assert module["compiled"] is False
    assert "/artifacts/v1/" in module["path"]
    assert "signed by ci" in fictl("artifacts", "list").out


def test_locked_refuses_what_the_lock_does_not_name(fictl, sent: str, tiny: Path) -> None:
    fictl("artifacts", "lock")
    assert fictl("build", "--locked", "--json").document["data"][0]["compiled"] is False
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text(launcher.read_text() + "// edited\n", encoding="utf-8")
    answer = fictl("build", "--locked", "--json")
    assert answer.code == 3
    assert "tiny/elementwise.twice is locked by" in answer.document["error"]["message"]
    checked = fictl("artifacts", "lock", "--check", "--json")
    assert checked.code == 1
    (drift,) = checked.document["data"]["drifts"]
    assert drift["name"] == "tiny/elementwise.twice"


def test_locked_without_a_lock_is_a_usage_error(fictl, twice_build: Path) -> None:
    answer = fictl("build", "--locked", "--json")
    assert answer.code == 2
    assert "--locked asks for a fictl.lock" in answer.document["error"]["message"]


def test_a_build_again_is_the_same_snapshot(fictl, sent: str) -> None:
    answer = fictl("artifacts", "build", "2026.11", "--json")
    assert answer.document["data"]["sha256"] == sent
    assert answer.document["data"]["again"] is True


def test_a_module_that_fails_leaves_no_snapshot(fictl, tiny: Path) -> None:
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text("#error half done\n", encoding="utf-8")
    answer = fictl("artifacts", "build", "2026.11", "--json")
    assert answer.code == 1
    assert answer.document["data"]["snapshot"] is None
    assert fictl("artifacts", "list", "--json").document["data"] == []


def test_a_dry_run_builds_nothing(fictl, tiny: Path) -> None:
    answer = fictl("artifacts", "build", "2026.11", "--dry-run", "--json")
    assert (answer.code, answer.document["schema"]) == (0, "fictl.artifacts.build/1")
    assert fictl("artifacts", "list", "--json").document["data"] == []


def test_a_snapshot_has_a_bill_of_materials(fictl, sent: str, tmp_path: Path) -> None:
    answer = fictl("artifacts", "sbom", "2026.11", "--json")
    bill = answer.document["data"]["sbom"]
    subject = bill["metadata"]["component"]
    assert (subject["name"], subject["version"]) == ("2026.11", sent)
    assert "elementwise.twice" in {component["name"] for component in bill["components"]}
    out = tmp_path / "bill.json"
    assert fictl("artifacts", "sbom", f"2026.11@{sent}", "--out", str(out)).code == 0
    assert json.loads(out.read_text(encoding="utf-8")) == bill


def test_a_snapshot_that_is_not_here_has_no_bill(fictl, sent: str) -> None:
    answer = fictl("artifacts", "sbom", "2026.12", "--json")
    assert answer.code == 2
    assert "has no snapshot 2026.12" in answer.document["error"]["message"]


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): path.read_bytes() for path in files}


def test_dry_runs_say_what_they_would_move_and_move_nothing(
    fictl, twice_build: Path, key: SecretKey, repository: Path, tmp_path: Path
) -> None:
    assert fictl("artifacts", "build", "2026.11").code == 0
    assert "would pin 2026.11" in fictl("artifacts", "lock", "--dry-run").out
    assert not Path(FILE).exists()
    push = ("artifacts", "push", "2026.11", "--to", str(repository))
    before = _contents(tmp_path)
    assert "1 file would be sent" in fictl(*push, "--dry-run").out
    assert _contents(tmp_path) == before
    assert fictl(*push).code == 0
    before = _contents(tmp_path)
    pull = ("artifacts", "pull", "2026.11", "--from", str(repository), "--dir", str(tmp_path / "x"))
    assert "1 build would be brought" in fictl(*pull, "--dry-run").out
    mirror = ("artifacts", "mirror", str(repository), str(tmp_path / "y"), "--dry-run")
    assert "1 snapshot would be copied: 1 file" in fictl(*mirror).out
    assert _contents(tmp_path) == before


def test_variants_with_paths_are_refused_before_they_are_built(
    fictl, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_JIT_LINEINFO", "1")
    answer = fictl("artifacts", "build", "2026.11", "--json")
    assert answer.code == 2
    assert "lineinfo" in answer.document["error"]["message"]


def test_what_is_missing_is_exit_1_with_its_name(fictl, sent: str, repository: Path) -> None:
    (blob,) = (repository / "blobs").rglob("?" * 64)
    blob.unlink()
    answer = fictl(
        "artifacts", "pull", "2026.11", "--from", str(repository), "--dir", "there", "--json"
    )
    assert answer.code == 1
    assert answer.err == ""
    assert answer.document["data"]["missing"][0]["module"] == "tiny/elementwise.twice"
    assert blob.name in answer.document["error"]["message"]
    assert fictl("artifacts", "verify", str(repository)).code == 1
    assert fictl("artifacts", "mirror", str(repository), "disk", "--json").code == 1


def test_without_a_repository_or_a_name_it_says_what_to_set(fictl, tiny: Path) -> None:
    answer = fictl("artifacts", "pull", "2026.11", "--json")
    assert answer.code == 2
    assert "FICTL_ARTIFACTS_REPOSITORY" in answer.document["error"]["hint"]
    answer = fictl("artifacts", "pull", "--json")
    assert answer.code == 2
    assert "there is no fictl.lock that names one" in answer.document["error"]["message"]


def test_a_bad_name_is_a_usage_error(fictl, tiny: Path) -> None:
    for words in (
        ("build", "../x"),
        ("pull", "x@abc", "--from", "."),
        ("push", "a b", "--to", "."),
    ):
        assert fictl("artifacts", *words, "--json").code == 2


@pytest.mark.parametrize("forbidden", ["", "1"])
def test_credentials_in_a_url_are_in_no_message(
    fictl, sent: str, forbidden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_NO_DOWNLOAD", forbidden)
    url = "http://user:hunter2@127.0.0.1:9/x"
    for words in (
        ("pull", "2026.11", "--from", url, "--dir", "there"),
        ("push", "2026.11", "--to", url),
        ("list", url),
        ("mirror", url, "there"),
        ("verify", url),
    ):
        for answer in (fictl("artifacts", *words), fictl("artifacts", *words, "--json")):
            assert answer.code != 0
            assert "hunter2" not in answer.out + answer.err
