#include "kernels/common/check/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "base/random/random.h"
#include "kernels/common/float16.h"

namespace ordo::kernels::check {
namespace {

// Bytes in front of and behind what is guarded, and what they are: in any type
// a not-a-number.
constexpr int64_t kGuard = 64;
constexpr char kCanary = static_cast<char>(0xff);

bool AllCanaries(const char* first, int64_t count) {
  return std::all_of(first, first + count,
                     [](char byte) { return byte == kCanary; });
}

int64_t BytesOf(Type type) { return type == Type::kFloat32 ? 4 : 2; }

// Among canaries.
std::vector<char> BytesOfNumbers(Type type, const std::vector<double>& x) {
  const int64_t size = BytesOf(type);
  std::vector<char> bytes(x.size() * size + 2 * kGuard, kCanary);
  for (size_t i = 0; i < x.size(); ++i) {
    const float value = static_cast<float>(x[i]);
    const uint16_t half = HalfBits(type, value);
    std::memcpy(&bytes[kGuard + i * size],
                size == 4 ? static_cast<const void*>(&value)
                          : static_cast<const void*>(&half),
                size);
  }
  return bytes;
}

bool lacks_memory = false;

const DeviceMemory*& Memory() {
  static const DeviceMemory* memory = nullptr;
  return memory;
}

}  // namespace

uint16_t HalfBits(Type type, float x) {
  if (type == Type::kFloat16) return ToFloat16(x);
  if (std::isnan(x)) return 0x7FFF;
  // The upper half of a float is its bf16.
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float FromHalfBits(Type type, uint16_t half) {
  if (type == Type::kFloat16) return FromFloat16(half);
  const uint32_t bits = uint32_t{half} << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

double Rounded(Type type, double x) {
  const float single = static_cast<float>(x);
  if (type == Type::kFloat32) return single;
  return FromHalfBits(type, HalfBits(type, single));
}

double Epsilon(Type type) {
  if (type == Type::kFloat32) return std::ldexp(1.0, -23);
  return std::ldexp(1.0, type == Type::kFloat16 ? -10 : -7);
}

std::vector<double> Normals(int64_t count, const std::string& name, Type type) {
  const base::RandomStream random(1, name);
  std::vector<double> x(count);
  for (int64_t i = 0; i < count; ++i) x[i] = Rounded(type, random.Normal(i));
  return x;
}

double Largest(const std::vector<double>& x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

double Distance(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(x[i] - y[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

void UseMemory(const DeviceMemory* memory) {
  Memory() = memory;
  lacks_memory = false;
}

bool LacksMemory() { return lacks_memory; }

Placed::Placed(std::vector<char> bytes)
    : memory_(Memory()), count_(static_cast<int64_t>(bytes.size())) {
  if (memory_ != nullptr) {
    data_ = static_cast<char*>(memory_->allocate(count_));
    if (data_ == nullptr) {
      lacks_memory = true;
    } else {
      memory_->copy(data_, bytes.data(), count_);
    }
    return;
  }
  own_.resize(bytes.size() + kGuard);
  const auto address = reinterpret_cast<uintptr_t>(own_.data());
  data_ = own_.data() + (kGuard - address % kGuard) % kGuard;
  std::copy(bytes.begin(), bytes.end(), data_);
}

Placed::~Placed() {
  if (memory_ != nullptr && data_ != nullptr) memory_->release(data_);
}

std::vector<char> Placed::Fetch() const {
  std::vector<char> bytes(count_, kCanary);
  if (data_ == nullptr) return bytes;
  if (memory_ != nullptr) {
    memory_->copy(bytes.data(), data_, count_);
  } else {
    std::copy(data_, data_ + count_, bytes.begin());
  }
  return bytes;
}

Guarded::Guarded(Type type, int64_t count, std::vector<char> bytes)
    : type_(type), count_(count), made_(std::move(bytes)), bytes_(made_) {}

Guarded::Guarded(Type type, int64_t count)
    : Guarded(type, count,
              std::vector<char>(count * BytesOf(type) + 2 * kGuard, kCanary)) {}

Guarded::Guarded(Type type, const std::vector<double>& x)
    : Guarded(type, static_cast<int64_t>(x.size()), BytesOfNumbers(type, x)) {}

void* Guarded::data() {
  const bool none = count_ == 0 || bytes_.data() == nullptr;
  return none ? nullptr : bytes_.data() + kGuard;
}

std::vector<double> Guarded::Values() const {
  const std::vector<char> bytes = bytes_.Fetch();
  std::vector<double> x(count_);
  const int64_t size = BytesOf(type_);
  for (int64_t i = 0; i < count_; ++i) {
    float value = 0;
    uint16_t half = 0;
    if (size == 4) {
      std::memcpy(&value, &bytes[kGuard + i * size], sizeof value);
    } else {
      std::memcpy(&half, &bytes[kGuard + i * size], sizeof half);
      value = FromHalfBits(type_, half);
    }
    x[i] = value;
  }
  return x;
}

bool Guarded::IsIntact() const {
  const std::vector<char> bytes = bytes_.Fetch();
  return AllCanaries(bytes.data(), kGuard) &&
         AllCanaries(&bytes[bytes.size() - kGuard], kGuard);
}

bool Guarded::IsAsMade() const { return bytes_.Fetch() == made_; }

TestResources::TestResources(int64_t workspace_bytes, int threads)
    : bytes_(workspace_bytes),
      memory_(std::vector<char>(workspace_bytes + 2 * kGuard, kCanary)) {
  if (memory_.data() != nullptr) resources_.workspace = memory_.data() + kGuard;
  resources_.run = [threads](int64_t count,
                             const std::function<void(int64_t, int)>& task) {
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&task, count, thread, threads] {
        for (int64_t i = thread; i < count; i += threads) task(i, thread);
      });
    }
    for (std::thread& each : running) each.join();
  };
}

bool TestResources::IsIntact() const {
  const std::vector<char> bytes = memory_.Fetch();
  return AllCanaries(bytes.data(), kGuard) &&
         AllCanaries(bytes.data() + kGuard + bytes_, kGuard);
}

}  // namespace ordo::kernels::check
