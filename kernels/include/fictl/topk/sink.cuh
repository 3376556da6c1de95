// The outputs of a row's chosen elements: values and indices, or translated indices, with values or
// without.
#pragma once

#include <fictl/device/indices.cuh>
#include <fictl/topk/key.cuh>

namespace fictl::topk {

// Rows of entries, one entry per page, at a row stride (pitch).
struct PageTable {
  const int32_t* data = nullptr;
  int64_t pitch = 0;
  int rows = 0;
  int cols = 0;
  int page_bits = 0;             // of log2 of the elements of a page
  device::Indices row_to_batch;  // without, a row is that of the table
  device::Indices starts;        // the first entry of each row; without, it is 0
};

// The outputs; a null pointer is for one that is not asked for.
template <typename T>
struct Sink {
  T* values = nullptr;
  int64_t* indices = nullptr;
  int32_t* out = nullptr;  // translated indices
  int32_t* raw = nullptr;  // the same before
  int64_t values_pitch = 0;
  int64_t indices_pitch = 0;
  int64_t out_pitch = 0;
  int64_t raw_pitch = 0;
  device::Indices offsets;  // for each row, without a page table; without, 0
  bool has_pages = false;
  PageTable pages;
};

// The outputs of one row.
template <typename T>
class RowSink {
 public:
  __device__ RowSink(const Sink<T>& sink, int64_t row)
      : values_(sink.values == nullptr ? nullptr : sink.values + row * sink.values_pitch),
        indices_(sink.indices + row * sink.indices_pitch),
        out_(sink.out + row * sink.out_pitch),
        raw_(sink.raw == nullptr ? nullptr : sink.raw + row * sink.raw_pitch),
        has_pairs_(sink.out == nullptr),
        has_pages_(sink.has_pages),
        page_bits_(sink.pages.page_bits) {
    if (has_pages_) {
      const PageTable& pages = sink.pages;
      const int batch =
          pages.row_to_batch.data == nullptr ? static_cast<int>(row) : pages.row_to_batch[row];
      const bool there = batch >= 0 && batch < pages.rows;
      table_ = pages.data + (there ? batch * pages.pitch : 0);
      cols_ = there ? pages.cols : 0;
      offset_ = pages.starts.data == nullptr ? 0 : pages.starts[row];
    } else if (sink.offsets.data != nullptr) {
      offset_ = sink.offsets[row];
    }
  }

  // False where put() looks at no key.
  __device__ bool has_values() const { return values_ != nullptr; }

  __device__ void put(int at, uint32_t key, int index) const {
    if (has_values()) values_[at] = value_of<T>(key);
    if (has_pairs_) {
      indices_[at] = index;
      return;
    }
    out_[at] = has_pages_ ? in_pages(index) : offset_ + index;
    if (raw_ != nullptr) raw_[at] = index;
  }

  __device__ void put_none(int at) const {
    if (has_values()) values_[at] = device::Element<T>::from_float(0.0f);
    out_[at] = -1;
    if (raw_ != nullptr) raw_[at] = -1;
  }

 private:
  // Without an entry in the table there is none.
  __device__ int in_pages(int index) const {
    const int64_t entry = int64_t{offset_} + (index >> page_bits_);
    if (entry < 0 || entry >= cols_) return -1;
    const uint32_t page = static_cast<uint32_t>(table_[entry]);
    return static_cast<int>(page << page_bits_ | (index & ((1u << page_bits_) - 1)));
  }

  T* values_;
  int64_t* indices_;
  int32_t* out_;
  int32_t* raw_;
  const int32_t* table_ = nullptr;
  int cols_ = 0;
  int offset_ = 0;
  bool has_pairs_;
  bool has_pages_;
  int page_bits_;
};

}  // namespace fictl::topk
