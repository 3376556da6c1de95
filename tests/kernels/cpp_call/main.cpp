// Loads a module of fictl's cache, as `fictl cache path` and the manifest beside it name it, and
// calls its function `scale` on memory of this program: no Python, no torch.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/module.h>

#include <cstdint>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto module = tvm::ffi::Module::LoadFromFile(argv[1]);
  const auto scale = module->GetFunction("scale").value();

  std::vector<float> input(1000), out(input.size());
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i);
  int64_t shape[] = {static_cast<int64_t>(input.size())};
  int64_t strides[] = {1};
  const auto tensor = [&](std::vector<float>& values) {
    return DLTensor{values.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, strides, 0};
  };
  DLTensor x = tensor(input), y = tensor(out);
  scale(&y, &x, 2.0);

  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] != 2.0f * input[i]) {
      std::cerr << "out[" << i << "] is " << out[i] << "\n";
      return 1;
    }
  }
  // What the binding refuses is an exception here.
  x.device.device_type = kDLCUDA;
  try {
    scale(&y, &x, 2.0);
  } catch (const tvm::ffi::Error& error) {
    std::cout << error.kind() << ": " << error.message() << "\n";
    return 0;
  }
  return 1;
}
