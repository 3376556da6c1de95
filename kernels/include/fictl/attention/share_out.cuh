// The planner on the device: shares out the keys of a batch to blocks, as plan.cuh does on the host
// from lengths that are known there.
//
// Algorithm: one warp looks at all requests, 32 at a time. The first pass adds up their keys. The
// next ones try lengths of parts, for one wave of blocks, for two and for four: each counts the
// items that its length makes, and estimates how long the blocks would take for them. The best is
// kept: it is the one number that the list follows from. Nothing is written down: whoever wants the
// item of some number walks over the requests with a Cursor, and stays where the last one was
// found.
//
// Estimate: that of plan.cuh, in keys that a block walks over in that time; but what is left for
// the last wave may be known to take less time than a full one. What fits into one wave is taken
// without an estimate: more parts would only begin more often.
//
// Parts: all tiles of a request are cut at the same keys, so that tiles that run side by side read
// the same ones. A tile that sees nothing of a part leaves the sum of nothing there.
//
// Traffic: 4 to 8 bytes a request, two times to four, mostly from L1.
//
// Instructions: every block waits for them before its first key, one warp of it, each of them for
// the one before. So numbers are counted in integers, which a warp adds up in one instruction,
// quotients are made of floats, and a lone request has no sums over requests.
#pragma once

#include <fictl/attention/requests.cuh>
#include <fictl/attention/work.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::attention {

struct Sharing {
  int rows;   // of a tile
  int slots;  // items that run at once
  int step;   // parts are multiples of it, a power of two
  int room;   // parts that there is memory for
  // Time that the last of several waves takes at least, as a share of that of a full one: where
  // memory is the limit, few blocks are faster than many.
  float last_wave = 1.0f;
};

// How the work of a request is cut: `tiles` of rows, each of `parts` of `length` keys from `begin`.
struct Cut {
  int tiles;
  int begin;
  int end;
  int length;
  int parts;

  __device__ int items() const { return tiles * parts; }
  __device__ int kept() const { return parts > 1 ? items() : 0; }  // in memory, to be merged

  // The tile of an item by its number, from the last one down, and the part; and the number of the
  // tile's first part among all, of which `before` are of requests before.
  __device__ int tile(int number) const { return tiles == 1 ? 0 : tiles - 1 - number % tiles; }
  __device__ int part(int number) const { return tiles == 1 ? number : number / tiles; }
  __device__ int first_part(int number, int before) const { return before + tile(number) * parts; }
};

class ShareOut {
 public:
  static constexpr int kShortest = 128;  // keys of a part, as in plan.cuh

  // `length` is what choose() returned; with 0 nothing is split.
  __device__ ShareOut(const Requests& requests, const Sight& sight, const Sharing& sharing,
                      int length = 0)
      : requests_(requests), sight_(sight), sharing_(sharing), length_(length) {}

  // The best length of parts: no part is longer. By a whole warp, of what splits nothing yet.
  __device__ int choose() const {
    const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
    const Cut first = lane < requests_.count ? cut(requests_[lane]) : Cut{};
    uint32_t own_work = 0, own_tiles = 0, own_longest = 0;
    each(first, [&](const Cut& cut) {
      add(own_work, cut.tiles, (cut.length + kUnit - 1) / kUnit);
      own_tiles += cut.tiles;
      if (cut.tiles > 0) own_longest = max(own_longest, static_cast<uint32_t>(cut.length));
    });
    const int longest = static_cast<int>(device::warp_max(own_longest));
    if (longest <= kShortest || sharing_.room < 2) return 0;
    const uint32_t tiles = device::warp_sum(own_tiles);
    const float work = static_cast<float>(device::warp_sum(own_work)) * kUnit;

    const float slots = static_cast<float>(sharing_.slots);
    int length = 0;
    float best = kWorth * time(work, static_cast<float>(tiles), static_cast<float>(longest));
    for (int waves = 1; waves <= kMostWaves; waves *= 2) {
      const float even = device::fast_divide(work, slots * static_cast<float>(waves));
      const int tried = stepped(max(static_cast<int>(even), kShortest));
      if (tried >= longest) continue;
      uint32_t own_kept = 0, own_whole = 0;
      each(first, [&](const Cut& cut) {
        if (cut.length <= tried) {
          own_whole += cut.tiles;
        } else {
          add(own_kept, cut.tiles, parts_of(cut.length, tried));
        }
      });
      const uint32_t kept = device::warp_sum(own_kept);
      const uint32_t items = kept + device::warp_sum(own_whole);
      if (kept > static_cast<uint32_t>(sharing_.room)) continue;
      const float needed =
          time(work, static_cast<float>(items), static_cast<float>(tried)) + kMerge;
      if (needed < best) {
        best = needed;
        length = tried;
      }
      if (items <= static_cast<uint32_t>(sharing_.slots)) break;
    }
    return length;
  }

  __device__ const Requests& requests() const { return requests_; }
  __device__ const Sharing& sharing() const { return sharing_; }

  __device__ Cut cut(const Request& request) const {
    const int rows = request.q_len * sight_.group;
    const Sight::Keys keys = sight_.of(request, 0, request.q_len - 1);
    // Divisions are slow, and one tile is what most requests have.
    const int tiles = rows > sharing_.rows ? (rows + sharing_.rows - 1) / sharing_.rows : rows > 0;
    Cut cut{tiles, keys.begin, keys.end, 0, 1};
    cut.length = cut.end - cut.begin;
    if (length_ > 0 && cut.length > length_) {
      cut.parts = parts_of(cut.length, length_);
      cut.length = length_;
    }
    return cut;
  }

  // The item of a request by its number among the request's own, with `before` parts of requests
  // before it: those of a tile are one after another.
  __device__ Item item(int at, const Request& request, const Cut& cut, int number,
                       int before) const {
    const int part = cut.part(number);
    const int all_rows = request.q_len * sight_.group;
    Item item{};
    item.request = at;
    item.row = cut.tile(number) * sharing_.rows;
    item.q_start = request.q_start;
    item.q_len = request.q_len;
    item.kv_start = request.kv_start;
    item.kv_len = request.kv_len;
    const int rows = min(sharing_.rows, all_rows - item.row);
    const bool is_all = cut.tiles == 1;
    const Sight::Keys keys =
        is_all ? Sight::Keys{cut.begin, cut.end}
               : sight_.of(request, item.row / sight_.group, (item.row + rows - 1) / sight_.group);
    const int begin = cut.begin + part * cut.length;
    item.end = part + 1 < cut.parts ? min(keys.end, begin + cut.length) : keys.end;
    item.begin = min(max(keys.begin, begin), max(item.end, 0));
    if (item.end < item.begin) item.end = item.begin;
    item.partial = -1;
    if (cut.parts > 1) {
      item.partial = cut.first_part(number, before) * sharing_.rows + part * rows;
    }
    return item;
  }

 private:
  static constexpr int kMostWaves = 4;
  static constexpr uint32_t kUnit = 64;  // keys, to count work in
  // As in plan.cuh.
  static constexpr float kStart = 64.0f;
  static constexpr float kMerge = 96.0f;
  static constexpr float kWorth = 0.95f;

  __device__ int stepped(int length) const { return (length + sharing_.step - 1) & -sharing_.step; }

  // Runs `body` with what this lane sees of all requests, of which `first` is the first.
  template <typename Body>
  __device__ void each(const Cut& first, Body body) const {
    body(first);
    const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
    for (int at = lane + device::kWarpSize; at < requests_.count; at += device::kWarpSize) {
      body(cut(requests_[at]));
    }
  }

  // Adds a product to a lane's sum, up to a number which 32 lanes can add up, and which is more
  // work than a GPU has blocks, and more parts than memory has room.
  static __device__ void add(uint32_t& sum, uint32_t x, uint32_t y) {
    constexpr uint64_t kMost = 1u << 26;
    sum = static_cast<uint32_t>(min(sum + uint64_t{x} * y, kMost));
  }

  // Parts of a length that cover some keys. Why 0.99 is enough: there are fewer parts than 8192,
  // and the quotient of two floats is off by some 1e-7 of itself.
  static __device__ int parts_of(int keys, int length) {
    const int parts = static_cast<int>(
        device::fast_divide(static_cast<float>(keys), static_cast<float>(length)) + 0.99f);
    return parts +
           static_cast<int>(static_cast<uint32_t>(parts) * length < static_cast<uint32_t>(keys));
  }

  __device__ float time(float work, float items, float longest) const {
    const float slots = static_cast<float>(sharing_.slots);
    const float shared = device::fast_divide(work + items * kStart, slots) + longest;
    const float waves = device::fast_divide(items, slots);
    const float full = floorf(waves);
    const float least = full > 0.0f ? sharing_.last_wave : 1.0f;
    const float last = waves > full ? fmaxf(waves - full, least) * longest + kStart : 0.0f;
    return fminf(shared, full * (longest + kStart) + last);
  }

  const Requests& requests_;
  const Sight& sight_;
  const Sharing& sharing_;
  int length_;
};

// An item of a ShareOut, and what its parts are merged by.
struct Found {
  Item item;
  int parts;
  int tile;  // a number of the split tile, the first of those of its parts
};

// Where a Cursor is, in memory that a warp shares.
struct Progress {
  int first;  // request of the 32 in view
  int items;  // and what those before it have
  int parts;
};

// Finds items by numbers that do not fall. Both are called by a whole warp.
class Cursor {
 public:
  __device__ Cursor(const ShareOut& shares, Progress& progress)
      : shares_(shares), progress_(progress) {}

  // Begins with the first request.
  __device__ void begin() {
    if (threadIdx.x % device::kWarpSize == 0) progress_ = {0, 0, 0};
    __syncwarp();
  }

  // Tells whether there is an item of this number. One lane writes it down.
  __device__ bool find(int number, Found* found) {
    const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
    const Requests& requests = shares_.requests();
    Progress now = progress_;
    bool finds = false;
    for (; now.first < requests.count; now.first += device::kWarpSize) {
      const int at = now.first + lane;
      Request request{};
      Cut cut{};
      if (at < requests.count) {
        request = requests[at];
        cut = shares_.cut(request);
      }
      const int items = cut.items();
      int until = items;
      int parts_until = cut.kept();
      if (requests.count > 1) {
        until = device::warp_inclusive_sum(until);
        parts_until = device::warp_inclusive_sum(parts_until);
      }
      const int own = number - (now.items + until - items);
      if (own >= 0 && own < items) {
        const int before = now.parts + parts_until - cut.kept();
        found->item = shares_.item(at, request, cut, own, before);
        found->parts = cut.parts;
        found->tile = cut.first_part(own, before);
      }
      const int last = requests.count > 1 ? device::kWarpSize - 1 : 0;
      const int end = now.items + __shfl_sync(0xffffffff, until, last);
      finds = number < end;
      if (finds) break;
      now.items = end;
      now.parts += __shfl_sync(0xffffffff, parts_until, last);
    }
    __syncwarp();
    if (lane == 0) progress_ = now;
    __syncwarp();
    return finds;
  }

 private:
  const ShareOut& shares_;
  Progress& progress_;
};

}  // namespace fictl::attention
