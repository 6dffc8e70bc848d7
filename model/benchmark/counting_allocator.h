#ifndef ORDO_MODEL_BENCHMARK_COUNTING_ALLOCATOR_H_
#define ORDO_MODEL_BENCHMARK_COUNTING_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/core/Allocator.h"
#include "c10/core/CPUAllocator.h"
#include "c10/core/impl/alloc_cpu.h"

namespace ordo::model::benchmark {

// Allocates as LibTorch does, and counts bytes of the tensors that there are
// and the most since Restart.
class CountingAllocator : public c10::Allocator {
 public:
  // The one that LibTorch takes from now on, for as long as the process lives.
  // The first call is made before other threads make tensors.
  static CountingAllocator& Installed() {
    static auto& installed = *[] {
      auto* const made = new CountingAllocator;
      constexpr uint8_t kFirst = 255;
      c10::SetCPUAllocator(made, kFirst);
      return made;
    }();
    return installed;
  }

  // The pointer is its own context: some operations allocate without DataPtr.
  c10::DataPtr allocate(size_t size) override {
    char* const block = static_cast<char*>(c10::alloc_cpu(size + kHead));
    *reinterpret_cast<size_t*>(block) = size;
    Count(static_cast<int64_t>(size));
    void* const data = block + kHead;
    return {data, data, Free, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return Free; }
  void copy_data(void* to, const void* from, size_t size) const override {
    default_copy_data(to, from, size);
  }

  void Restart() { most_ = now_.load(); }
  int64_t now() const { return now_; }
  int64_t most() const { return most_; }

 private:
  // Before what is given away lies its size; tensors stay aligned.
  static constexpr size_t kHead = 64;

  CountingAllocator() = default;

  static void Free(void* data) {
    if (data == nullptr) return;
    char* const block = static_cast<char*>(data) - kHead;
    Installed().Count(-static_cast<int64_t>(*reinterpret_cast<size_t*>(block)));
    c10::free_cpu(block);
  }

  void Count(int64_t bytes) {
    const int64_t now = now_ += bytes;
    int64_t most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
  }

  std::atomic<int64_t> now_ = 0;
  std::atomic<int64_t> most_ = 0;
};

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_COUNTING_ALLOCATOR_H_
