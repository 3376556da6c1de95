// The planner: turns the lengths of a batch's requests into the work list of work.cuh. It runs on
// the host, in plain C++, and takes some microseconds for some hundred requests.
//
// Algorithm: the rows of a request are cut into tiles. A tile takes only the keys that some of its
// rows sees: keys behind causality or a window cost nothing. A tile is one item, unless that leaves
// the GPU uneven. Then the keys of long tiles are split into parts of equal length, which a second
// kernel merges. A few lengths are tried, those that fill one to four waves. The list without parts
// is kept where none of them is clearly better.
//
// Estimate: the time of a list is counted in keys that a block walks over. Items start in order,
// each as soon as a block is free. So an item ends at the latest after all work before it, shared
// out evenly, plus itself. It also ends within the number of waves times the longest item.
//
// Order: the longest items come first, so that short ones fill the gaps at the end. Where requests
// have several tiles, those of one request stay together, from the last tile down: blocks that run
// at once then share its keys in L2. Only the last requests are mixed: as many as keep the GPU busy
// for the time of the longest tile.
//
// Traffic, tiling, registers and shared memory are those of the kernels; a list is 48 bytes an
// item.
#pragma once

#include <limits.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

#include <fictl/attention/work.cuh>

namespace fictl::attention {

// The lengths of the requests.
struct Batch {
  int requests = 0;
  const int32_t* qo_indptr = nullptr;  // [requests + 1], tokens; null: q_len of each
  int q_len = 1;
  const int32_t* kv_indptr = nullptr;      // [requests + 1], tokens, or pages
  int page_size = 0;                       // 0: kv_indptr counts tokens
  const int32_t* last_page_len = nullptr;  // [requests], slots used of the last pages
  const int32_t* kv_lens = nullptr;        // [requests], tokens; takes the place of last_page_len
};

struct PlanOptions {
  int rows = 64;     // of a tile
  int group = 1;     // heads of queries to a head of keys
  int kv_heads = 1;  // an item is as many blocks
  int slots = 1;     // blocks that run at once
  bool causal = false;
  int window_left = INT_MAX;  // INT_MAX: all
  bool custom_mask = false;
  bool split = true;    // whether a tile's keys may be
  int fixed_split = 0;  // the length of parts, whatever the batch; 0: as is best
  // The list has room for any batch of as many requests and of this many queries or fewer, and is
  // padded to it, so that a CUDA graph finds every plan at one place. 0: it is as long as it is.
  int most_queries = 0;
};

struct PlanSizes {
  int items = 0;
  int merges = 0;
  int partial_rows = 0;  // of each head of the keys: fp32 results, and their sums
};

// Why there is no plan. `found` and `bound` are the values compared.
struct Refusal {
  enum Kind {
    kNone,
    kQueryOffsets,  // qo_indptr falls at the request
    kKeyOffsets,    // kv_indptr falls
    kLastPage,      // last_page_len is not 1 to page_size, or not 0 without a page
    kLength,        // kv_lens is not 0 to what the pages hold
    kTooLong,       // more than an int32 counts
    kQueries,       // more of them than most_queries
    kItems,         // more of them than there is room for
    kParts,         // more rows of parts than there is room for
  };
  Kind kind = kNone;
  int request = 0;
  int64_t found = 0;
  int64_t bound = 0;
};

class Planner {
 public:
  using Lengths = Batch;
  using Options = PlanOptions;
  using Work = Item;
  using Merging = Merge;

  Planner(const Batch& batch, const PlanOptions& options) : options_(options) {
    options_.slots = std::max(options.slots, 1);
    if (!find_tiles(batch)) return;
    order_by(lengths_);
    if (options_.fixed_split > 0) {
      if (options_.split) split(options_.fixed_split);
    } else if (options_.split) {
      split(best_length());
    }
    measure();
    if (options_.most_queries > 0) make_room(batch);
  }

  const Refusal& refusal() const { return refusal_; }
  const PlanSizes& sizes() const { return sizes_; }
  int tiles() const { return static_cast<int>(tiles_.size()); }
  // Ends of the memory that the requests use: tokens of queries; tokens of keys, or page indices;
  // bytes of the custom mask.
  int64_t query_end() const { return query_end_; }
  int64_t key_end() const { return key_end_; }
  int64_t mask_end() const { return mask_end_; }
  // The length of the longest part; 0 where nothing is split.
  int part_length() const { return part_length_; }

  // Writes the list, into room for sizes().items and sizes().merges.
  void write(Item* items, Merge* merges) const {
    const Item none = {-1, 0, 0, 0, 0, 0, 0, 0, -1, 0, {0, 0}};
    Item* item = items;
    Merge* merge = merges;
    int partial = 0;
    for (const int at : order_) {
      const Tile& tile = tiles_[at];
      const int length = part_of(at);
      const int parts = parts_of(lengths_[at], length);
      if (parts > 1) *merge++ = merge_of(tile, partial, parts);
      for (int part = 0; part < parts; ++part) {
        *item = tile.item;
        item->begin += part * length;
        item->end = part + 1 < parts ? item->begin + length : tile.item.end;
        item->partial = parts > 1 ? partial : -1;
        if (parts > 1) partial += tile.rows;
        ++item;
      }
    }
    std::fill(item, items + sizes_.items, none);
    std::fill(merge, merges + sizes_.merges, Merge{});
  }

 private:
  // Shorter tiles gain nothing from a split. Parts are multiples of the stages in which kernels
  // take keys.
  static constexpr int kShortest = 128;
  static constexpr int kMultiple = 64;
  static constexpr int kWaves = 4;
  // Waves of tall tiles in graphs: room for more parts would exceed the workspaces of users.
  static constexpr int kTallGraphWaves = 2;
  // Costs, in keys that a block walks over in that time: the start and the end of a block, and the
  // second kernel. The rows of parts, written and read again, are counted apart.
  static constexpr int kStart = 64;
  static constexpr int kMerge = 96;
  static constexpr double kWorth = 0.95;  // share of the time without parts that they must beat

  struct Tile {
    Item item;
    int rows;
  };

  static Merge merge_of(const Tile& tile, int partial, int parts) {
    const Item& item = tile.item;
    return {tile.rows, item.row,     item.q_start, partial,
            parts,     item.request, item.q_len,   item.kv_len};
  }

  int waves() const {
    return options_.most_queries > 0 && options_.rows > 16 ? kTallGraphWaves : kWaves;
  }
  int64_t most_parts() const {
    return options_.split ? int64_t{waves()} * options_.slots / options_.kv_heads : 0;
  }

  bool refuse(Refusal::Kind kind, int request, int64_t found, int64_t bound) {
    refusal_ = {kind, request, found, bound};
    return false;
  }

  bool find_tiles(const Batch& batch) {
    int64_t mask = 0;
    int64_t q_start = batch.qo_indptr == nullptr ? 0 : batch.qo_indptr[0];
    const int64_t first_query = q_start;
    if (q_start < 0) return refuse(Refusal::kQueryOffsets, 0, q_start, 0);
    if (batch.requests > 0 && batch.kv_indptr[0] < 0) {
      return refuse(Refusal::kKeyOffsets, 0, batch.kv_indptr[0], 0);
    }
    tiles_.reserve(batch.requests);
    lengths_.reserve(batch.requests);
    for (int request = 0; request < batch.requests; ++request) {
      const int64_t q_end =
          batch.qo_indptr == nullptr ? q_start + batch.q_len : batch.qo_indptr[request + 1];
      const int64_t q_len = q_end - q_start;
      if (q_len < 0) return refuse(Refusal::kQueryOffsets, request, q_end, q_start);
      int64_t kv_len = 0;
      if (!find_length(batch, request, &kv_len)) return false;
      const int64_t rows = q_len * options_.group;
      const int64_t mask_bytes = options_.custom_mask ? (q_len * kv_len + 7) / 8 : 0;
      const int64_t most = std::max(std::max(rows, kv_len), std::max(q_end, mask + mask_bytes));
      if (most > INT_MAX - kMargin) return refuse(Refusal::kTooLong, request, most, INT_MAX);
      Tile tile = {};
      tile.item.request = request;
      tile.item.q_start = static_cast<int>(q_start);
      tile.item.q_len = static_cast<int>(q_len);
      tile.item.kv_start = batch.kv_indptr[request];
      tile.item.kv_len = static_cast<int>(kv_len);
      tile.item.mask = static_cast<int>(mask);
      add_tiles(tile, static_cast<int>(rows));
      mask += mask_bytes;
      q_start = q_end;
    }
    query_end_ = q_start;
    key_end_ = batch.kv_indptr[batch.requests];
    mask_end_ = mask;
    if (options_.most_queries > 0 && q_start - first_query > options_.most_queries) {
      return refuse(Refusal::kQueries, 0, q_start - first_query, options_.most_queries);
    }
    return true;
  }

  bool find_length(const Batch& batch, int request, int64_t* length) {
    const int64_t start = batch.kv_indptr[request];
    const int64_t count = batch.kv_indptr[request + 1] - start;
    if (count < 0) return refuse(Refusal::kKeyOffsets, request, start + count, start);
    *length = count;
    if (batch.page_size == 0) return true;
    if (batch.kv_lens != nullptr) {
      *length = batch.kv_lens[request];
      const bool fits = *length >= 0 && *length <= count * batch.page_size;
      return fits || refuse(Refusal::kLength, request, *length, count * batch.page_size);
    }
    if (count == 0) return true;
    const int64_t last = batch.last_page_len[request];
    *length = (count - 1) * batch.page_size + last;
    const bool fits = last >= 1 && last <= batch.page_size;
    return fits || refuse(Refusal::kLastPage, request, last, batch.page_size);
  }

  // Adds the tiles of a request, from the last one down.
  void add_tiles(Tile tile, int rows) {
    Item& item = tile.item;
    together_ |= rows > options_.rows;
    const bool hides = options_.causal || options_.window_left < item.kv_len;
    for (int end = rows; end > 0; end = item.row) {
      // Why asked first: most batches of decoding divide nothing.
      item.row = end <= options_.rows ? 0 : (end - 1) / options_.rows * options_.rows;
      tile.rows = end - item.row;
      item.begin = 0;
      item.end = item.kv_len;
      if (hides) hide(&item, end - 1);
      tiles_.push_back(tile);
      lengths_.push_back(item.end - item.begin);
    }
  }

  // Cuts the item's keys to those that some row up to `last_row` sees.
  void hide(Item* item, int last_row) const {
    const int64_t before = int64_t{item->kv_len} - item->q_len;  // keys before the first query
    const int64_t first = before + item->row / options_.group;
    const int64_t last = before + last_row / options_.group;
    if (options_.causal && last + 1 < item->kv_len) {
      item->end = static_cast<int>(std::max<int64_t>(last + 1, 0));
    }
    if (first > options_.window_left) {
      item->begin = static_cast<int>(std::min<int64_t>(first - options_.window_left, item->end));
    }
  }

  // Orders the tiles by these lengths, one for each tile.
  void order_by(const std::vector<int>& lengths) {
    if (together_) {
      order_requests(lengths);
      return;
    }
    order_.resize(tiles());
    for (int at = 0; at < tiles(); ++at) order_[at] = at;
    sort(lengths, tiles());
  }

  // Sorts the last `count` tiles of the order, the longest first.
  void sort(const std::vector<int>& lengths, int count) {
    const auto longer = [&](int a, int b) { return lengths[a] > lengths[b]; };
    if (!std::is_sorted(order_.end() - count, order_.end(), longer)) {
      std::stable_sort(order_.end() - count, order_.end(), longer);
    }
  }

  // Orders the tiles by request, as some requests have several.
  void order_requests(const std::vector<int>& lengths) {
    struct Run {
      int first;
      int count;
      int longest;
      int64_t total;
    };
    const int count = tiles();
    std::vector<Run> requests;
    requests.reserve(count);
    for (int at = 0; at < count; ++at) {
      const bool another = at == 0 || tiles_[at].item.request != tiles_[at - 1].item.request;
      if (another) requests.push_back({at, 0, 0, 0});
      Run& run = requests.back();
      ++run.count;
      run.longest = std::max(run.longest, lengths[at]);
      run.total += lengths[at] + kStart;
    }
    const auto longer = [](const Run& a, const Run& b) { return a.longest > b.longest; };
    if (!std::is_sorted(requests.begin(), requests.end(), longer)) {
      std::stable_sort(requests.begin(), requests.end(), longer);
    }
    order_.clear();
    order_.reserve(count);
    for (const Run& run : requests) {
      for (int i = 0; i < run.count; ++i) order_.push_back(run.first + i);
    }
    // The requests at the end that take as long as the longest of their tiles.
    int64_t total = 0;
    int mixed = 0;
    for (auto run = requests.rbegin(); run != requests.rend(); ++run) {
      if (total * options_.kv_heads >= int64_t{run->longest} * options_.slots && mixed > 0) break;
      total += run->total;
      mixed += run->count;
    }
    sort(lengths, mixed);
  }

  // The latest end of `count` items that take `total` together, and `longest` at most.
  double end_of(double longest, double total, int64_t count) const {
    const double slots = options_.slots;
    const int64_t waves = (count * options_.kv_heads + options_.slots - 1) / options_.slots;
    const double shared = total * options_.kv_heads / slots;
    return std::max(std::max(longest, shared), std::min(waves * longest, shared + longest));
  }

  // The latest end of the list in its order, without parts.
  double end_of_whole() const {
    const double share = static_cast<double>(options_.kv_heads) / options_.slots;
    double before = 0;
    double end = 0;
    double longest = 0;
    for (const int at : order_) {
      const double length = lengths_[at] + kStart;
      // The last of the item's blocks starts when the others of it have.
      end = std::max(end, before + length * share + length);
      before += length * share;
      longest = std::max(longest, length);
    }
    return std::min(end, end_of(longest, before / share, tiles()));
  }

  // The length of the parts of a tile of so many keys, none longer than `most`.
  static int even_part(int length, int most) {
    const int parts = (length - 1) / most + 1;
    const int even = (length - 1) / parts + 1;
    return (even + kMultiple - 1) / kMultiple * kMultiple;
  }

  static int parts_of(int length, int part) { return length > part ? (length - 1) / part + 1 : 1; }

  // The latest end with parts no longer than `most`; never (1e300) where there is no room for them.
  double end_of_parts(int most) const {
    double longest = 0;
    double total = 0;
    int64_t count = 0;
    int64_t split_into = 0;
    for (const int length : lengths_) {
      double cost = length + kStart;
      int parts = 1;
      if (length > most) {
        const int part = even_part(length, most);
        parts = parts_of(length, part);
        split_into += parts;
        cost = part + kStart + options_.rows / 2;
        total += length + parts * (cost - part);
      } else {
        total += cost;
      }
      count += parts;
      longest = std::max(longest, cost);
    }
    if (split_into > most_parts()) return 1e300;
    return end_of(longest, total, count) + kMerge;
  }

  static int multiple(int64_t length) {
    const int64_t up = (length + kMultiple - 1) / kMultiple * kMultiple;
    return static_cast<int>(std::min<int64_t>(std::max<int64_t>(up, kShortest), INT_MAX / 2));
  }

  // The shortest length of parts that makes no more items than this.
  int length_for(int64_t items, int64_t total, int longest) const {
    int low = multiple(total / items);
    int high = multiple(longest);
    while (low < high) {
      const int middle = (low + (high - low) / 2) / kMultiple * kMultiple;
      const double inverse = 1.0 / middle;
      int64_t count = 0;
      for (const int length : lengths_) count += static_cast<int>((length - 1) * inverse) + 1;
      if (count <= items) {
        high = middle;
      } else {
        low = middle + kMultiple;
      }
    }
    return high;
  }

  // The greatest length of a part, for all tiles; 0 where nothing is to be split.
  int best_length() const {
    int64_t total = 0;
    int longest = 0;
    for (const int length : lengths_) {
      total += length;
      longest = std::max(longest, length);
    }
    if (longest <= kShortest || most_parts() < 2) return 0;
    const double whole = end_of_whole();
    const int64_t shared = total * options_.kv_heads / options_.slots;
    if ((shared + kStart + kMerge) > whole * kWorth) return 0;
    double best = whole * kWorth;
    int best_length = 0;
    const auto attempt = [&](int length) {
      if (length >= longest) return;
      const double end = end_of_parts(length);
      if (end >= best) return;
      best = end;
      best_length = length;
    };
    for (int wave = 1; wave <= waves(); ++wave) {
      const int64_t items = int64_t{wave} * options_.slots / options_.kv_heads;
      if (items > tiles()) attempt(length_for(items, total, longest));
    }
    for (int wave = 1; wave <= waves(); wave *= 2) attempt(multiple(shared / wave));
    return best_length;
  }

  void split(int most) {
    if (most == 0) return;
    parts_.resize(lengths_.size());
    const bool fixed = options_.fixed_split > 0;
    for (size_t at = 0; at < lengths_.size(); ++at) {
      const int length = lengths_[at];
      parts_[at] = length <= most ? length : fixed ? most : even_part(length, most);
      if (length > most) part_length_ = std::max(part_length_, parts_[at]);
    }
    if (part_length_ > 0) order_by(parts_);
  }

  int part_of(int at) const { return part_length_ > 0 ? parts_[at] : lengths_[at]; }

  void measure() {
    int64_t items = 0;
    int64_t partial = 0;
    for (int at = 0; at < tiles(); ++at) {
      const int parts = parts_of(lengths_[at], part_of(at));
      items += parts;
      if (parts > 1) {
        ++sizes_.merges;
        partial += int64_t{parts} * tiles_[at].rows;
      }
    }
    if (std::max(items, partial) * options_.kv_heads > INT_MAX) {
      refuse(Refusal::kTooLong, 0, std::max(items, partial) * options_.kv_heads, INT_MAX);
      return;
    }
    sizes_.items = static_cast<int>(items);
    sizes_.partial_rows = static_cast<int>(partial);
  }

  void make_room(const Batch& batch) {
    const int64_t queries = options_.most_queries;
    const int64_t rows = batch.qo_indptr == nullptr ? int64_t{batch.q_len} * options_.group
                                                    : queries * options_.group;
    const int64_t tiles = batch.qo_indptr == nullptr
                              ? batch.requests * ((rows + options_.rows - 1) / options_.rows)
                              : rows / options_.rows + std::min<int64_t>(batch.requests, queries);
    const int64_t parts = most_parts();
    const int64_t partial = parts * std::min<int64_t>(options_.rows, rows);
    if (sizes_.items > tiles + parts) {
      refuse(Refusal::kItems, 0, sizes_.items, tiles + parts);
    } else if (sizes_.partial_rows > partial || sizes_.merges > parts / 2) {
      refuse(Refusal::kParts, 0, sizes_.partial_rows, partial);
    } else if ((tiles + parts) * options_.kv_heads > INT_MAX) {
      refuse(Refusal::kTooLong, 0, (tiles + parts) * options_.kv_heads, INT_MAX);
    } else {
      sizes_ = {static_cast<int>(tiles + parts), static_cast<int>(parts / 2),
                static_cast<int>(partial)};
    }
  }

  static constexpr int kMargin = 1024;  // a tile's last row and the keys of a block stay below 2^31

  PlanOptions options_;
  Refusal refusal_;
  PlanSizes sizes_;
  int64_t query_end_ = 0;
  int64_t key_end_ = 0;
  int64_t mask_end_ = 0;
  int part_length_ = 0;
  bool together_ = false;  // some request has several tiles
  std::vector<Tile> tiles_;
  std::vector<int> lengths_;  // of the tiles: keys
  std::vector<int> parts_;    // of the tiles: keys of a part
  std::vector<int> order_;    // of the tiles, in the list
};

}  // namespace fictl::attention
