// The requests of a batch whose lengths are on the device only: nothing of them is known when a
// kernel is launched, but how many there may be at most.
//
// What the lengths are is not checked on the host. Here they are cut to what the tensors hold, so
// that wrong ones lead to wrong results, but to no access beyond the tensors.
#pragma once

#include <limits.h>
#include <stdint.h>

#include <fictl/device/divisor.cuh>
#include <fictl/device/functions.cuh>

namespace fictl::attention {

struct Request {
  int q_start;  // among the tokens of all
  int q_len;
  int kv_start;  // the first token among those of all, or where the row of the page table begins
  int kv_len;
};

struct Requests {
  int count;
  const int32_t* kv_lens;    // [count]; null: from one of kv_starts to the next
  const int32_t* q_lens;     // [count]; null: from one of q_starts to the next
  const int32_t* q_starts;   // [count + 1], or [count] with q_lens; null: q_len of each request
  const int32_t* kv_starts;  // as q_starts; null: rows of a page table, `pitch` entries apart
  // Units of q_starts in a token; 1: they count tokens. Why divisors: divisions were a tenth of the
  // code of a kernel, and every block waits for its first lines.
  device::Divisor q_unit{1};
  device::Divisor kv_unit{1};
  int q_len;    // the most queries of a request
  int queries;  // tokens of all
  int keys;     // that a row of the page table has place for, or tokens of all
  int pitch;

  __device__ Request operator[](int at) const {
    Request request;
    request.q_start =
        clamped(q_starts == nullptr ? at * q_len : in_units(q_starts[at], q_unit), queries);
    int length = q_len;
    if (q_lens != nullptr) {
      length = q_lens[at];
    } else if (q_starts != nullptr) {
      length = in_units(q_starts[at + 1], q_unit) - request.q_start;
    }
    request.q_len = clamped(length, min(q_len, queries - request.q_start));
    const bool in_pages = kv_starts == nullptr;
    request.kv_start = in_pages ? at * pitch : clamped(in_units(kv_starts[at], kv_unit), keys);
    const int most = in_pages ? keys : keys - request.kv_start;
    request.kv_len = clamped(
        kv_lens != nullptr ? kv_lens[at] : in_units(kv_starts[at + 1], kv_unit) - request.kv_start,
        most);
    return request;
  }

 private:
  __device__ static int in_units(int number, const device::Divisor& unit) {
    return unit.divide(max(number, 0)).quotient;
  }
  __device__ static int clamped(int value, int most) { return max(0, min(value, most)); }
};

// Tells which keys queries of a request see, as span_of() has it.
struct Sight {
  int group;  // heads of queries to a head of keys
  bool causal;
  int window_left;  // INT_MAX: all

  struct Keys {
    int begin;
    int end;
  };

  // From the first key that some of these queries sees up to the last one.
  __device__ Keys of(const Request& request, int first_query, int last_query) const {
    const int before = request.kv_len - request.q_len;  // keys before the first query
    const int first = before + first_query;
    const int last = before + last_query;
    const int end = causal ? max(min(last + 1, request.kv_len), 0) : request.kv_len;
    return {first > window_left ? min(first - window_left, end) : 0, end};
  }
};

}  // namespace fictl::attention
