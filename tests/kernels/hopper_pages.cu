// Runs the examples of docs/hopper, which stand in front of this file: each function says whether
// its example is right.
#include <cuda_bf16.h>

#include <vector>

namespace {

using T = __nv_bfloat16;

bool finished() { return cudaDeviceSynchronize() == cudaSuccess; }

// A matrix whose elements are 0 to 15, and its map in boxes of 64 x 64.
struct Matrix {
  int rows, columns;
  std::vector<T> values;
  CUtensorMap map;

  Matrix(int rows, int columns, Swizzle swizzle) : rows(rows), columns(columns) {
    for (int i = 0; i < rows * columns; ++i) values.push_back(T(static_cast<float>(i * 7 % 16)));
    auto spec = TensorMapSpec::matrix(values.data(), rows, columns, columns);
    spec.box[0] = spec.box[1] = 64;
    spec.swizzle = swizzle;
    if (make_tensor_map(spec, &map) != cudaSuccess) values.clear();
  }
  float at(int row, int column) const { return values[row * columns + column]; }
};

std::vector<float> counted(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 8));
  return values;
}

}  // namespace

extern "C" bool mbarrier() {
  const auto rows = counted(2 * 1024);
  std::vector<float> sums(2, 0.0f);
  SumRow<<<2, 128>>>(rows.data(), sums.data());
  return finished() && sums[0] == 3584 && sums[1] == 3584;
}

extern "C" bool ring() {
  const auto rows = counted(9 * 1024);
  std::vector<float> sums(1024, 0.0f);
  SumChunks<<<1, 160>>>(rows.data(), sums.data(), 9);
  bool right = finished();
  for (int i = 0; i < 1024; ++i) right = right && sums[i] == 9 * rows[i];
  return right;
}

extern "C" bool tensor_maps() {
  const Matrix x(100, 200, Swizzle::kNone);
  std::vector<T> out(64 * 64);
  bool right = copy_box(x.values.data(), 100, 200, out.data()) == cudaSuccess && finished();
  for (int i = 0; i < 64 * 64; ++i) {
    const int row = 64 + i / 64, column = 128 + i % 64;
    right = right && float(out[i]) == (row < 100 && column < 200 ? x.at(row, column) : 0);
  }
  return right;
}

extern "C" bool bulk_copies() {
  const auto in = counted(2 * 1024);
  std::vector<float> out(2 * 1024);
  Twice<<<2, 128>>>(in.data(), out.data());
  bool right = finished();
  for (int i = 0; i < 2 * 1024; ++i) right = right && out[i] == 2 * in[i];
  return right;
}

extern "C" bool proxy_fences() {
  std::vector<float> out(256);
  Squares<<<1, 256>>>(out.data());
  bool right = finished();
  for (int i = 0; i < 256; ++i) right = right && out[i] == static_cast<float>(i * i);
  return right;
}

extern "C" bool wgmma() {
  const Matrix a(64, 64, Swizzle::k128), b(64, 64, Swizzle::k128);
  std::vector<float> d(64 * 64);
  Product<<<1, 128>>>(a.map, b.map, d.data());
  bool right = finished();
  for (int i = 0; i < 64 * 64; ++i) {
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += a.at(i / 64, k) * b.at(i % 64, k);
    right = right && d[i] == sum;
  }
  return right;
}

extern "C" bool swizzles() {
  const Matrix x(64, 64, Swizzle::k128);
  std::vector<T> out(64 * 64);
  Unswizzle<<<1, 128>>>(x.map, out.data());
  bool right = finished();
  for (int i = 0; i < 64 * 64; ++i) right = right && float(out[i]) == float(x.values[i]);
  return right;
}

extern "C" bool register_hand_over() {
  std::vector<int> out(3, -1);
  Roles<<<1, 384>>>(out.data());
  return finished() && out == std::vector<int>{0, 1, 2};
}

extern "C" bool named_barriers() {
  std::vector<int> log(6, -1);
  TakeTurns<<<1, 256>>>(log.data(), 3);
  return finished() && log == std::vector<int>{0, 1, 0, 1, 0, 1};
}

extern "C" bool clusters() {
  const Matrix x(128, 64, Swizzle::kNone);
  std::vector<T> out(2 * 128 * 64);
  std::vector<int> ranks(2, -1);
  LaunchConfig config;
  config.grid = dim3(2);
  config.block = dim3(128);
  config.cluster = dim3(2, 1, 1);
  bool right = launch<Share>(config, x.map, out.data(), ranks.data()) == cudaSuccess && finished();
  for (int i = 0; i < 2 * 128 * 64; ++i)
    right = right && float(out[i]) == float(x.values[i % (128 * 64)]);
  return right && ranks == std::vector<int>{1, 0};
}

extern "C" bool tile_order() {
  std::vector<int> block_of(12, -1), weights{5, 4, 3, 2, 1}, spent(2, 0);
  int next = 0;
  Who<<<12, 32>>>(block_of.data(), TileOrder{3, 4, 2});
  TakeItems<<<2, 32>>>(weights.data(), 5, TileCursor{&next}, spent.data());
  return finished() && block_of == std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7, 8, 9, 10, 11} &&
         spent[0] + spent[1] == 15;
}

extern "C" bool epilogue() {
  Matrix d(64, 128, Swizzle::k128);
  StoreRank<<<2, 128>>>(d.map);
  bool right = finished();
  for (int row = 0; row < 64; ++row) {
    // Register 4 j + i of a thread: columns 8 j + i % 2 and rows + 8 for i of 2 and 3.
    for (int column = 0; column < 128; ++column) {
      const int i = column % 64 / 8 * 4 + row % 16 / 8 * 2 + column % 2;
      right = right && d.at(row, column) == static_cast<float>(i);
    }
  }
  return right;
}

extern "C" bool dependent_launch() {
  float* rows = nullptr;  // in, between, out: memory that check mode knows
  if (cudaMallocManaged(&rows, 3 * 512 * sizeof(float)) != cudaSuccess) return false;
  for (int i = 0; i < 512; ++i) rows[i] = static_cast<float>(i % 8);
  bool right = add_two(rows, rows + 512, rows + 1024, 2, nullptr) == cudaSuccess;
  right = finished() && right;
  for (int i = 0; i < 512; ++i) right = right && rows[1024 + i] == rows[i] + 2;
  cudaFree(rows);
  return right;
}
