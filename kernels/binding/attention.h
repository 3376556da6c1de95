// The attention call that the bindings of attention modules export.
#pragma once

#include <binding/attention_call.h>
#include <binding/attention_checks.h>
#include <binding/ffi.h>
#include <binding/unstacked.h>

namespace fictl {

// `launcher` takes the call as it is, and throws if it does not fit the module's configuration. As
// both k and v, a cache may come that stacks them.
template <void (*launcher)(const Launch&, AttentionCall)>
void attend(std::string op, View out, ::tvm::ffi::Optional<View> lse, View q, View k, View v,
            ::tvm::ffi::Optional<View> pages, int64_t page_size, bool hnd, View items, View merges,
            ::tvm::ffi::Optional<View> host_list, ::tvm::ffi::Optional<View> workspace_out,
            ::tvm::ffi::Optional<View> workspace_lse, ::tvm::ffi::Optional<View> mask,
            ::tvm::ffi::Optional<View> slopes, ::tvm::ffi::Optional<View> sinks,
            ::tvm::ffi::Optional<View> scale_q, ::tvm::ffi::Optional<View> scale_k,
            ::tvm::ffi::Optional<View> scale_v, double sm_scale, double v_scale, double soft_cap,
            int64_t window_left, bool causal, double rope_scale, double rope_theta,
            ::tvm::ffi::Optional<View> host_scalars, bool enable_pdl, int64_t most_sms) {
  const char* name = op.c_str();
  check_device(name, "q", q);
  const auto beside_q = [&](const char* argument, View x) {
    check_same_device(name, argument, x, "q", q);
  };
  beside_q("out", out);
  beside_q("k", k);
  beside_q("v", v);
  beside_q("items", items);
  beside_q("merges", merges);
  for (const auto& [argument, x] : {std::pair("lse", &lse),
                                    {"pages", &pages},
                                    {"workspace_out", &workspace_out},
                                    {"workspace_lse", &workspace_lse},
                                    {"mask", &mask},
                                    {"slopes", &slopes},
                                    {"sinks", &sinks},
                                    {"scale_q", &scale_q},
                                    {"scale_k", &scale_k},
                                    {"scale_v", &scale_v}}) {
    if (x->has_value()) beside_q(argument, **x);
  }
  check_dim(name, "q", q, 3);
  if (out.ndim() != 3 || out.size(0) != q.size(0) || out.size(1) != q.size(1)) {
    raise(argument_error(ErrorKind::ValueError, name, "out")
          << "has shape " << Shape{out} << ", 'q' has " << Shape{q}
          << "; but for the last dimension, which is that of values, they are equal");
  }
  check_no_overlap(name, "out", out);
  check_sinks(name, sinks, q.size(1));
  const Unstacked keys(k, 0), values(v, 1);
  const AttentionCall arguments{out,
                                pointer(lse),
                                q,
                                keys.view,
                                values.view,
                                pointer(pages),
                                page_size,
                                hnd,
                                items,
                                merges,
                                pointer(host_list),
                                pointer(workspace_out),
                                pointer(workspace_lse),
                                pointer(mask),
                                pointer(slopes),
                                pointer(sinks),
                                pointer(scale_q),
                                pointer(scale_k),
                                pointer(scale_v),
                                sm_scale,
                                v_scale,
                                soft_cap,
                                window_left,
                                causal,
                                rope_scale,
                                rope_theta,
                                pointer(host_scalars),
                                enable_pdl,
                                most_sms};
  call(name, q, launcher, arguments);
}

}  // namespace fictl
