// One definition with external linkage, included before each .cu of a release build.
//
// nvcc names what is local to a file, as kernels of an anonymous namespace, after the file's first
// such definition. A file without one, as one of template instances, gets nvcc's process id
// instead, and is another at each build.
#pragma once

extern "C" {
extern __attribute__((visibility("hidden"))) const char FICTL_UNIT;
const char FICTL_UNIT = 0;
}
