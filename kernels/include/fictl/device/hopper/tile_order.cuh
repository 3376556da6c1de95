// Order of tiles for a persistent grid: in groups of rows, so that the tiles that run together
// share what they read from L2.
//
//   columns ->      group = 2
//   0  2  4  6      tiles 0 to 3 read 2 + 2 strips, where a row of tiles would read 1 + 4
//   1  3  5  7
//   8 10 12 14
//   9 11 13 15
//
// Work items whose weights differ want another order: sort them on the host, heaviest first, and
// let every block take the next one from a TileCursor.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

struct TilePlace {
  int row;
  int column;
};

struct TileOrder {
  int rows;
  int columns;
  int group;  // rows that run together

  __device__ TilePlace place(int index) const {
    const int tiles_a_group = group * columns;
    const int first = index / tiles_a_group * group;
    const int within = index % tiles_a_group;
    const int height = rows - first < group ? rows - first : group;
    return {first + within % height, within / height};
  }
};

// The next work item of a list that all blocks of a grid share; `next` is zero when the grid
// starts. One thread of a block takes it, and tells the others.
struct TileCursor {
  int* next;

  __device__ int take() const { return atomicAdd(next, 1); }
};

}  // namespace fictl::device
