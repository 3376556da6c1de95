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

class WorkList {
 public:
  __device__ WorkList(const WorkPlan& plan, int worker)
      : plan_(plan), tile_(worker), at_(plan.before(worker)), end_(plan.before(worker + 1)) {}

  // False if there is no more.
  __device__ bool next(WorkItem* item) {
    if (tile_ < plan_.whole) {
      *item = {tile_, 0, plan_.steps};
      tile_ += plan_.workers;
      return true;
    }
    if (at_ == end_) return false;
    const int begin = at_ % plan_.steps;
    const int left = end_ - at_;
    const int end = left < plan_.steps - begin ? begin + left : plan_.steps;
    *item = {plan_.whole + at_ / plan_.steps, begin, end};
    at_ += end - begin;
    return true;
  }

 private:
  const WorkPlan& plan_;
  int tile_;
  int at_;
  int end_;
};

}  // namespace fictl::gemm
