fictl::Error error_about(const char* name) {
  return fictl::argument_error(ErrorKind::ValueError, kOp, name);
}

void check_size(const char* name, View x, int dim, const char* other_name, View other,
                int other_dim) {
  if (x.size(dim) == other.size(other_dim)) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x} << "; its dimension " << dim
                                 << " is dimension " << other_dim << " of '" << other_name
                                 << "', which has shape " << Shape{other});
}

// Rows are copied 16 bytes at a time.
void check_aligned_rows(const char* name, View x) {
  constexpr int kBytes = 16;
  const int size = x.dtype().bits / 8;
  const int64_t pitch = x.size(0) > 1 ? x.stride(0) * size : 0;
  if (x.numel() == 0) return;
  if (pitch % kBytes != 0) {
    fictl::raise(error_about(name)
                 << "has rows " << pitch << " bytes apart, which is not a multiple of " << kBytes
                 << "; pad them: torch.nn.functional.pad(" << name << ", (0, -" << name
                 << ".shape[1] % " << kBytes / size << "))");
  }
  fictl::check_aligned(kOp, name, x, kBytes);
}
