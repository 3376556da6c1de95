// A driver of one GPU that can be divided. Handles are numbers of multiprocessors. FAKE_SMS has the
// GPU's, in groups of 8.
#include <stdlib.h>
#include <string.h>

struct Resource {
  int type;
  unsigned char padding[92];
  unsigned sm_count, least, multiple;
  unsigned char rest[36];
};
static_assert(sizeof(Resource) == 144, "as CUdevResource is");

static Resource resource(unsigned sms) {
  Resource made;
  memset(&made, 0, sizeof(made));
  made.type = sms ? 1 : 0;
  made.sm_count = sms;
  made.padding[91] = sms ? 7 : 0;  // Of the driver; it must come back.
  return made;
}

static bool whole(const Resource* input) { return input->type == 1 && input->padding[91] == 7; }

// A resource that came from a split has no such mark: it must pass a context first.
static Resource split_off(unsigned sms) {
  Resource made = resource(sms);
  made.padding[0] = 1;
  return made;
}

extern "C" {
int cuInit(unsigned) { return 0; }
int cuGetErrorName(int code, const char** name) {
  *name = code == 915 ? "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION" : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return index == 0 ? 0 : 101;
}
int cuDeviceGetDevResource(int device, Resource* found, int type) {
  *found = resource(atoi(getenv("FAKE_SMS")));
  return device == 0 && type == 1 ? 0 : 1;
}
int cuDevSmResourceSplitByCount(Resource* parts, unsigned* groups, const Resource* input,
                                Resource* rest, unsigned flags, unsigned least) {
  if (!whole(input) || input->padding[0] != 0 || flags != 0) return 914;
  if (least > input->sm_count) return 1;
  const unsigned count = (least < 8 ? 8 : (least + 7) / 8 * 8);
  unsigned created = input->sm_count / count;
  if (created > *groups) created = *groups;
  if (created == 0) return 915;
  for (unsigned i = 0; i < created; ++i) parts[i] = split_off(count);
  *groups = created;
  *rest = split_off(input->sm_count - created * count);
  return 0;
}
int cuDevResourceGenerateDesc(void** description, const Resource* resources, unsigned count) {
  *description = reinterpret_cast<void*>(static_cast<unsigned long>(resources->sm_count));
  return whole(resources) && count == 1 ? 0 : 914;
}
int cuGreenCtxCreate(void** context, void* description, int device, unsigned flags) {
  *context = description;
  return device == 0 && flags == 1 ? 0 : 1;
}
int cuGreenCtxGetDevResource(void* context, Resource* found, int type) {
  *found = resource(static_cast<unsigned>(reinterpret_cast<unsigned long>(context)));
  return type == 1 ? 0 : 1;
}
#ifndef OLD_DRIVER
int cuGreenCtxStreamCreate(void** stream, void* context, unsigned flags, int priority) {
  *stream = reinterpret_cast<void*>(reinterpret_cast<unsigned long>(context) << 40);
  return flags == 1 && priority == 0 ? 0 : 1;
}
#endif
}
