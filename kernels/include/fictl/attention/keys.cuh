// Where the keys and the values of a position are: tokens of all requests behind one another
// (ragged), or slots of pages.
#pragma once

#include <fictl/device/paged.cuh>

namespace fictl::attention {

// Rows of heads of tokens; distances in elements.
template <typename T>
struct Heads {
  T* data;
  int64_t token_pitch;
  int64_t head_pitch;

  __device__ T* row(int64_t token, int head) const {
    return data + token * token_pitch + head * head_pitch;
  }
};

// Keys of all requests behind one another. `start` is the request's first token.
template <typename T>
struct RaggedKeys {
  using Element = T;
  static constexpr bool kItemNamesHead = false;  // an item is for every head of the keys

  Heads<const T> k;
  Heads<const T> v;

  // Where a position is, found once for its key and its value.
  struct At {
    int64_t token;
  };
  __device__ At find(int start, int position) const { return {int64_t{start} + position}; }
  __device__ const T* key(At at, int head) const { return k.row(at.token, head); }
  __device__ const T* value(At at, int head) const { return v.row(at.token, head); }
};

// Keys in pages. `start` is where the request's pages begin among the indices of all.
template <typename T>
struct PagedKeys {
  using Element = T;
  static constexpr bool kItemNamesHead = false;

  device::PagedRows<const T> k;
  device::PagedRows<const T> v;
  const int32_t* pages = nullptr;
  device::Divisor page_size{1};
  int64_t page_count = 0;  // entries of `pages`, of which kernels ask ahead; 0 where nobody says

  using At = device::PageSlot;
  __device__ At find(int start, int position) const {
    const device::Divisor::Result at = page_size.divide(position);
    return {pages[start + at.quotient], at.remainder};
  }
  __device__ const T* key(At at, int head) const { return k.row(at, head); }
  __device__ const T* value(At at, int head) const { return v.row(at, head); }
};

// The same where values have pages of their own, whose indices are `apart` entries after the keys'.
template <typename T>
struct OwnPagedKeys : PagedKeys<T> {
  int64_t apart = 0;

  struct At {
    device::PageSlot key;
    int64_t value_page;
  };
  __device__ At find(int start, int position) const {
    const device::Divisor::Result at = this->page_size.divide(position);
    const int64_t entry = int64_t{start} + at.quotient;
    return {{this->pages[entry], at.remainder}, this->pages[entry + apart]};
  }
  __device__ const T* key(At at, int head) const { return this->k.row(at.key, head); }
  __device__ const T* value(At at, int head) const {
    return this->v.row({at.value_page, at.key.slot}, head);
  }
};

}  // namespace fictl::attention
