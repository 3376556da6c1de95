// The keys of a batch's tiles, shared out evenly to workers: blocks that stay and take one piece of
// work after the other.
//
// Algorithm: workers take the tiles in their order, each up to a capacity. A tile that exceeds what
// is left of one is cut, and the next worker goes on with it. So no worker has more than two cut
// tiles, but for those within one tile. The capacity is the least at which the workers suffice, to
// within some keys.
//
// Why even: all blocks of a GPU run at once and read at one rate, as the memory is what they wait
// for. Those with as many keys end together, and start only once.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace fictl::attention {

class Shares {
 public:
  // Keys of a tile from its `first` one on.
  struct Piece {
    int tile;
    int first;
    int length;
    int worker;
  };

  // A cut leaves no piece shorter than this. Pieces begin at multiples of what a warp takes at
  // once.
  static constexpr int kShortest = 128;
  static constexpr int kMultiple = 16;

  // `start` is what the start of a piece costs, in keys.
  Shares(const std::vector<int>& lengths, int workers, int start)
      : lengths_(lengths), workers_(workers), start_(start) {
    capacity_ =
        std::max<int64_t>(at_least(lengths, workers, start), 2 * kShortest + kMultiple + start);
    pieces_.reserve(lengths.size() + workers);
    while (!deal()) capacity_ += kStep;
  }

  // The lower bound of capacity().
  static int64_t at_least(const std::vector<int>& lengths, int workers, int start) {
    int64_t total = 0;
    for (const int length : lengths) total += length + start;
    return (total + workers - 1) / workers;
  }

  // The end of whole tiles, in keys, if each worker takes the next in `order` as soon as it is
  // free.
  static int64_t end_of_whole(const std::vector<int>& lengths, const std::vector<int>& order,
                              int workers, int start) {
    std::vector<int64_t> ends(workers, 0);
    const auto earliest = std::greater<int64_t>();
    for (const int tile : order) {
      std::pop_heap(ends.begin(), ends.end(), earliest);
      ends.back() += lengths[tile] + start;
      std::push_heap(ends.begin(), ends.end(), earliest);
    }
    return *std::max_element(ends.begin(), ends.end());
  }

  // The keys of the worker that has most, with the starts of its pieces.
  int64_t capacity() const { return capacity_; }
  // In the order of workers, and of the keys of a tile.
  const std::vector<Piece>& pieces() const { return pieces_; }
  int workers() const { return pieces_.empty() ? 0 : pieces_.back().worker + 1; }

 private:
  static constexpr int kStep = 16;

  // Shares out the keys; false where the workers have no room for them.
  bool deal() {
    pieces_.clear();
    int worker = 0;
    int64_t left = capacity_;
    for (int tile = 0; tile < static_cast<int>(lengths_.size()); ++tile) {
      int first = 0;
      int rest = lengths_[tile];
      while (rest + start_ > left) {
        const int length = cut(rest, left - start_);
        if (length > 0) pieces_.push_back({tile, first, length, worker});
        first += length;
        rest -= length;
        left = capacity_;
        if (++worker == workers_) return false;
      }
      pieces_.push_back({tile, first, rest, worker});
      left -= rest + start_;
    }
    return true;
  }

  // The keys that a worker takes of `rest`, with room for so many; 0: too few to be worth it.
  static int cut(int rest, int64_t room) {
    const int64_t most = std::min<int64_t>(room, rest - kShortest);
    return most < kShortest ? 0 : static_cast<int>(most / kMultiple * kMultiple);
  }

  const std::vector<int>& lengths_;
  int workers_;
  int start_;
  int64_t capacity_;
  std::vector<Piece> pieces_;
};

}  // namespace fictl::attention
