"""The table of tiles: what it accepts, and that C++ without it has the same numbers."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
import torch

from fictl.kernels.attention import _tiles
from fictl.kernels.attention._config import Config
from fictl.kernels.attention._tiles import TENSOR_CORES, decode_rows, tile_rows
from fictl.kernels.attention.decode import jit as decode
from fictl.kernels.attention.prefill import jit as prefill
from fictl.paths import data_root
from fictl.toolchain import find_cxx

BF16 = torch.bfloat16
PRINTED = """
#include <cstdio>
#include <initializer_list>

#include <fictl/attention/tile_shape.cuh>

using namespace fictl::attention;
int main() {
  for (int keys : {8, 64, 72, 128, 136, 192, 200, 256, 264, 512, 520}) {
    for (int values : {8, 64, 72, 128, 136, 160, 168, 256, 264, 512, 520}) {
      for (int rows : {16, 32, 64, 96, 128, 256}) {
        const HeadDims dims{keys, values};
        if (!DefaultTile::is_known(rows, dims)) continue;
        const bool is_short = rows == 16;
        std::printf("%d %d %d %d %d %d\\n", rows, keys, values,
                    is_short ? 0 : DefaultTile::keys(dims),
                    is_short ? 0 : DefaultTile::warp_rows(rows), DefaultTile::blocks(rows, dims));
      }
    }
  }
}
"""


@pytest.mark.parametrize(
    ("queries", "requests", "group", "head_dim", "rows"),
    [
        (1, 1, 1, 64, 16),
        (16, 1, 1, 128, 16),
        (17, 1, 1, 128, 64),
        (128, 2, 1, 128, 64),
        (130, 2, 1, 128, 128),
        (9000, 1, 8, 64, 128),
        (9000, 1, 8, 256, 64),
        (9000, 1, 8, 160, 128),
        (9000, 1, 8, 512, 64),
        (0, 0, 4, 128, 16),
    ],
)
def test_a_tile_is_the_least_that_an_average_request_fits(
    queries: int, requests: int, group: int, head_dim: int, rows: int
) -> None:
    assert tile_rows(queries, requests, group, head_dim) == rows


def test_a_tile_on_cuda_cores_is_a_group() -> None:
    assert decode_rows(3, 1, 128, tensor_cores=False) == 3
    assert decode_rows(3, 8, 128, tensor_cores=True) == 64


def test_tiles_of_few_rows_are_for_keys_of_four_bits() -> None:
    assert [
        decode_rows(group, q_len, 128, tensor_cores=True, four_bits=True)
        for group, q_len in ((1, 1), (8, 1), (4, 2), (9, 1), (3, 3), (8, 3))
    ] == [8, 8, 8, 16, 16, 64]
    assert decode_rows(4, 1, 128, tensor_cores=True) == 16
    with pytest.raises(ValueError, match="tiles of 8 rows are for keys of 4 bits"):
        Config(BF16, BF16, BF16, 128, True, 8)


@pytest.mark.parametrize(
    ("rows", "head_dim", "tensor_cores", "message"),
    [
        (32, 128, True, "no tile of 32 rows for heads of 128 on tensor cores; .* 16, 64, 128"),
        (128, 256, True, "no tile of 128 rows for heads of 256 on tensor cores; .* 16, 64:"),
        (8, 64, False, "no tile of 8 rows for heads of 64 on CUDA cores; .* 1, 2, 3, 4"),
    ],
)
def test_a_height_that_is_not_in_the_table_is_refused(
    rows: int, head_dim: int, tensor_cores: bool, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Config(BF16, BF16, BF16, head_dim, True, rows, tensor_cores=tensor_cores)


def test_a_new_row_of_the_table_is_all_that_a_new_tile_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new = _tiles.Tile(96, 128, 128, keys=32, warp_rows=16, blocks=2, aot=True)
    monkeypatch.setattr(_tiles, "TENSOR_CORES", (*TENSOR_CORES[:4], new, *TENSOR_CORES[4:]))
    _forget_tiles()
    try:
        assert tile_rows(90, 1, 1, 128) == 96
        parameters = Config(BF16, BF16, BF16, 128, True, 96).parameters
        assert (parameters["rows"], parameters["stage_keys"], parameters["warp_rows"]) == (
            96,
            32,
            16,
        )
        tiles = 4 + 1
        assert len([*prefill.aot()]) == 2 * 2 * tiles + 2 * tiles + 2 * (2 * 4 + 2)
    finally:
        _forget_tiles()


def _forget_tiles() -> None:
    _tiles._of_heads.cache_clear()
    _tiles._heights.cache_clear()


def test_wheels_ship_the_tiles_that_the_table_marks() -> None:
    tiles = 3 + 1  # and one on Hopper
    assert len([*prefill.aot()]) == 2 * 2 * tiles + 2 * tiles + 2 * (2 * 3 + 2)
    assert len([*decode.aot()]) == 2 * 2


def test_headers_without_the_table_have_its_numbers(tmp_path: Path) -> None:
    source, program = tmp_path / "tiles.cpp", tmp_path / "tiles"
    source.write_text(PRINTED)
    include = data_root("kernels") / "include"
    words = [find_cxx().ccbin, "-std=c++17", "-Wall", "-Werror", f"-I{include}", source]
    subprocess.run([*words, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    known = {
        (tile.rows, keys, values, tile.keys, tile.warp_rows, tile.blocks)
        for keys in (8, 64, 72, 128, 136, 192, 200, 256, 264, 512, 520)
        for values in (8, 64, 72, 128, 136, 160, 168, 256, 264, 512, 520)
        for tile in _tiles._of_heads(keys, values, True)
    }
    assert {tuple(map(int, line.split())) for line in printed.splitlines()} == known


def test_no_import_runs_in_a_circle() -> None:
    """Modules of the family import each other one way, imports inside functions counted."""
    family = Path(_tiles.__file__).parent
    imports = {path: _imported(path, family) for path in family.rglob("*.py")}
    while True:
        leaves = [path for path, names in imports.items() if not names & imports.keys()]
        if not leaves:
            break
        for path in leaves:
            del imports[path]
    assert not [str(path.relative_to(family)) for path in imports]


def _imported(path: Path, family: Path) -> set[Path]:
    """The files of the family that a file imports."""
    files: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = path.parents[node.level - 1]
            module = node.module.split(".") if node.module else []
            for names in (module, *([*module, alias.name] for alias in node.names)):
                files.add(above.joinpath(*names).with_suffix(".py"))
    return {file for file in files if file.is_file() and file.is_relative_to(family)}
