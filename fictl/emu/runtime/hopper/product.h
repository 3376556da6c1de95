// The arithmetic of one wgmma: 64 rows of A times N columns of B, 32 bytes deep, as floats.
#pragma once

#include "../elements.h"

namespace fictl_emu {

struct Product {
  static constexpr int kRows = 64, kMostColumns = 256, kBytes = 32;

  // As in memory, but one row after the other and along k.
  alignas(16) uint8_t a_bytes[kRows][kBytes];
  alignas(16) uint8_t b_bytes[kMostColumns][kBytes];  // a row for each column of B

  // sums[64][columns] (+)= A B, or minus it. For integers the caller adds: it starts at zero.
  void multiply(ptx::Element a_type, ptx::Element b_type, int columns, bool negates, float* sums);

 private:
  void decode(ptx::Element a_type, ptx::Element b_type, int columns, bool negates);

  int depth_;
  float a_[kRows * kBytes];
  float b_rows_[kMostColumns * kBytes];
  ptx::Floats b_[kMostColumns / ptx::kVector * kBytes];  // for each eight columns: along k
};

}  // namespace fictl_emu
