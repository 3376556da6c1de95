// The dimension of a matrix product's operand that is contiguous.
#pragma once

namespace fictl::device {

enum class Major {
  kK,   // each row of M or N runs along k
  kMN,  // columns do: the operand is [k][rows]
};

}  // namespace fictl::device
