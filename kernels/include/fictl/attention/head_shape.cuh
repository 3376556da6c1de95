// Sizes of heads, of queries and keys, and of values; and the columns that they take in tiles.
//
// A tile's rows are as many columns as tensor cores take in steps; those beyond a head's elements
// are zeros. A head of more values than one block has registers for is shared out to blocks. Each
// computes all scores, and sums up its own part of the values. Parts are equally long: where the
// elements do not divide, the second starts earlier, and some elements are computed twice.
#pragma once

#include <type_traits>

namespace fictl::attention {

// Sizes of heads of queries and keys, and of values.
struct HeadDims {
  int keys;
  int values;

  constexpr bool are_within(int most_of_keys, int most_of_values) const {
    return keys <= most_of_keys && values <= most_of_values;
  }
};

// The size of a head of values: Config::kValueDim, or that of queries and keys where it has none.
template <typename Config, typename = void>
constexpr int kValueDimOf = Config::kHeadDim;

template <typename Config>
constexpr int kValueDimOf<Config, std::void_t<decltype(Config::kValueDim)>> = Config::kValueDim;

// Values that one block sums up in its registers.
constexpr int kMostValuesOfBlock = 256;

constexpr int value_parts(int value_dim) {
  return (value_dim + kMostValuesOfBlock - 1) / kMostValuesOfBlock;
}

constexpr int rounded_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The heads of a Config in tiles whose rows are multiples of kStep columns.
template <typename Config, int kStep>
struct HeadShape {
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(typename Config::Keys::Element));
  static constexpr int kDim = Config::kHeadDim;
  static constexpr int kValueDim = kValueDimOf<Config>;
  static_assert(kDim % kChunk == 0 && kValueDim % kChunk == 0,
                "heads are of whole chunks of 16 bytes");

  // Blocks that share out a head of values, and the values of each.
  static constexpr int kParts = value_parts(kValueDim);
  static constexpr int kValues = rounded_up((kValueDim + kParts - 1) / kParts, kChunk);
  static_assert(kParts <= 2, "the second part ends with the head");
  static constexpr int kPartStep = kValueDim - kValues;

  static constexpr int kColumns = rounded_up(kDim, kStep);
  static constexpr int kValueColumns = rounded_up(kValues, kStep);
};

}  // namespace fictl::attention
