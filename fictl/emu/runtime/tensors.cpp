#include "tensors.h"
#include "system.h"

#include <algorithm>
#include <iterator>

namespace fictl_emu::check {

namespace {

// Memory that the next launch may access. Other threads may change it while a kernel runs.
Mutex mutex;
uint64_t version = 0;
std::vector<Tensor> watched;
std::vector<Tensor> given_out;
std::vector<Tensor> taken_back;  // the latest of them
constexpr size_t kMostTakenBack = 64;

bool overlap(const Tensor& a, const Tensor& b) {
  return a.begin() < b.end() && b.begin() < a.end();
}

Tensor allocation(void* data, size_t bytes) {
  const int64_t shape = static_cast<int64_t>(bytes), stride = 1;
  return Tensor({data, "memory of cudaMalloc()", 1, 1, &shape, &stride, 1});
}

const char* aligned(const char* address) {
  constexpr uintptr_t kWidestGranule = 4;
  return address - reinterpret_cast<uintptr_t>(address) % kWidestGranule;
}

unsigned granule_log2(size_t itemsize) { return itemsize >= 4 ? 2 : itemsize >= 2 ? 1 : 0; }

}  // namespace

void allocated(void* data, size_t bytes) {
  const Lock lock(mutex);
  given_out.push_back(allocation(data, bytes));
  const auto reused = [](const Tensor& old) { return overlap(old, given_out.back()); };
  taken_back.erase(std::remove_if(taken_back.begin(), taken_back.end(), reused), taken_back.end());
  ++version;
}

void freed(void* data) {
  const Lock lock(mutex);
  const auto is_it = [data](const Tensor& tensor) { return tensor.begin() == data; };
  if (taken_back.size() == kMostTakenBack) taken_back.erase(taken_back.begin());
  std::copy_if(given_out.begin(), given_out.end(), std::back_inserter(taken_back), is_it);
  given_out.erase(std::remove_if(given_out.begin(), given_out.end(), is_it), given_out.end());
  ++version;
}

bool was_freed(const char* address) {
  const Lock lock(mutex);
  return std::any_of(taken_back.begin(), taken_back.end(),
                     [=](const Tensor& tensor) { return tensor.contains(address, 1); });
}

Tensor::Tensor(const FictlEmuTensor& given)
    : name_(given.name),
      begin_(static_cast<const char*>(given.data)),
      itemsize_(given.itemsize),
      writable_(given.writable != 0),
      dimensions_(given.ndim) {
  size_t last = 0;
  for (int i = 0; i < given.ndim; ++i) {
    if (given.shape[i] == 0) return;
    const int64_t stride = given.strides[i] * given.itemsize;
    const int64_t span = (given.shape[i] - 1) * stride;
    if (span < 0) begin_ += span;
    last += span < 0 ? -span : span;
    if (span != 0) axes_.push_back({given.shape[i], stride < 0 ? -stride : stride, i});
  }
  extent_ = last + itemsize_;
  std::stable_sort(axes_.begin(), axes_.end(),
                   [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  find_rows();
}

// From the innermost axis outwards, what follows without a gap is one row.
void Tensor::find_rows() {
  row_bytes_ = itemsize_;
  rows_ = axes_;
  while (!rows_.empty() && static_cast<size_t>(rows_.back().stride) <= row_bytes_) {
    row_bytes_ += (rows_.back().length - 1) * rows_.back().stride;
    rows_.pop_back();
  }
  size_t span = row_bytes_;
  for (size_t i = rows_.size(); i-- > 0;) {
    const bool rows_interleave = static_cast<size_t>(rows_[i].stride) < span;
    if (rows_interleave) {
      rows_.clear();
      row_bytes_ = extent_;
      return;
    }
    span += (rows_[i].length - 1) * rows_[i].stride;
  }
}

bool Tensor::in_a_row(size_t offset, size_t bytes) const {
  for (const Axis& axis : rows_) {
    const int64_t step = static_cast<int64_t>(offset) / axis.stride;
    offset -= std::min(step, axis.length - 1) * axis.stride;
  }
  return offset + bytes <= row_bytes_;
}

std::string Tensor::element(const char* address) const {
  if (!contains(address, 1)) return "";
  std::vector<int64_t> index(dimensions_, 0);
  int64_t offset = address - begin_;
  for (const Axis& axis : axes_) {
    const int64_t step = std::min(offset / axis.stride, axis.length - 1);
    index[axis.position] = step;
    offset -= step * axis.stride;
  }
  std::string text;
  for (const int64_t i : index) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "[" + text + "]";
}

void Tensors::update(uint32_t serial) {
  const Lock lock(mutex);
  if (version_ == version) return;
  version_ = version;
  all_ = watched;
  all_.insert(all_.end(), given_out.begin(), given_out.end());
  std::stable_partition(all_.begin(), all_.end(), [](const Tensor& t) { return t.writable(); });
  std::fill(std::begin(recent_), std::end(recent_), nullptr);
  make_regions(serial);
}

// Sorted by address, each tensor begins a region or belongs to the one before.
void Tensors::make_regions(uint32_t serial) {
  std::vector<Tensor*> sorted;
  for (Tensor& tensor : all_) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(),
            [](const Tensor* a, const Tensor* b) { return a->begin() < b->begin(); });
  for (Region& region : regions_) {
    if (region.shadow != nullptr || region.reader != 0)
      former_.push_back({std::move(region), serial});
  }
  regions_.clear();
  regions_.reserve(all_.size());
  for (Tensor* tensor : sorted) {
    const unsigned granule = granule_log2(tensor->itemsize());
    if (regions_.empty() || tensor->begin() >= regions_.back().end) {
      regions_.push_back({aligned(tensor->begin()), tensor->end(), granule, false, nullptr});
    }
    Region& region = regions_.back();
    region.end = std::max(region.end, tensor->end());
    region.granule_log2 = std::min(region.granule_log2, granule);
    region.writable |= tensor->writable();
    tensor->region = &region;
  }
}

void Tensors::forget_accesses() {
  for (Region& region : regions_) region.shadow = nullptr;
  former_.clear();
}

void Tensors::forget_before(uint32_t serial) {
  former_.erase(std::remove_if(former_.begin(), former_.end(),
                               [=](const Former& former) { return former.until <= serial; }),
                former_.end());
}

std::vector<Region*> Tensors::former(const char* address) {
  std::vector<Region*> found;
  for (Former& former : former_) {
    const Region& region = former.region;
    if (region.begin <= address && address < region.end) found.push_back(&former.region);
  }
  return found;
}

const Tensor* Tensors::find(const char* address, size_t bytes, bool write, const void* pc) {
  const Tensor*& recent = recent_[reinterpret_cast<uintptr_t>(pc) / 4 % std::size(recent_)];
  if (recent != nullptr && recent->contains(address, bytes) && (recent->writable() || !write)) {
    return recent;
  }
  for (const Tensor& tensor : all_) {
    if (tensor.contains(address, bytes)) return recent = &tensor;
  }
  return nullptr;
}

std::vector<const Tensor*> Tensors::sharing(const char* address, size_t bytes) const {
  std::vector<const Tensor*> found;
  for (const Tensor& tensor : all_) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const Tensor* other) {
      return other->name() == tensor.name();
    });
    if (!known && tensor.contains(address, bytes)) found.push_back(&tensor);
  }
  return found;
}

const Tensor* Tensors::nearest(const char* address, size_t bytes) const {
  const Tensor* best = nullptr;
  int64_t shortest = INT64_MAX;
  for (const Tensor& tensor : all_) {
    const int64_t before = tensor.begin() - address;
    const int64_t behind = address + bytes - tensor.end();
    const int64_t distance = std::max({before, behind, int64_t{0}});
    if (distance < shortest) {
      shortest = distance;
      best = &tensor;
    }
  }
  return best;
}

}  // namespace fictl_emu::check

extern "C" void fictl_emu_watch(const FictlEmuTensor* tensors, int count) {
  using namespace fictl_emu::check;
  const fictl_emu::Lock lock(mutex);
  watched.clear();
  for (int i = 0; i < count; ++i) watched.emplace_back(tensors[i]);
  ++version;
}
