#include <binding/channel.h>
#include <binding/launch.h>
#include <binding/norm_call.h>

#include <fictl/comm/all_reduce_norm.cuh>

namespace fictl::comm {

namespace {

template <typename T>
T* pointer_of(const View* x) {
  return x == nullptr ? nullptr : x->data<T>();
}

RowQuantization quantization_of(const NormCall& call, const View& residual, int vec_elements) {
  RowQuantization quantization;
  quantization.kind = static_cast<Quantizes>(call.quantizes);
  quantization.output = pointer_of<uint8_t>(call.quant_out);
  quantization.scales = pointer_of<void>(call.scale_out);
  quantization.scale = pointer_of<const float>(call.scale);
  if (quantization.kind == Quantizes::kGroups) {
    quantization.group_lanes = static_cast<int>(call.group_or_layout / vec_elements);
    quantization.column = call.scale_out->stride(1);
  } else if (quantization.kind == Quantizes::kFp4) {
    const auto layout = static_cast<quantization::ScaleLayout>(call.group_or_layout);
    constexpr int kBlock = quantization::NvFp4::kBlock;
    quantization.blocks =
        quantization::ScaleMatrix(layout, residual.size(0), residual.size(1) / kBlock);
  }
  return quantization;
}

template <typename T>
NormArguments<T> arguments_of(const NormCall& call, const View& residual, const View& gamma) {
  NormArguments<T> arguments;
  Contribution<T>& adds = arguments.contribution;
  adds.adds = static_cast<Adds>(call.adds);
  adds.input = pointer_of<const T>(call.input);
  adds.hidden = static_cast<int>(residual.size(1));
  adds.rows = residual.size(0);
  adds.experts = pointer_of<const T>(call.experts);
  adds.count = static_cast<int>(call.count);
  adds.scales = pointer_of<const void>(call.expert_scales);
  adds.scales_are_floats = call.expert_scales != nullptr && has_dtype<float>(*call.expert_scales);
  adds.places = pointer_of<const int32_t>(call.places);
  adds.factor = static_cast<float>(call.factor);
  arguments.residual_in = residual.data<const T>();
  arguments.gamma = gamma.data<const T>();
  arguments.sum_out = pointer_of<T>(call.sum_out);
  arguments.residual_out = pointer_of<T>(call.residual_out);
  arguments.norm_out = pointer_of<T>(call.norm_out);
  arguments.eps = static_cast<float>(call.eps);
  arguments.weight_bias = static_cast<float>(call.weight_bias);
  arguments.inverse_hidden = 1.0f / static_cast<float>(residual.size(1));
  arguments.quantization = quantization_of(call, residual, Contribution<T>::N);
  return arguments;
}

}  // namespace

void all_reduce_norm(const Launch& launch, View residual, View gamma, const NormCall& call,
                     const ChannelArguments& how, bool triggers_early, bool enable_pdl) {
  const ChannelOf channel(launch, how);
  DISPATCH_DTYPE(launch, residual, T, (__half, __nv_bfloat16, float), {
    const cudaError_t status =
        AllReduceNorm(arguments_of<T>(call, residual, gamma), channel.peers, channel.sizes,
                      channel.exchange, launch.stream, launch.pdl && enable_pdl, triggers_early);
    if (status == cudaErrorInvalidConfiguration) {
      throw argument_error(ErrorKind::NotImplementedError, launch.op, "residual")
          << "has rows of " << residual.size(1) << " elements; this GPU takes up to "
          << most_hidden<T>();
    }
    channel.check(launch, status);
  });
}

}  // namespace fictl::comm
