// A driver whose answers come from the environment: FAKE_CUDA_INIT, FAKE_CUDA_GPUS="90 120"; a UUID is
// sixteen times the byte of FAKE_CUDA_UUIDS="ab cd", or of the number.
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

static std::vector<int> gpus() {
  const char* text = std::getenv("FAKE_CUDA_GPUS");
  std::istringstream words(text ? text : "");
  std::vector<int> found;
  for (int number; words >> number;) found.push_back(number);
  return found;
}

extern "C" {
int cuInit(unsigned) {
  const char* text = std::getenv("FAKE_CUDA_INIT");
  return text ? std::atoi(text) : 0;
}
int cuDriverGetVersion(int* version) { return *version = 12040, 0; }
int cuDeviceGetCount(int* count) { return *count = static_cast<int>(gpus().size()), 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int size, int device) {
  std::string text = "NVIDIA Fake " + std::to_string(gpus()[device]);
  return std::strncpy(name, text.c_str(), size), 0;
}
#ifndef OLD_DRIVER
int cuDeviceGetUuid_v2(char* uuid, int device) {
  const char* text = std::getenv("FAKE_CUDA_UUIDS");
  std::istringstream words(text ? text : "");
  std::string word;
  int byte = gpus()[device];
  for (int i = 0; i <= device && words >> word; ++i) byte = std::stoi(word, nullptr, 16);
  return std::memset(uuid, byte, 16), 0;
}
#endif
int cuDeviceGetUuid(char* uuid, int) { return std::memset(uuid, 1, 16), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  int number = gpus()[device];
  return *value = attribute == 75 ? number / 10 : number % 10, 0;
}
int cuGetErrorName(int code, const char** name) {
  *name = code == 999 ? "CUDA_ERROR_UNKNOWN" : nullptr;
  return 0;
}
}
