#include "kernels/common/testing/captured.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace ordo::kernels::testing {
namespace {

// What there is while a pass is captured: a pointer or a length of it is none.
constexpr char kOther = 0x5A;

struct Account {
  DeviceMemory of;
  // The bytes of what is allocated.
  std::map<void*, int64_t> bytes;
};

Account& TheAccount() {
  static auto* const account = new Account;
  return *account;
}

void* Allocate(int64_t bytes) {
  void* const memory = TheAccount().of.allocate(bytes);
  if (memory != nullptr) TheAccount().bytes[memory] = bytes;
  return memory;
}

void Release(void* memory) {
  TheAccount().bytes.erase(memory);
  TheAccount().of.release(memory);
}

const char* Copy(void* to, const void* from, int64_t bytes) {
  return TheAccount().of.copy(to, from, bytes);
}

// All that is allocated, or the first thing that went wrong with it.
class Snapshot {
 public:
  Snapshot() {
    for (const auto& [memory, count] : TheAccount().bytes) {
      std::vector<char>& bytes = bytes_[memory];
      bytes.resize(count);
      Note(Copy(bytes.data(), memory, count));
    }
  }

  void Spoil() {
    for (const auto& [memory, bytes] : bytes_) {
      const std::vector<char> others(bytes.size(), kOther);
      Note(Copy(memory, others.data(), static_cast<int64_t>(bytes.size())));
    }
  }

  void Restore() {
    for (const auto& [memory, bytes] : bytes_) {
      Note(Copy(memory, bytes.data(), static_cast<int64_t>(bytes.size())));
    }
  }

  void Note(const char* error) {
    if (error_ == nullptr) error_ = error;
  }
  const char* error() const { return error_; }

 private:
  std::map<void*, std::vector<char>> bytes_;
  const char* error_ = nullptr;
};

// A pass, and how queueing it ended.
struct Queued {
  const Resources& resources;
  const std::function<absl::Status(const Resources& resources)>& pass;
  absl::Status status;
};

void Queue(void* of, void* stream) {
  auto& queued = *static_cast<Queued*>(of);
  Resources resources = queued.resources;
  resources.stream = stream;
  queued.status = queued.pass(resources);
}

}  // namespace

const DeviceMemory& HostMemory() {
  static const DeviceMemory kMemory = {
      // Of no bytes there might be none.
      [](int64_t bytes) {
        return std::aligned_alloc(256, (bytes / 256 + 1) * 256);
      },
      [](void* memory) { std::free(memory); },
      [](void* to, const void* from, int64_t bytes) -> const char* {
        std::memcpy(to, from, static_cast<size_t>(bytes));
        return nullptr;
      }};
  return kMemory;
}

const DeviceMemory& CountedMemory(const DeviceMemory& of) {
  TheAccount() = {of, {}};
  static const DeviceMemory kMemory = {Allocate, Release, Copy};
  return kMemory;
}

absl::Status RunCaptured(
    const DeviceGraphs& graphs, const Resources& resources,
    const std::function<absl::Status(const Resources& resources)>& pass) {
  Snapshot snapshot;
  snapshot.Spoil();
  Queued queued = {resources, pass, absl::OkStatus()};
  void* graph = nullptr;
  snapshot.Note(graphs.capture(Queue, &queued, &graph));
  for (int run = 0; run < 2; ++run) {
    snapshot.Restore();
    if (snapshot.error() != nullptr || !queued.status.ok()) break;
    snapshot.Note(graphs.replay(graph));
  }
  if (graph != nullptr) graphs.release(graph);
  if (!queued.status.ok()) return queued.status;
  if (snapshot.error() == nullptr) return absl::OkStatus();
  return absl::InternalError(snapshot.error());
}

}  // namespace ordo::kernels::testing
