// A matrix product as kernels take it, from the arguments of a call: what launchers include.
#pragma once

#include <binding/gemm_call.h>

#include <fictl/gemm/epilogue.cuh>
#include <fictl/gemm/problem.cuh>

namespace fictl {

namespace detail {

// A stride, or 0 for a dimension of one element, where it means nothing.
inline int64_t gemm_stride(View x, int dim) { return x.size(dim) > 1 ? x.stride(dim) : 0; }

inline int64_t gemm_batch_stride(View x) { return x.ndim() == 3 ? gemm_stride(x, 0) : 0; }

}  // namespace detail

// A problem without tensors, to ask for the size of its workspace.
template <typename T, typename Out>
gemm::GemmProblem<T, Out> gemm_problem(const GemmSizes& sizes) {
  gemm::GemmProblem<T, Out> problem = {};
  // Null is aligned.
  const auto somewhere = [](bool aligned) {
    return reinterpret_cast<const T*>(static_cast<uintptr_t>(aligned ? 0 : sizeof(T)));
  };
  problem.a = somewhere(sizes.a_aligned);
  problem.b = somewhere(sizes.b_aligned);
  problem.batch = static_cast<int>(sizes.batch);
  problem.m = static_cast<int>(sizes.m);
  problem.n = static_cast<int>(sizes.n);
  problem.k = static_cast<int>(sizes.k);
  problem.a_batch = sizes.a_batch;
  problem.a_row = sizes.a_row;
  problem.a_k = sizes.a_k;
  problem.b_batch = sizes.b_batch;
  problem.b_row = sizes.b_row;
  problem.b_k = sizes.b_k;
  problem.sm_count = static_cast<int>(sizes.sms);
  return problem;
}

template <typename T, typename Out>
gemm::GemmProblem<T, Out> gemm_problem(const Launch& launch, const GemmCall& call) {
  GemmSizes sizes = {};
  sizes.batch = call.a.ndim() == 3 ? call.a.size(0) : 1;
  sizes.m = call.a.size(-2);
  sizes.n = call.b.size(-2);
  sizes.k = call.a.size(-1);
  sizes.a_batch = detail::gemm_batch_stride(call.a);
  sizes.a_row = detail::gemm_stride(call.a, -2);
  sizes.a_k = detail::gemm_stride(call.a, -1);
  sizes.b_batch = detail::gemm_batch_stride(call.b);
  sizes.b_row = detail::gemm_stride(call.b, -2);
  sizes.b_k = detail::gemm_stride(call.b, -1);
  auto problem = gemm_problem<T, Out>(sizes);
  problem.a = call.a.data<const T>();
  problem.b = call.b.data<const T>();
  problem.d = call.out.data<Out>();
  problem.d_row = detail::gemm_stride(call.out, -2);
  problem.d_batch = detail::gemm_batch_stride(call.out);
  if (call.workspace != nullptr) {
    problem.workspace = call.workspace->data<void>();
    problem.workspace_bytes = call.workspace->numel();
  }
  const bool limited = call.num_sms > 0 && call.num_sms < launch.sm_count;
  problem.sm_count = limited ? static_cast<int>(call.num_sms) : launch.sm_count;
  problem.limited = limited;
  return problem;
}

// Refuses a workspace without room for copies of operands. Why it may be: torch.compile asks for
// its size before there are addresses, and takes them to be multiples of 16 bytes.
template <typename T, typename Out>
void check_workspace(const Launch& launch, const GemmCall& call,
                     const gemm::GemmProblem<T, Out>& problem, int64_t needed) {
  if (problem.workspace_bytes >= needed) return;
  const bool a_starts = reinterpret_cast<uintptr_t>(problem.a) % 16 != 0;
  const char* name = a_starts ? call.a_name : call.b_name;
  throw argument_error(ErrorKind::ValueError, launch.op, name)
      << "needs a copy, as its first element is not at a multiple of 16 bytes, and the workspace "
         "has "
      << problem.workspace_bytes << " of " << needed << " bytes; inside torch.compile pass " << name
      << ".clone()";
}

// The DenseEpilogue of a call, where C is of the outputs' dtype and bias of the operands'. A kernel
// that reads C finds it in out where the call has none.
template <typename Epilogue, typename T, typename Out>
Epilogue dense_epilogue(const GemmCall& call) {
  Epilogue epilogue = {};
  epilogue.alpha = static_cast<float>(call.alpha);
  epilogue.beta = static_cast<float>(call.beta);
  epilogue.n = static_cast<int>(call.b.size(-2));
  epilogue.pairs_aligned = true;
  if (call.bias != nullptr) {
    epilogue.bias = call.bias->data<const T>();
    epilogue.pairs_aligned &= gemm::pairs_aligned(epilogue.bias, 0, 0);
  }
  if (Epilogue::kReadsC) {
    const View c = call.c == nullptr ? call.out : *call.c;
    epilogue.c = c.data<const Out>();
    epilogue.c_row = detail::gemm_stride(c, -2);
    epilogue.c_batch = detail::gemm_batch_stride(c);
    epilogue.pairs_aligned &= gemm::pairs_aligned(epilogue.c, epilogue.c_row, epilogue.c_batch);
  }
  return epilogue;
}

}  // namespace fictl
