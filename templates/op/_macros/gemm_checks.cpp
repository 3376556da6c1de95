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

void check_neighbours(const char* name, View x) {
  if (x.size(1) <= 1 || x.stride(1) == 1) return;
  fictl::raise(error_about(name) << "has strides " << Strides{x}
                                 << ": the elements of a row are not neighbours; pass " << name
                                 << ".contiguous()");
}

// For copies of 16 bytes.
void check_aligned(const char* name, View x) {
  constexpr int kBytes = 16;
  const int size = x.dtype().bits / 8;
  const int64_t pitch = x.size(0) > 1 ? x.stride(0) * size : 0;
  if (x.numel() == 0) return;
  if (pitch % kBytes != 0) {
    fictl::raise(error_about(name)
                 << "has rows " << pitch << " bytes apart, which is no multiple of " << kBytes
                 << "; pad them: torch.nn.functional.pad(" << name << ", (0, -" << name
                 << ".shape[1] % " << kBytes / size << "))");
  }
  if (reinterpret_cast<uintptr_t>(x.data<void>()) % kBytes != 0) {
    fictl::raise(error_about(name) << "begins at an address that is no multiple of " << kBytes
                                   << " bytes; pass " << name << ".clone()");
  }
}

void check_no_overlap(const char* name, View x) {
  if (x.size(0) <= 1 || x.stride(0) >= x.size(1)) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x} << " and strides " << Strides{x}
                                 << ": its rows overlap; pass a contiguous " << name);
}
