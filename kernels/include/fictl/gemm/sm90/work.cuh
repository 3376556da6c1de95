// Which tiles, and which steps of K of them, a worker of a persistent grid computes.
//
//   tiles 0 .. whole - 1      dealt out in turn: worker w takes w, w + workers, ...
//   tiles whole .. tiles - 1  their steps of K in a row, divided evenly: worker w begins in the
//                             middle of one tile and ends in the middle of another
//
//   steps    |-- tile 6 --|-- tile 7 --|-- tile 8 --|
//   workers  |--- 0 ---|--- 1 ---|--- 2 ---|-- 3 ---|
//
// Why: 140 tiles on 132 SMs take two rounds; divided, they take 1.06. The worker with the first
// step of a tile adds the other workers' sums to its own, in their order, so that a result has the
// same bits each time. It waits for a worker that begins with this part, so none waits in a circle.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include <type_traits>

namespace fictl::gemm {

struct WorkPlan {
  int tiles;
  int whole;  // tiles that are not divided
  int steps;  // of K, a tile; at least 1
  int workers;
  // Steps of the divided tiles that each worker has; the first `longer` workers have one more.
  // Why not computed where they are needed: a division takes registers that hold sums.
  int share;
  int longer;

  __host__ WorkPlan(int64_t tiles, int64_t whole, int steps, int64_t workers)
      : tiles(static_cast<int>(tiles)),
        whole(static_cast<int>(whole)),
        steps(steps),
        workers(static_cast<int>(workers)),
        share(static_cast<int>((tiles - whole) * steps / workers)),
        longer(static_cast<int>((tiles - whole) * steps % workers)) {}

  // The steps of the divided tiles before those of `worker`.
  __host__ __device__ int before(int worker) const {
    return worker * share + (worker < longer ? worker : longer);
  }
  __host__ __device__ bool divides() const { return whole < tiles; }
};

struct WorkItem {
  int tile;
  int begin;  // steps of K
  int end;

  __device__ int steps() const { return end - begin; }
};

// Calls `body(item, is_part)` for the items of a worker, `is_part` as an integral constant: its
// whole tiles, and then what it has of the divided ones.
//
// Why two loops: the one over whole tiles counts by numbers that the compiler knows to be the same
// in all lanes, so that it keeps descriptors in uniform registers. With the divisions of the other
// one in it, four moves stand in front of every wgmma.
template <typename Body>
__device__ __forceinline__ void for_each_item(const WorkPlan& plan, int worker, Body body) {
  for (int tile = worker; tile < plan.whole; tile += plan.workers) {
    body(WorkItem{tile, 0, plan.steps}, std::false_type());
  }
  const int last = plan.before(worker + 1);
  for (int at = plan.before(worker); at < last;) {
    const int begin = at % plan.steps;
    const int end = last - at < plan.steps - begin ? begin + last - at : plan.steps;
    body(WorkItem{plan.whole + at / plan.steps, begin, end}, std::true_type());
    at += end - begin;
  }
}

}  // namespace fictl::gemm
