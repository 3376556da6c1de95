// A paged KV cache: memory in pages of page_size slots, and a table of the pages of each request.
// The position p of a request is slot p % page_size of its page p / page_size.
//
// A slot has a row for every head. Which of slots and heads come first in a page (NHD or HND), and
// whether keys and values share a tensor, only changes the strides.
#pragma once

#include <fictl/device/divisor.cuh>
#include <fictl/device/indices.cuh>

namespace fictl::device {

struct PageSlot {
  int64_t page;
  int slot;
};

struct PageTable {
  Indices pages;   // of one request after the other
  Indices starts;  // where those of a request begin in `pages`
  Divisor page_size{1};

  __device__ PageSlot find(int request, int position) const {
    const Divisor::Result at = page_size.divide(position);
    return {pages[starts[request] + at.quotient], at.remainder};
  }
};

// The rows of the keys or of the values; strides in elements.
template <typename T>
struct PagedRows {
  T* data;
  int64_t page_pitch;
  int64_t slot_pitch;
  int64_t head_pitch;

  __device__ T* row(PageSlot at, int head) const {
    return data + at.page * page_pitch + at.slot * slot_pitch + head * head_pitch;
  }
};

}  // namespace fictl::device
