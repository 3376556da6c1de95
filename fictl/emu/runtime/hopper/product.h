// The arithmetic of one wgmma: 64 rows of A times N columns of B, 32 bytes deep.
#pragma once

#include "elements.h"

namespace fictl_emu {

struct Product {
  static constexpr int kRows = 64, kMostColumns = 256, kBytes = 32;

  struct Types {
    ptx::Element a, b;
    ptx::Accumulator sums;
  };

  // As in memory, but one row after the other and along k.
  alignas(16) uint8_t a_bytes[kRows][kBytes];
  alignas(16) uint8_t b_bytes[kMostColumns][kBytes];  // a row for each column of B

  // sums[64][columns] = (sums +) A B, or with -A B. They are integers or floats; those of
  // halves are rounded to what a half holds.
  void multiply(const Types& types, int columns, bool adds, bool negates, uint32_t* sums);

 private:
  void decode(const Types& types, int columns, bool negates);

  int depth_;
  float a_[kRows * kBytes];
  float b_rows_[kMostColumns * kBytes];
  ptx::Floats b_[kMostColumns / ptx::kVector * kBytes];  // for each eight columns: along k
  float sums_[kRows * kMostColumns];
};

}  // namespace fictl_emu
