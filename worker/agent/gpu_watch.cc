#include "worker/agent/gpu_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units/proto_time.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::Device;

// Who has memory of it, as a sentence; empty: nobody.
std::string InUse(const GpuUse& use) {
  if (!use.processes.empty()) {
    const GpuProcess& first = use.processes.front();
    const std::string bytes =
        first.bytes == 0 ? "some" : absl::StrCat(first.bytes, " bytes");
    const size_t others = use.processes.size() - 1;
    return absl::StrCat(
        "process ", first.pid, ", which is no job's, holds ", bytes,
        " of its memory",
        others == 0 ? "" : absl::StrCat(", and ", others, " others hold more"),
        "; end it, or wait until it ends");
  }
  const int64_t unnamed = use.used_bytes - use.drawing_bytes;
  if (unnamed <= GpuWatch::kUnnamedBytes) return "";
  return absl::StrCat(unnamed,
                      " bytes of its memory are in use by processes that its "
                      "driver does not name here; look with nvidia-smi on the "
                      "machine itself");
}

}  // namespace

GpuWatch::GpuWatch(const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    if (device.uuid().empty()) continue;
    entries_[device.name()].uuid = device.uuid();
  }
}

void GpuWatch::OnTurn(const std::set<std::string>& held, absl::Duration now) {
  for (auto& [name, entry] : entries_) {
    const bool is_held = held.count(name) > 0;
    if (entry.held && !is_held) {
      // What was on it may have left something behind.
      if (entry.withheld.empty()) Withhold(entry, entry.in_use);
      next_ = now;
    }
    if (entry.held || is_held) entry.free_since = now;
    entry.held = is_held;
  }
  if (looking_ && !overdue_ && now - began_ >= kAnswerLimit) {
    overdue_ = true;
    ++sequence_;
  }
}

bool GpuWatch::IsDue(absl::Duration now) const {
  return !entries_.empty() && !looking_ && now >= next_;
}

absl::Duration GpuWatch::TimeLeft(absl::Duration now) const {
  if (entries_.empty()) return absl::InfiniteDuration();
  if (!looking_) return next_ - now;
  return overdue_ ? absl::InfiniteDuration() : began_ + kAnswerLimit - now;
}

void GpuWatch::OnLookBegins(absl::Duration now) {
  looking_ = true;
  began_ = now;
  next_ = now + kPeriod;
}

void GpuWatch::Withhold(Entry& entry, const std::string& reason) {
  if (entry.withheld == reason) return;
  entry.withheld = reason;
  ++sequence_;
}

void GpuWatch::TakeUse(const absl::StatusOr<GpuUse>& use, Entry& entry) {
  if (!use.ok()) {
    // Not a matter of whose memory it is.
    entry.in_use.clear();
    Withhold(entry, absl::StrCat("its driver cannot reach it: ",
                                 use.status().message()));
    return;
  }
  entry.free_bytes = use->free_bytes;
  entry.in_use = InUse(*use);
  if (entry.held) {
    // Ours, as far as anybody can tell.
    Withhold(entry, "");
  } else if (began_ >= entry.free_since) {
    Withhold(entry, entry.in_use);
  }
}

void GpuWatch::TakeFault(const GpuFault& fault, absl::Time time) {
  for (auto& [name, entry] : entries_) {
    if (entry.uuid != fault.uuid) continue;
    entry.faults.push_back(fault.fault);
    *entry.faults.back().mutable_time() = base::ToTimestamp(time);
    if (entry.faults.size() > kMaxFaults) {
      entry.faults.erase(entry.faults.begin());
    }
    ++sequence_;
  }
}

void GpuWatch::OnLook(const GpuLook& look, absl::Duration now,
                      absl::Time time) {
  looking_ = false;
  if (overdue_) ++sequence_;
  overdue_ = false;
  seen_ = began_;
  for (auto& [name, entry] : entries_) {
    const auto use = look.uses.find(entry.uuid);
    if (use != look.uses.end()) TakeUse(use->second, entry);
    // It may be back in a moment.
    if (!entry.in_use.empty() && !entry.held) {
      next_ = std::min(next_, now + absl::Seconds(1));
    }
  }
  for (const GpuFault& fault : look.faults) TakeFault(fault, time);
}

bool GpuWatch::MemoryIsBack(const std::vector<std::string>& devices,
                            absl::Duration since, absl::Duration now) {
  const bool given_up = now - since >= kReturnLimit;
  bool back = true;
  for (const std::string& device : devices) {
    const auto found = entries_.find(device);
    if (found == entries_.end()) continue;
    if (seen_ < since) {
      next_ = std::min(next_, now);
      back = false;
    } else if (!found->second.in_use.empty()) {
      next_ = std::min(next_, now + absl::Milliseconds(20));
      back = false;
    }
  }
  return back || given_up;
}

std::string GpuWatch::Withheld(const std::string& device) const {
  const auto found = entries_.find(device);
  if (found == entries_.end()) return "";
  return overdue_ ? "its driver does not answer" : found->second.withheld;
}

void GpuWatch::Complete(Device* device) const {
  const auto found = entries_.find(device->name());
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  device->set_free_memory_bytes(entry.free_bytes);
  *device->mutable_faults() = {entry.faults.begin(), entry.faults.end()};
  if (const std::string reason = Withheld(device->name()); !reason.empty()) {
    device->set_withheld(reason);
  }
}

}  // namespace ordo::worker::agent
