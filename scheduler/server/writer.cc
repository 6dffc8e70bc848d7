#include "scheduler/server/writer.h"

#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>

namespace ordo::scheduler::server {

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
  // What comes before a task stays before it.
  if (queue_.empty() || !std::holds_alternative<Backlog>(queue_.back())) {
    queue_.emplace_back(Backlog());
  }
  std::get<Backlog>(queue_.back()).Add(std::move(effects));
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
  const std::vector<core::Record> records = LastOfEachKey(turns_.turns());
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
  options_.release(turns_.Take());
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
    if (auto* turns = std::get_if<Backlog>(&item)) {
      turns_.Append(std::move(*turns));
      continue;
    }
    if (!full_ && !CommitAndRelease()) return false;
    std::get<std::function<void()>>(item)();
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
