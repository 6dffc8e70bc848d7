#include "kernels/attention/check/memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/common/check/numbers.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#endif

namespace ordo::kernels::attention::check {
namespace {

// Elements around a tensor.
constexpr int64_t kMargin = 80;
// Bytes around a workspace, so that it begins where its canaries' memory may.
constexpr int64_t kWorkMargin = 128;
constexpr int64_t kAlignment = 64;
constexpr uint8_t kCanary = 0xA5;
// Not a number in any type: what is to be written first.
constexpr uint8_t kUnset = 0xFF;

using kernels::check::FromHalfBits;
using kernels::check::HalfBits;

bool AreCanaries(const uint8_t* first, int64_t count) {
  return std::all_of(first, first + count,
                     [](uint8_t byte) { return byte == kCanary; });
}

}  // namespace

Copies::~Copies() {
  for (const Copy& copy : copies_) device_->release(copy.there);
}

void* Copies::Place(void* here, size_t bytes) {
  if (device_ == nullptr) return here;
  void* const there = device_->allocate(static_cast<int64_t>(bytes));
  if (there == nullptr) {
    Note(kernels::check::kNoMemory);
    return here;
  }
  copies_.push_back({here, there, static_cast<int64_t>(bytes)});
  Note(device_->copy(there, here, copies_.back().bytes));
  return there;
}

std::string Copies::Fetch() {
  for (const Copy& copy : copies_) {
    Note(device_->copy(copy.here, copy.there, copy.bytes));
  }
  return error_;
}

void Copies::Note(const char* error) {
  if (error != nullptr && error_.empty()) error_ = error;
}

Guarded::Guarded(std::string name, Type type, const Shape& shape, int64_t gap)
    : name_(std::move(name)), type_(type), shape_(shape), gap_(gap) {
  const int64_t row = shape.heads * shape.width + gap;
  view_ = {nullptr, shape.tokens * row, shape.width, row};
  bytes_.assign((shape.batch * shape.tokens * row + 2 * kMargin) * size(),
                kCanary);
  ForEach([&](int64_t, uint8_t* at) { std::fill_n(at, size(), kUnset); });
}

Guarded::~Guarded() { Allow(); }

View Guarded::Place(Copies* copies) {
  View view = view_;
  uint8_t* const placed = copies->Place(&bytes_);
  view.data = placed + kMargin * size();
  // Copies elsewhere are fetched whole.
  if (!bytes_.empty() && placed == bytes_.data()) {
    const int64_t margin = kMargin * size();
    ASAN_POISON_MEMORY_REGION(bytes_.data(), margin);
    const int64_t behind = margin + gap_ * size();
    ASAN_POISON_MEMORY_REGION(&bytes_.back() + 1 - behind, behind);
  }
  return view;
}

void Guarded::Set(const std::vector<double>& values) {
  ForEach([&](int64_t i, uint8_t* at) {
    const float value = static_cast<float>(values[i]);
    const uint16_t half = HalfBits(type_, value);
    std::memcpy(at,
                type_ == Type::kFloat32 ? static_cast<const void*>(&value)
                                        : static_cast<const void*>(&half),
                size());
  });
  given_ = bytes_;
}

std::vector<double> Guarded::Get(std::string* touched) {
  Allow();
  std::vector<double> values(shape_.count());
  std::vector<bool> inside(bytes_.size());
  ForEach([&](int64_t i, uint8_t* at) {
    float value = 0;
    uint16_t half = 0;
    if (type_ == Type::kFloat32) {
      std::memcpy(&value, at, sizeof value);
    } else {
      std::memcpy(&half, at, sizeof half);
      value = FromHalfBits(type_, half);
    }
    values[i] = value;
    for (int64_t b = 0; b < size(); ++b) inside[at - bytes_.data() + b] = true;
  });
  for (size_t i = 0; i < bytes_.size(); ++i) {
    if (inside[i] || bytes_[i] == kCanary) continue;
    *touched += name_ + " ";
    break;
  }
  return values;
}

void Guarded::AddIfChanged(std::string* changed) {
  Allow();
  if (!given_.empty() && given_ != bytes_) *changed += name_ + " ";
}

void Guarded::Allow() {
  ASAN_UNPOISON_MEMORY_REGION(bytes_.data(), bytes_.size());
}

template <typename Function>
void Guarded::ForEach(const Function& function) {
  int64_t i = 0;
  for (int64_t b = 0; b < shape_.batch; ++b) {
    for (int64_t h = 0; h < shape_.heads; ++h) {
      for (int64_t t = 0; t < shape_.tokens; ++t) {
        for (int64_t d = 0; d < shape_.width; ++d) {
          const int64_t at = b * view_.batch_stride + h * view_.head_stride +
                             t * view_.token_stride + d;
          function(i++, bytes_.data() + (kMargin + at) * size());
        }
      }
    }
  }
}

WorkMemory::WorkMemory(int64_t bytes)
    : bytes_(bytes), memory_(bytes + kAlignment + 2 * kWorkMargin, kCanary) {
  std::fill_n(begin() + kWorkMargin, bytes_, kUnset);
}

void* WorkMemory::Place(Copies* copies) {
  return static_cast<char*>(copies->Place(begin(), bytes_ + 2 * kWorkMargin)) +
         kWorkMargin;
}

bool WorkMemory::IsIntact() {
  return AreCanaries(begin(), kWorkMargin) &&
         AreCanaries(begin() + kWorkMargin + bytes_, kWorkMargin);
}

uint8_t* WorkMemory::begin() {
  return memory_.data() + kAlignment -
         reinterpret_cast<uintptr_t>(memory_.data()) % kAlignment;
}

}  // namespace ordo::kernels::attention::check
