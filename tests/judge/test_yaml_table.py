"""Configurations in YAML: flashinfer-bench's say here what they say there."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.judge.config_file import config_file, layers, parse
from fictl.trace import Definition

THEIRS = """
# As `flashinfer-bench run --config` reads it.
use_isolated_runner: true
definitions: [gemm_n4096]
solutions: null
timeout_seconds: 60
profile_baseline: false
log_dir: /tmp/logs
warmup_runs: 5
rtol: 1e-3
atol: 0.5
required_matched_ratio: null
op_type_config:
  moe:
    required_matched_ratio: 0.9
  sampling:
    extra:
      sampling_validation_trials: 7
definition_config:
  "gemm v2":
    atol: 2.5E-1
"""
PLACE = Path("eval_config.yaml")


def definition(name: str = "d", op_type: str = "other") -> Definition:
    spec = {"shape": ["n"], "dtype": "float32"}
    return Definition.model_validate(
        {
            "name": name,
            "op_type": op_type,
            "axes": {"n": {"type": "var"}},
            "inputs": {"x": spec},
            "outputs": {"y": spec},
            "reference": "def run(x): return x",
        }
    )


def test_flashinfer_benchs_file_is_read() -> None:
    file = parse(PLACE, THEIRS)
    assert (file.only_definitions, file.only_solutions, file.is_isolated) == (
        ("gemm_n4096",),
        (),
        True,
    )
    config = layers(definition(), file)
    assert (config.timeout_seconds, config.profile_baseline, config.warmup_runs) == (60, False, 5)
    assert (config.rtol, config.atol, config.required_matched_ratio) == (1e-3, 0.5, None)
    assert layers(definition("gemm v2"), file).atol == 0.25
    assert layers(definition(op_type="moe"), file).required_matched_ratio == 0.9
    assert layers(definition(op_type="sampling"), file).sampling_validation_trials == 7


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null"])
def test_an_empty_file_says_nothing(text: str) -> None:
    assert layers(definition(), parse(PLACE, text)) == layers(definition())


@pytest.mark.parametrize("name", ["eval_config.yaml", "eval_config.yml"])
def test_a_dataset_may_have_one(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("rtol: 0.5\n")
    assert layers(definition(), config_file(tmp_path)).rtol == 0.5


def test_two_of_them_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "eval_config.yaml").write_text("rtol: 0.5\n")
    (tmp_path / "eval_config.toml").write_text("rtol = 0.25\n")
    with pytest.raises(UsageError, match=r"eval_config\.toml and eval_config\.yaml"):
        config_file(tmp_path)
    assert layers(definition(), config_file(tmp_path, tmp_path / "eval_config.yaml")).rtol == 0.5


_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rtl: 1", r"eval_config.yaml:1: rtl = 1: there is no such key"),
        ("\nrtol: nearly", r"eval_config.yaml:2: rtol = 'nearly'"),
        ("rtol: .nan", r"eval_config.yaml:1: rtol = nan"),
        ("rtol: \uff11", r"eval_config.yaml:1: rtol = "),
        ("rtol: 0.1\nrtol: 0.2", r"eval_config.yaml:2: not valid YAML: rtol stands twice"),
        ("rtol: [", r"eval_config.yaml:1: not valid YAML: "),
        ("a: *nowhere", r"not valid YAML: "),
        ("rtol: !!python/object/apply:os.getcwd []", r"not valid YAML: could not determine"),
        ("rtol: 2024-99-99", r"not valid YAML: "),
        ("- rtol", r"expected a mapping, not a list"),
        ("3", r"expected a mapping, not a int"),
        ("op_type_config: 3", r"op_type_config = 3"),
        ("op_type_config: {moe: 3}", r"op_type_config.moe = 3"),
        ("op_type_config:\n  moe:\n    iterations: 0", r":3: op_type_config.moe.iterations = 0"),
        ("definitions: gemm", r"definitions = 'gemm'"),
        ("solutions: [1]", r"solutions = \[1\]"),
        ("use_isolated_runner: maybe", r"use_isolated_runner = 'maybe'"),
        ("1: 2", r"1 = 2: there is no such key"),
        ("[" * 5000, r"not valid YAML: "),
        ("extra: {a: {b: {c: {d: {e: {f: {g: {h: {i: {j: 1}}}}}}}}}}", r"nested too deeply"),
        (_BOMB, r"a = \[.*: there is no such key"),
    ],
)
def test_an_error_names_file_and_key(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse(PLACE, text)
    assert len(caught.value.message) < 500
