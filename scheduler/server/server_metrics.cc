#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "base/metrics/metrics.h"
#include "base/mutex.h"
#include "scheduler/core/queues.h"
#include "scheduler/server/counts.h"
#include "scheduler/server/server.h"

// What the metrics show of the state: looked up for each page.

namespace ordo::scheduler::server {
namespace {

// Jobs that wait for devices of which the age is looked at, those that were
// submitted first in each queue: what waits longest is behind them only when as
// many wait anew, after an attempt.
constexpr size_t kMaxWaits = 4096;

}  // namespace

std::vector<DeviceTraining> Server::TrainingLocked() const {
  const absl::Duration now = options_.clock->Monotonic();
  std::vector<DeviceTraining> devices;
  for (const auto& [id, worker] : state_.workers) {
    std::map<std::string, DeviceTraining> by_name;
    for (const auto& [name, device] : worker.announced) {
      by_name[name] = {id, name};
    }
    for (const auto& [job, rank] : worker.live) {
      if (rank != 0) continue;
      const core::Live& live = *core::LiveIn(state_.jobs.at(job));
      const std::string& name = live.ranks[0].devices.front();
      DeviceTraining& device = by_name[name];
      device = {id, name, absl::ToDoubleSeconds(now - live.durable)};
      if (live.progress == nullptr) continue;
      device.loss = live.progress->loss();
      device.tokens_per_second = live.progress->tokens_per_second();
      device.step_s = live.progress->step_seconds();
    }
    for (auto& [name, device] : by_name) devices.push_back(std::move(device));
  }
  return devices;
}

std::map<std::vector<std::string>, double> Server::WaitsLocked() const {
  const absl::Duration now = options_.clock->Monotonic();
  std::map<std::vector<std::string>, double> waits;
  for (const auto& [queue, row] : core::AllQueues(state_.queues)) {
    waits[{queue}] = 0;
  }
  for (const auto& [queue, sequences] : state_.waiting_in) {
    double& longest = waits[{queue}];
    size_t left = std::max<size_t>(1, kMaxWaits / state_.waiting_in.size());
    for (const int64_t sequence : sequences) {
      if (left-- == 0) break;
      const std::string& job = state_.waiting.at(sequence)->id;
      const auto& queued = std::get<core::Queued>(state_.jobs.at(job).place);
      longest = std::max(longest, absl::ToDoubleSeconds(now - queued.since));
    }
  }
  return waits;
}

std::map<std::vector<std::string>, double> Server::UsageLocked() const {
  const absl::Duration now = options_.clock->Monotonic();
  std::map<std::vector<std::string>, double> usage;
  for (const auto& [queue, row] : core::AllQueues(state_.queues)) {
    if (!state_.board.HasQueue(queue)) continue;
    for (const std::string& kind : state_.board.Kinds(queue)) {
      usage[{queue, kind}] = state_.board.Usage(queue, kind, now);
    }
  }
  return usage;
}

void Server::ShowState() {
  SchedulerMetrics& metrics = *options_.metrics;
  std::vector<DeviceTraining> training;
  std::map<std::vector<std::string>, double> waits, usage;
  int64_t num_waiting = 0;
  {
    base::MutexLock lock(mutex_);
    training = TrainingLocked();
    waits = WaitsLocked();
    usage = UsageLocked();
    num_waiting = num_waiting_;
  }
  ShowTotals(view_, metrics);
  Page all;
  all.size = static_cast<int>(kMaxQueues) + 1;
  ShowQueues(view_.ListQueues(all).items, metrics);
  ShowTraining(training, metrics);
  base::ShowOnly(metrics.queue_oldest_wait, waits);
  base::ShowOnly(metrics.queue_usage, usage);
  metrics.commit_waiting.With({}).Set(static_cast<double>(num_waiting));
  const store::StoreSize size = options_.store->Size();
  metrics.store_size.With({"database"})
      .Set(static_cast<double>(size.database_bytes));
  metrics.store_size.With({"wal"}).Set(static_cast<double>(size.wal_bytes));
  metrics.store_free.With({}).Set(static_cast<double>(size.free_bytes));
}

}  // namespace ordo::scheduler::server
