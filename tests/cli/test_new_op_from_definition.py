from __future__ import annotations

import json

import pytest

DEFINITION = {
    "name": "summed_c32",
    "op_type": "toy",
    "axes": {"rows": {"type": "var"}, "cols": {"type": "const", "value": 32}},
    "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "float32"}},
    "reference": "import torch\n\n\ndef run(x):\n    return torch.cumsum(x, dim=-1)\n",
}


@pytest.fixture
def definition(tiny, users_cache) -> str:
    (tiny / "d.json").write_text(json.dumps(DEFINITION))
    return "d.json"


def test_what_is_left_to_write_is_said(fictl, definition: str) -> None:
    answer = fictl("new-op", "--from-definition", definition)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        "  summed_c32(x:rows,cols) -> y:rows,cols",
        "  kernels/include/tiny/toy/summed_c32.cuh      the kernel, to be written",
        "  kernels/toy/summed_c32/  launcher.cu binding.cpp op.py trace.py bench.py",
        "  tests/kernels/toy/test_summed_c32.py",
        "  to write: the kernel's body in summed_c32.cuh; kSummedC32Written = true then. "
        "Until then a call, and every test, says so",
        "  7 files · next: fictl test summed_c32      fictl bench summed_c32      "
        "edit: summed_c32.cuh:25",
    ]
    assert fictl("check").code == 0


def test_with_a_body_of_a_few_lines_the_whole_op_is_done(fictl, definition: str, tiny) -> None:
    assert fictl("new-op", "sums", "--from-definition", definition).code == 0
    header = tiny / "kernels/include/tiny/toy/sums.cuh"
    text = header.read_text().replace("kSumsWritten = false", "kSumsWritten = true")
    body = """  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int64_t i = row * kSumsCols; i < (row + 1) * kSumsCols; ++i) y[i] = sum += x[i];
"""
    first, _, rest = text.partition("  // Here, ")
    header.write_text(first + body + rest.partition("\n")[2])
    words = ("--device", "emu", "-k", "test_y_is_returned", "--schedule", "forward")
    answer = fictl("test", "sums", *words)
    assert answer.code == 0, answer.out + answer.err


def test_words_that_say_it_otherwise_are_refused(fictl, definition: str) -> None:
    answer = fictl("new-op", "--from-definition", definition, "--input", "x:n")
    assert answer.code == 2
    assert "--input and --from-definition both say" in answer.err


def test_a_file_that_is_no_definition_is_told(fictl, definition: str, tiny) -> None:
    (tiny / definition).write_text("{}")
    answer = fictl("new-op", "--from-definition", definition)
    assert answer.code == 2
    assert "d.json:1: name" in answer.err
