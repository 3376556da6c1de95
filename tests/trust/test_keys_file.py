"""The list of trusted keys on disk."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from fictl import settings
from fictl.errors import SetupError, UsageError
from fictl.trust import keys_file
from fictl.trust.keys_file import TrustedKey, trusted_keys
from fictl.trust.secret_key import SecretKey

CI = TrustedKey("ci", SecretKey.generate().public, ("fictl", "my_*"), date(2027, 5, 1))
ME = TrustedKey("me", SecretKey.generate().public)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config" / "trust.toml"
    monkeypatch.setenv(settings.TRUST.name, str(file))
    return file


def test_without_a_file_nobody_is_trusted(path: Path) -> None:
    assert trusted_keys() == ()


def test_the_default_is_beside_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(settings.TRUST.name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert keys_file.keys_path() == tmp_path / "fictl" / "trust.toml"


def test_keys_are_added_once_and_removed(path: Path) -> None:
    assert keys_file.add(CI)
    assert not keys_file.add(CI)
    assert keys_file.add(ME)
    assert trusted_keys() == (CI, ME)
    assert keys_file.remove("ci") == CI
    assert trusted_keys() == (ME,)
    assert keys_file.remove(ME.public.id) == ME
    assert trusted_keys() == ()


def test_a_second_key_of_a_name_is_refused(path: Path) -> None:
    keys_file.add(CI)
    with pytest.raises(UsageError, match="another key of the name ci"):
        keys_file.add(TrustedKey("ci", ME.public))


def test_what_people_wrote_beside_the_entries_stays(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f"# of the team\n{CI.text()}# the laptop\n{ME.text()}")
    keys_file.remove("me")
    assert path.read_text().startswith("# of the team\n")
    assert trusted_keys() == (CI,)


def test_a_list_in_another_form_is_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    text = f'key = [{{name = "ci", public = "{CI.public.line}"}}]\n'
    path.write_text(text)
    for edit in (lambda: keys_file.add(ME), lambda: keys_file.remove("ci")):
        with pytest.raises(UsageError, match="cannot be edited"):
            edit()
    assert path.read_text() == text
    assert [key.name for key in trusted_keys()] == ["ci"]


def test_a_name_that_is_not_there_is_named_with_those_that_are(path: Path) -> None:
    keys_file.add(CI)
    with pytest.raises(UsageError, match="no key 'cy'") as error:
        keys_file.remove("cy")
    assert "ci" in error.value.hint


def test_a_file_that_others_can_write_is_refused(path: Path) -> None:
    keys_file.add(CI)
    path.chmod(0o664)
    with pytest.raises(SetupError, match="can be written by others"):
        trusted_keys()


@pytest.mark.parametrize(
    "text",
    [
        "[[key]]",
        "key = 3",
        "[key]\nname = 'a'",
        "other = 1",
        "x = [",
        CI.text() * 2,
        CI.text().replace("projects", "project"),
        CI.text().replace('["fictl", "my_*"]', "[]"),
        CI.text().replace('["fictl", "my_*"]', '["a b"]'),
        CI.text().replace("2027-05-01", '"soon"'),
        CI.text().replace("RW", "RX"),
        CI.text().replace('"ci"', '"../ci"'),
    ],
)
def test_a_file_that_cannot_be_read_is_not_an_empty_one(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(UsageError, match="trusted keys"):
        trusted_keys()
