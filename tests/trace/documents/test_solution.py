from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from fictl.errors import UsageError
from fictl.trace import BuildSpec, Solution, SourceFile, SupportedBindings, SupportedLanguages

GOOD: dict[str, Any] = {
    "name": "fast",
    "definition": "gemm",
    "author": "A. N. Author",
    "spec": {
        "language": "cuda",
        "target_hardware": ["cuda"],
        "entry_point": "src/main.cu::run",
        "dependencies": ["cublas"],
        "destination_passing_style": True,
        "binding": "tvm-ffi",
    },
    "sources": [{"path": "src/main.cu", "content": "main"}, {"path": "a.h", "content": "header"}],
}


def make(**changes: Any) -> Solution:
    return Solution.model_validate({**GOOD, **changes})


def with_spec(**changes: Any) -> Solution:
    return make(spec={**GOOD["spec"], **changes})


def test_a_solution_is_written_as_it_was_read(tmp_path: Path) -> None:
    solution = make(extra={"of": None})
    path = tmp_path / "fast.json"
    path.write_text(solution.to_json())
    assert Solution.read(path) == solution
    assert solution.model_dump(mode="json") == {**GOOD, "extra": {"of": None}}


def test_its_entry_is_a_file_and_a_symbol() -> None:
    solution = make()
    assert (str(solution.get_entry_path()), solution.get_entry_symbol()) == ("src/main.cu", "run")
    assert solution.get_entry_source().content == "main"


DIFFERENT = [
    make(),
    make(definition="other"),
    with_spec(language="cpp"),
    with_spec(entry_point="src/main.cu::walk"),
    with_spec(binding=None),
    with_spec(binding="torch"),
    with_spec(destination_passing_style=False),
    with_spec(dependencies=[]),
    with_spec(dependencies=["cub", "las"]),
    with_spec(compile_options={}),
    with_spec(compile_options={"cflags": ["-O1"]}),
    with_spec(compile_options={"ld_flags": ["-O1"]}),
    make(sources=[{"path": "src/main.cu", "content": "maina.hheader"}]),
    make(sources=[GOOD["sources"][0], {"path": "a.hh", "content": "eader"}]),
    make(sources=[GOOD["sources"][0], {"path": "a.h", "content": "header\n"}]),
]


def test_whatever_decides_what_it_computes_is_in_its_hash() -> None:
    hashes = [solution.hash() for solution in DIFFERENT]
    assert len({*hashes}) == len(hashes)
    assert all(len(text) == 64 for text in hashes)


@pytest.mark.parametrize(
    "same",
    [
        make(name="slow"),
        make(author="B"),
        make(description="what"),
        with_spec(target_hardware=["B200"]),
        make(sources=GOOD["sources"][::-1]),
    ],
)
def test_what_does_not_decide_is_not(same: Solution) -> None:
    assert same.hash() == make().hash()


def test_no_two_lists_of_texts_have_one_hash() -> None:
    """Every way to cut the same letters into paths and contents."""
    letters = "main.cu::x"
    hashes = set()
    cuts = [*itertools.combinations(range(1, 7), 2)]
    for a, b in cuts:
        texts = ["aaaaaaa"[:a], "aaaaaaa"[a:b], "aaaaaaa"[b:]]
        spec = {**GOOD["spec"], "dependencies": texts, "entry_point": letters}
        sources = [{"path": "main.cu", "content": "aaaaaaa"}]
        hashes.add(make(spec=spec, sources=sources).hash())
    assert len(hashes) == len(cuts)


def test_a_unique_name_has_the_hash() -> None:
    unique = make().with_unique_name()
    assert unique.name == f"fast_{make().hash()[:8]}"
    assert unique.hash() == make().hash()


def test_it_is_hashable_and_travels() -> None:
    solution = make()
    assert {solution: 1}[pickle.loads(pickle.dumps(solution))] == 1


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../a.cu",
        "a/../../b.cu",
        "a//b.cu",
        "a/",
        ".",
        "./a.cu",
        "a/./b.cu",
        "",
        "a\\b.cu",
        "C:\\a.cu",
        "c:/a.cu",
        "a\0.cu",
        "a\n.cu",
        "~/" + "a" * 2000,
    ],
)
def test_a_path_that_may_lead_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        SourceFile(path=path, content="x")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sources": []}, "at least 1 item"),
        ({"sources": [GOOD["sources"][1]]}, "the entry file src/main.cu is not among"),
        ({"sources": [*GOOD["sources"], GOOD["sources"][0]]}, "two sources at src/main.cu"),
        ({"sources": [*GOOD["sources"], {"path": "A.H", "content": "x"}]}, "two sources at a.h"),
        (
            {"sources": [*GOOD["sources"], {"path": "src", "content": "x"}]},
            "src is both a file and a f",
        ),
        ({"sources": [*GOOD["sources"], {"path": "b", "content": ""}]}, "at least 1 character"),
        ({"sources": [*GOOD["sources"], {"path": "b", "content": "\0"}]}, "a NUL character"),
        ({"sources": [*GOOD["sources"], {"path": "b", "content": "é" * (1 << 20)}]}, "1 MiB"),
        ({"sources": [{"path": f"f{i}", "content": "x"} for i in range(501)]}, "at most 500 items"),
        ({"name": ""}, "at least 1 character"),
        ({"name": "  "}, "printable characters other than spaces"),
        ({"name": "fa\nst"}, "printable characters"),
        ({"name": "\x1b[2J"}, "printable characters"),
        ({"name": "x" * 1001}, "at most 1000 characters"),
        ({"author": "a\0b"}, "printable characters"),
        ({"definition": "\u202egnp"}, "printable characters"),
        ({"spec": {**GOOD["spec"], "entry_point": "src/main.cu"}}, "expected file::symbol"),
        ({"spec": {**GOOD["spec"], "entry_point": "a::b::c"}}, "expected file::symbol"),
        ({"spec": {**GOOD["spec"], "language": "rust"}}, "Input should be 'python'"),
        ({"spec": {**GOOD["spec"], "target_hardware": []}}, "at least 1 item"),
        ({"spec": {**GOOD["spec"], "destination_passing_style": "yes"}}, "valid boolean"),
    ],
)
def test_what_is_no_solution_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        make(**changes)


def test_all_sources_together_have_a_limit() -> None:
    sources = [{"path": f"f{i}", "content": "x" * (1 << 20)} for i in range(17)]
    with pytest.raises(ValidationError, match="more than 16 MiB"):
        make(sources=[*GOOD["sources"], *sources])


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(UsageError, match="has 1073741824 bytes: too large for a solution"):
        Solution.read(path)


@pytest.mark.parametrize(
    ("languages", "language", "binding"),
    [
        (["cuda_cpp"], SupportedLanguages.CUDA, SupportedBindings.TORCH),
        (["cutlass", "cudnn"], SupportedLanguages.CUDA, SupportedBindings.TORCH),
        (["pytorch"], SupportedLanguages.PYTHON, None),
        (["pytorch", "triton"], SupportedLanguages.TRITON, None),
        (["cute_dsl"], SupportedLanguages.PYTHON, None),
        (["tilelang"], SupportedLanguages.TILELANG, None),
    ],
)
def test_languages_of_sol_execbench_are_those_of_flashinfer_bench(
    languages: list[str], language: SupportedLanguages, binding: SupportedBindings | None
) -> None:
    entry = {"target_hardware": ["LOCAL"], "entry_point": "k::run", "dependencies": None}
    spec = BuildSpec.model_validate({"languages": languages, **entry})
    assert (spec.language, spec.binding, spec.languages) == (language, binding, (*languages,))
    libraries = {"cutlass", "cudnn"} & {*languages}
    assert {*spec.dependencies} == libraries
    assert BuildSpec.model_validate(spec.model_dump(mode="json")) == spec


@pytest.mark.parametrize("languages", [["cuda_cpp", "triton"], [], ["cobol"], "triton"])
def test_languages_that_do_not_go_together_are_refused(languages: Any) -> None:
    with pytest.raises(ValidationError, match=r"not of one kind|Field required|Input should be"):
        BuildSpec.model_validate(
            {"languages": languages, "target_hardware": ["LOCAL"], "entry_point": "k::run"}
        )


def test_flags_of_sol_execbench_have_its_defaults() -> None:
    options = with_spec(compile_options={"cflags": ["-g"]}).spec.compile_options
    assert options is not None
    assert (options.cuda_cflags, options.ld_flags) == (("-O3", "--use_fast_math"), ("-lcuda",))
