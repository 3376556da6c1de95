from __future__ import annotations


def test_a_project_that_keeps_the_rules_is_a_success(fictl, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = fictl("check")
    assert answer.code == 0
    assert answer.out.startswith("✓ ")


def test_a_problem_is_said_with_its_place_and_its_fix(fictl, repo) -> None:
    answer = fictl("check", "dense")
    lines = answer.out.splitlines()
    place = f"{repo}/kernels/gemm/dense/binding.cpp:1"
    assert answer.code == 1
    at = lines.index(f"{place}: files my_kernels/gemm/dense lacks binding.cpp")
    assert lines[at + 1] == "  add it: the TVM-FFI exports and argument checks"


def test_brackets_in_a_problem_are_text_not_markup(fictl, repo) -> None:
    (repo / "kernels/gemm/dense/launcher.cu").write_text("#include X[/y]\n")
    assert "computed-include #include X[/y]\n" in fictl("check", "dense").out


def test_problems_are_data_too(fictl, repo) -> None:
    answer = fictl("check", "dense", "--json")
    assert (answer.code, answer.document["ok"]) == (1, False)
    assert set(answer.document["data"][0]) == {"rule", "path", "line", "message", "fix"}


def test_only_what_is_named_is_checked(fictl, repo) -> None:
    found = fictl("check", "dense", "--json").document["data"]
    assert all("dense" in problem["path"] for problem in found)


def test_without_names_it_is_the_whole_project_here(fictl, repo) -> None:
    (repo / "kernels" / "__init__.py").touch()
    rules = {problem["rule"] for problem in fictl("check", "--json").document["data"]}
    assert rules >= {"files", "no-init"}


def test_a_file_stands_for_its_project(fictl, repo, tmp_path, monkeypatch) -> None:
    """As pre-commit calls it: from the top of a repository, with what changed."""
    (repo / "kernels" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    file = "repo/kernels/gemm/dense/op.py"
    found = fictl("check", file, file, "repo/fictl.toml", "--json").document["data"]
    assert {problem["rule"] for problem in found} >= {"files", "no-init"}
    assert len({str(problem) for problem in found}) == len(found)


def test_files_and_ops_may_be_mixed(fictl, repo) -> None:
    found = fictl("check", "dense/op.py", "scale", "--json").document["data"]
    assert all(str(repo) in problem["path"] for problem in found)


def test_a_file_that_is_not_there_is_no_op_either(fictl, repo) -> None:
    answer = fictl("check", "dense/nothing.py")
    assert answer.code == 2
    assert "there is no op 'dense/nothing.py'" in answer.err
