#include "worker/agent/offers.h"

#include <algorithm>
#include <signal.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "worker/agent/gpu_metrics.h"
#include "worker/agent/orphans.h"

namespace ordo::worker::agent {

using ::ordo::workers::v1::Device;

// How often processes that must go are looked for.
constexpr absl::Duration kOrphanPeriod = absl::Milliseconds(20);

Offers::Offers(const TaskOptions& task, Options options,
               const ProberTools& tools)
    : task_(task),
      options_(std::move(options)),
      clock_(tools.clock),
      metrics_(tools.metrics),
      prober_(task, options_.devices, tools),
      gpu_watch_(options_.nvml == nullptr ? std::vector<Device>{}
                                          : options_.devices),
      gpu_looker_(options_.nvml, options_.wake) {}

void Offers::EndOrphans(const std::set<std::string>& known_tasks) {
  known_tasks_ = known_tasks;
  FindOrphans();
}

void Offers::FindOrphans() {
  orphans_ = agent::FindOrphans(task_.state_folder, known_tasks_);
  ++orphans_sequence_;
  for (const base::ProcessId& orphan : orphans_) {
    base::LogWarning("orphan is ended", {{"pid", orphan.pid}});
    // It may be gone by now.
    base::SignalProcess(orphan, SIGKILL).IgnoreError();
  }
}

void Offers::TendOrphans() {
  if (orphans_.empty()) return;
  const auto gone = std::remove_if(
      orphans_.begin(), orphans_.end(),
      [](const base::ProcessId& orphan) { return !base::IsRunning(orphan); });
  metrics_.orphans_reaped.With({}).Increment(
      static_cast<double>(orphans_.end() - gone));
  orphans_.erase(gone, orphans_.end());
  // They may have started others; none is this process's own, whose probes and
  // tasks wait for the last of them.
  if (orphans_.empty()) FindOrphans();
}

void Offers::TendGpus(const std::set<std::string>& held) {
  std::set<std::string> used = held;
  if (!prober_.running().empty()) used.insert(prober_.running());
  const absl::Duration now = clock_.Monotonic();
  gpu_watch_.OnTurn(used, now);
  if (const auto look = gpu_looker_.Take()) {
    gpu_watch_.OnLook(*look, now, clock_.Now());
    ShowGpus(options_.devices, *look, metrics_);
    ++sequence_;
  }
  if (gpu_watch_.IsDue(now)) {
    gpu_watch_.OnLookBegins(now);
    gpu_looker_.Begin();
  }
}

void Offers::Step(const Turn& turn) {
  TendOrphans();
  TendGpus(turn.held);
  if (turn.draining) return;
  std::set<std::string> held = turn.held;
  for (const Device& device : options_.devices) {
    if (!Blocked(device.name()).empty()) held.insert(device.name());
  }
  prober_.Step(turn.idle, held);
}

absl::Duration Offers::TimeLeft(bool draining) const {
  absl::Duration left = gpu_watch_.TimeLeft(clock_.Monotonic());
  if (!orphans_.empty()) left = std::min(left, kOrphanPeriod);
  return draining ? left : std::min(left, prober_.TimeLeft());
}

std::string Offers::Blocked(const std::string& device) const {
  if (!orphans_.empty()) {
    return absl::StrCat("process ", orphans_.front().pid,
                        " of an earlier worker process has not ended yet");
  }
  return gpu_watch_.Withheld(device);
}

std::vector<Device> Offers::Devices() const {
  std::vector<Device> devices = prober_.plan().Devices();
  for (Device& device : devices) {
    gpu_watch_.Complete(&device);
    if (const std::string reason = Blocked(device.name()); !reason.empty()) {
      device.set_withheld(reason);
    }
  }
  return devices;
}

int64_t Offers::urgent_sequence() const {
  return prober_.plan().sequence() + gpu_watch_.sequence() + orphans_sequence_;
}

absl::Status Offers::CheckOffered(
    const std::vector<std::string>& devices) const {
  for (const std::string& device : devices) {
    if (const std::string reason = Blocked(device); !reason.empty()) {
      return absl::UnavailableError(
          absl::StrCat(device, " is withheld: ", reason));
    }
  }
  return prober_.plan().CheckOffered(devices);
}

bool Offers::MemoryIsBack(const std::vector<std::string>& devices,
                          absl::Duration since) {
  return gpu_watch_.MemoryIsBack(devices, since, clock_.Monotonic());
}

}  // namespace ordo::worker::agent
