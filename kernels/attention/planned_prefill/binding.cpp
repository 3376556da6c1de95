#include <binding/ffi.h>

namespace fictl::attention {
void list_work(const Launch& launch, View items, View merges, const View* kv_lens,
               const View* q_lens, const View* q_starts, const View* kv_starts, int64_t requests,
               int64_t q_unit, int64_t kv_unit, int64_t q_len, int64_t queries, int64_t keys,
               int64_t pitch, int64_t rows, int64_t group, int64_t slots, int64_t window_left,
               bool causal, bool enable_pdl);
}  // namespace fictl::attention

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr DLDataType kUInt32{kDLUInt, 32, 1};

void list_work(std::string op, View workspace_items, View workspace_merges,
               tvm::ffi::Optional<View> kv_lens, tvm::ffi::Optional<View> q_lens,
               tvm::ffi::Optional<View> q_starts, tvm::ffi::Optional<View> kv_starts,
               int64_t requests, int64_t q_unit, int64_t kv_unit, int64_t q_len, int64_t queries,
               int64_t keys, int64_t pitch, int64_t rows, int64_t group, int64_t slots,
               int64_t window_left, bool causal, bool enable_pdl) {
  const char* name = op.c_str();
  fictl::check_device(name, "workspace_buffer", workspace_items);
  fictl::check_aligned(name, "workspace_buffer", workspace_items, 16);
  // Starts come with an end, but where lengths say where the last one ends.
  const bool has_lens[] = {true, true, q_lens.has_value(), kv_lens.has_value()};
  int at = 0;
  for (const auto& [argument, x] : {std::pair("kv_lens", &kv_lens),
                                    {"q_lens", &q_lens},
                                    {"q_starts", &q_starts},
                                    {"kv_starts", &kv_starts}}) {
    const bool is_length = has_lens[at++];
    if (!x->has_value()) continue;
    const View numbers = **x;
    fictl::check_same_device(name, argument, numbers, "workspace_buffer", workspace_items);
    fictl::check_dtype(name, argument, numbers, {fictl::kInt32, kUInt32});
    fictl::check_contiguous(name, argument, numbers);
    const int64_t least = is_length ? requests : requests + 1;
    const bool has_end = at > 2 && numbers.numel() == requests + 1;
    if (numbers.numel() != least && !has_end) {
      fictl::raise(fictl::argument_error(ErrorKind::ValueError, name, argument)
                   << "has shape " << Shape{numbers} << "; for " << requests << " requests it has "
                   << least << " elements");
    }
  }
  fictl::call(name, workspace_items, fictl::attention::list_work, workspace_items, workspace_merges,
              fictl::pointer(kv_lens), fictl::pointer(q_lens), fictl::pointer(q_starts),
              fictl::pointer(kv_starts), requests, q_unit, kv_unit, q_len, queries, keys, pitch,
              rows, group, slots, window_left, causal, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(list_work, list_work);
