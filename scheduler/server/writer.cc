#include "scheduler/server/writer.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::scheduler::server {
namespace {

std::string KeyOf(const core::Record& record) {
  // No resource's name, so no other's key.
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    return (*job)->id();
  }
  if (const auto* checkpoint =
          std::get_if<core::CheckpointPtr>(&record.value)) {
    return (*checkpoint)->name();
  }
  return std::get<core::ReportPtr>(record.value)->name();
}

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

bool Writer::CommitAndRelease(std::vector<core::Effects> turns) {
  if (turns.empty()) return true;
  const std::vector<core::Record> records = LastOfEachKey(turns);
  if (!records.empty()) {
    const absl::Duration start = options_.clock->Monotonic();
    const absl::Status status = options_.store->Commit(records);
    const absl::Duration took = options_.clock->Monotonic() - start;
    if (!status.ok()) {
      options_.on_failure(status);
      return false;
    }
    if (options_.on_commit) options_.on_commit(records.size(), took);
  }
  options_.release(std::move(turns));
  return true;
}

void Writer::Run() {
  while (true) {
    std::vector<Item> items;
    {
      base::MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      items.swap(queue_);
    }
    std::vector<core::Effects> turns;
    for (Item& item : items) {
      if (auto* effects = std::get_if<core::Effects>(&item)) {
        turns.push_back(std::move(*effects));
        continue;
      }
      if (!CommitAndRelease(std::exchange(turns, {}))) return;
      std::get<std::function<void()>>(item)();
    }
    if (!CommitAndRelease(std::move(turns))) return;
  }
}

}  // namespace ordo::scheduler::server
