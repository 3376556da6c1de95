from __future__ import annotations


def test_every_skill_is_listed_with_its_purpose(fictl) -> None:
    lines = fictl("skills", "list").out.splitlines()
    assert lines[0].split() == ["skill", "for"]
    assert lines[1].startswith("add-cuda-kernel   Add a new CUDA kernel")
    assert len(lines) == 9


def test_as_json_each_has_its_folder(fictl) -> None:
    answer = fictl("skills", "list", "--json").document
    assert answer["schema"] == "fictl.skills.list/1"
    assert all(each["path"].endswith(f"skills/{each['name']}") for each in answer["data"])


def test_alone_the_group_shows_its_commands(fictl) -> None:
    answer = fictl("skills")
    assert answer.code == 0
    assert "install" in answer.out
