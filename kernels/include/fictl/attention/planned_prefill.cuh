// Lists the work of a batch whose lengths are on the device, for the kernels that read a list
// (work.cuh): what plan.cuh does on the host.
//
// Algorithm: one block. Its first warp finds the best length of parts (share_out.cuh). Prefix sums
// over the requests, a thread each, then tell where their items begin, and a bisection finds the
// request of each place of the list. Tiles of a request come from the last one down, as those with
// the most keys. Merges lie where the parts of their tile do among all, so that most places of
// their list are empty.
//
// Traffic: 12 to 16 bytes a request, and 48 an item. A thousand items take some 5 us, most of which
// is latency; one launch before those of attention, which starts while the kernel before it ends.
#pragma once

#include <fictl/attention/share_out.cuh>
#include <fictl/attention/work.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/scan.cuh>

namespace fictl::attention {

constexpr int kListThreads = 512;

struct WorkRoom {
  Item* items;
  int item_count;
  Merge* merges;
  int merge_count;  // not above the parts of Sharing::room
};

inline __device__ Item without_work() {
  Item item{};
  item.request = -1;
  item.partial = -1;
  return item;
}

__global__ void __launch_bounds__(kListThreads) inline ListWorkKernel(
    const __grid_constant__ Requests requests, const Sight sight, const Sharing sharing,
    const WorkRoom room) {
  __shared__ int length;
  __shared__ int starts[kListThreads];       // of a request's items, among those of this round
  __shared__ int part_starts[kListThreads];  // and of its parts, among all
  __shared__ device::BlockScanStorage<int> item_sums;
  __shared__ device::BlockScanStorage<int> part_sums;
  const int thread = static_cast<int>(threadIdx.x);

  device::pdl_wait();
  device::pdl_trigger();
  if (thread < device::kWarpSize) {
    const int best = ShareOut(requests, sight, sharing).choose();
    if (thread == 0) length = best;
  }
  for (int i = thread; i < room.merge_count; i += kListThreads) room.merges[i] = {};
  __syncthreads();
  const ShareOut shares(requests, sight, sharing, length);
  int items = 0;
  int parts = 0;
  for (int first = 0; first < requests.count; first += kListThreads) {
    Cut cut{};
    if (first + thread < requests.count) cut = shares.cut(requests[first + thread]);
    const device::BlockScan<int> of_items(item_sums, cut.items());
    const device::BlockScan<int> of_parts(part_sums, cut.kept());
    starts[thread] = of_items.before;
    part_starts[thread] = parts + of_parts.before;
    __syncthreads();
    for (int place = thread; place < of_items.total; place += kListThreads) {
      // The last request that begins here or before: those without items begin where the next does.
      int low = 0;
      int high = kListThreads - 1;
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (starts[middle] <= place) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      const int at = first + low;
      const Request request = requests[at];
      const Cut own = shares.cut(request);
      const int number = place - starts[low];
      const Item item = shares.item(at, request, own, number, part_starts[low]);
      if (items + place < room.item_count) room.items[items + place] = item;
      const int tile = own.first_part(number, part_starts[low]);
      if (own.parts > 1 && own.part(number) == 0 && tile < room.merge_count) {
        const int rows = min(sharing.rows, request.q_len * sight.group - item.row);
        room.merges[tile] = {rows,      item.row, request.q_start, item.partial,
                             own.parts, at,       request.q_len,   request.kv_len};
      }
    }
    items += of_items.total;
    parts += of_parts.total;
    __syncthreads();
  }
  for (int i = items + thread; i < room.item_count; i += kListThreads) {
    room.items[i] = without_work();
  }
}

inline cudaError_t ListWork(const Requests& requests, const Sight& sight, const Sharing& sharing,
                            const WorkRoom& room, cudaStream_t stream = nullptr, bool pdl = false) {
  if (room.item_count == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.grid = dim3(1);
  config.block = dim3(kListThreads);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<ListWorkKernel>(config, requests, sight, sharing, room);
}

}  // namespace fictl::attention
