#include "scheduler/server/writer.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>

#include "scheduler/server/backlog.h"

namespace ordo::scheduler::server {
namespace {

// No need to merge fewer.
constexpr size_t kMinMerged = 1024;

}  // namespace

std::vector<core::Record> LastOfEachKey(
    const std::vector<core::Effects>& turns) {
  std::vector<core::Record> records;
  std::unordered_map<std::string, size_t> index;
  for (const core::Effects& effects : turns) {
    for (const core::Effect& effect : effects) {
      const auto* record = std::get_if<core::Record>(&effect);
      if (record == nullptr) continue;
      const auto [it, is_new] = index.emplace(KeyOf(*record), records.size());
      if (is_new) {
        records.push_back(*record);
      } else {
        records[it->second] = *record;
      }
    }
  }
  return records;
}

Writer::Writer(WriterOptions options)
    : options_(std::move(options)), thread_([this] { Run(); }) {}

Writer::~Writer() { Drain(); }

void Writer::Append(core::Effects effects) {
  if (effects.empty()) return;
  base::MutexLock lock(mutex_);
  queue_.push_back(std::move(effects));
  changed_.NotifyOne();
}

void Writer::AppendTask(std::function<void()> task) {
  base::MutexLock lock(mutex_);
  queue_.push_back(std::move(task));
  changed_.NotifyOne();
}

void Writer::Drain() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

bool Writer::IsStopping() {
  base::MutexLock lock(mutex_);
  return stopping_;
}

bool Writer::CommitAndRelease() {
  if (turns_.empty()) return true;
  const std::vector<core::Record> records = LastOfEachKey(turns_);
  if (!records.empty()) {
    const absl::Duration start = options_.clock->Monotonic();
    const absl::Status status = options_.store->Commit(records);
    const absl::Duration took = options_.clock->Monotonic() - start;
    if (absl::IsResourceExhausted(status)) {
      if (!full_ && options_.on_full) options_.on_full(status);
      full_ = true;
      return true;
    }
    if (!status.ok()) {
      options_.on_failure(status);
      return false;
    }
    if (options_.on_commit) options_.on_commit(records.size(), took);
  }
  options_.release(std::exchange(turns_, {}));
  if (std::exchange(full_, false) && options_.on_room) options_.on_room();
  return true;
}

std::vector<Writer::Item> Writer::Take() {
  base::MutexLock lock(mutex_);
  if (full_) {
    const auto retry = std::chrono::steady_clock::now() +
                       absl::ToChronoNanoseconds(options_.full_retry);
    while (!stopping_ && changed_.WaitUntil(mutex_, retry)) {
    }
  } else {
    while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
  }
  return std::exchange(queue_, {});
}

bool Writer::Handle(std::vector<Item> items) {
  for (Item& item : items) {
    if (auto* effects = std::get_if<core::Effects>(&item)) {
      turns_.push_back(std::move(*effects));
      continue;
    }
    if (!full_ && !CommitAndRelease()) return false;
    std::get<std::function<void()>>(item)();
  }
  if (full_ && turns_.size() > std::max(kMinMerged, merged_size_)) {
    core::Effects merged = Merge(std::exchange(turns_, {}));
    merged_size_ = merged.size();
    turns_.push_back(std::move(merged));
  }
  return CommitAndRelease();
}

void Writer::Run() {
  while (true) {
    // Whether nothing comes after what is taken.
    const bool stopping = IsStopping();
    std::vector<Item> items = Take();
    if (items.empty() && !full_) return;
    if (!Handle(std::move(items)) || (full_ && stopping)) return;
  }
}

}  // namespace ordo::scheduler::server
