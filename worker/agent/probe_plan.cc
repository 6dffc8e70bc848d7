#include "worker/agent/probe_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::worker::agent {

using ::ordo::agent::v1::StoredProbe;
using ::ordo::training::v1::KernelFailure;
using ::ordo::training::v1::KernelProbe;
using ::ordo::workers::v1::Device;

namespace {

constexpr char kToBeProbed[] = "its kernels are to be probed";

bool GaveNoAnswer(const KernelFailure& failure) {
  return failure.problem().empty();
}

// No kernel gave an answer: the device is at fault, which may be full.
bool IsSilent(const KernelProbe& probe) {
  const auto& failed = probe.failed();
  return probe.passed().empty() && !failed.empty() &&
         std::all_of(failed.begin(), failed.end(), GaveNoAnswer);
}

}  // namespace

bool IsWhole(const KernelProbe& probe) {
  return std::none_of(probe.failed().begin(), probe.failed().end(),
                      GaveNoAnswer);
}

ProbePlan::ProbePlan(const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    Entry& entry = entries_[device.name()];
    entry.device = device;
    Withhold(entry, kToBeProbed);
  }
}

void ProbePlan::Withhold(Entry& entry, const std::string& reason) {
  entry.device.clear_probe();
  entry.device.set_withheld(reason);
  ++sequence_;
}

bool ProbePlan::OnKey(const std::string& device, const std::string& key,
                      const StoredProbe& stored) {
  Entry& entry = entries_.at(device);
  if (entry.key == key) return false;
  entry.key = key;
  if (stored.key() == key) {
    entry.due = absl::InfiniteDuration();
    *entry.device.mutable_probe() = stored.probe();
    entry.device.clear_withheld();
    ++sequence_;
    return true;
  }
  entry.due = -absl::InfiniteDuration();
  Withhold(entry, kToBeProbed);
  return false;
}

void ProbePlan::OnHeld(const std::set<std::string>& devices) {
  for (auto& [name, entry] : entries_) entry.held = devices.count(name) > 0;
}

std::optional<std::string> ProbePlan::Next(absl::Duration now) const {
  if (!running_.empty()) return std::nullopt;
  for (const auto& [name, entry] : entries_) {
    if (entry.due <= now && !entry.held) return name;
  }
  return std::nullopt;
}

absl::Duration ProbePlan::TimeLeft(absl::Duration now) const {
  absl::Duration due = absl::InfiniteDuration();
  if (!running_.empty()) return due;
  for (const auto& [name, entry] : entries_) {
    if (!entry.held) due = std::min(due, entry.due);
  }
  return due - now;
}

void ProbePlan::OnStarted(const std::string& device) {
  running_ = device;
  Entry& entry = entries_.at(device);
  entry.due = absl::InfiniteDuration();
  Withhold(entry, "its kernels are being probed");
}

bool ProbePlan::OnReport(const KernelProbe& probe, absl::Duration now) {
  const std::string name = std::exchange(running_, "");
  Entry& entry = entries_.at(name);
  // The key has changed meanwhile: this report is of what was.
  if (entry.due != absl::InfiniteDuration()) return false;
  if (IsSilent(probe)) {
    entry.due = now + kRetryPeriod;
    Withhold(entry, absl::StrCat("none of its kernels could be probed: ",
                                 probe.failed(0).message()));
    return false;
  }
  if (!IsWhole(probe)) entry.due = now + kAgainPeriod;
  for (auto& [other, same] : entries_) {
    if (other != name &&
        (same.device.kind() != "cpu" || same.key != entry.key)) {
      continue;
    }
    same.due = entry.due;
    *same.device.mutable_probe() = probe;
    same.device.clear_withheld();
  }
  ++sequence_;
  return true;
}

void ProbePlan::OnFailure(const std::string& error, absl::Duration now) {
  const std::string name = std::exchange(running_, "");
  Entry& entry = entries_.at(name);
  if (entry.due != absl::InfiniteDuration()) return;
  entry.due = now + kRetryPeriod;
  Withhold(entry,
           absl::StrCat("the probe of its kernels gave no report: ", error));
}

std::vector<Device> ProbePlan::Devices() const {
  std::vector<Device> devices;
  for (const auto& [name, entry] : entries_) devices.push_back(entry.device);
  return devices;
}

StoredProbe ProbePlan::ToStore(const std::string& device) const {
  const Entry& entry = entries_.at(device);
  StoredProbe stored;
  stored.set_key(entry.key);
  *stored.mutable_probe() = entry.device.probe();
  return stored;
}

absl::Status ProbePlan::CheckOffered(
    const std::vector<std::string>& devices) const {
  for (const std::string& device : devices) {
    const auto entry = entries_.find(device);
    if (entry == entries_.end()) continue;
    const std::string& reason = entry->second.device.withheld();
    if (reason.empty()) continue;
    return absl::UnavailableError(
        absl::StrCat(device, " is withheld: ", reason));
  }
  return absl::OkStatus();
}

std::vector<std::string> ProbePlan::WrongKernels(
    const std::vector<std::string>& devices) const {
  std::set<std::string> wrong;
  for (const std::string& device : devices) {
    const auto entry = entries_.find(device);
    if (entry == entries_.end()) continue;
    for (const auto& failure : entry->second.device.probe().failed()) {
      wrong.insert(failure.kernel());
    }
  }
  return {wrong.begin(), wrong.end()};
}

}  // namespace ordo::worker::agent
