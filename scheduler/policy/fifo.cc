#include "scheduler/policy/fifo.h"

#include <algorithm>
#include <utility>

namespace ordo::scheduler::policy {
namespace {

using Jobs = std::map<int64_t, std::string>;
using Devices = std::map<DeviceId, Kernels>;

// Jobs that need the same, and where the search for their next device goes on:
// among those that lack kernels, which do for fewer jobs, and then among all.
struct Line {
  const Need& need;
  Jobs::const_iterator job;
  Jobs::const_iterator end;
  bool lacking_only;
  Devices::const_iterator device;

  bool IsSingle() const { return need.ranks == 1 && need.devices == 1; }
};

bool Lacks(const Kernels& lacking, const Kernels& kernels) {
  return std::any_of(
      kernels.begin(), kernels.end(),
      [&](const std::string& kernel) { return lacking.count(kernel) > 0; });
}

// Goes on to the next device that does for the line, if it is at none.
void Seek(const Devices& free, const std::set<DeviceId>& taken, Line* line) {
  for (;; ++line->device) {
    if (line->device == free.end()) {
      if (!line->lacking_only) return;
      line->lacking_only = false;
      line->device = free.begin();
      if (line->device == free.end()) return;
    }
    const auto& [device, lacking] = *line->device;
    if (line->lacking_only && lacking.empty()) continue;
    if (taken.count(device) == 0 && !Lacks(lacking, line->need.kernels)) return;
  }
}

using Taken = std::set<DeviceId>;

// Devices for all ranks of a job: each rank's on one worker, those of the first
// worker that has room first. Nothing when there are not enough.
std::vector<RankPlace> FindParts(const Devices& free, const Taken& taken,
                                 const Need& need) {
  std::vector<RankPlace> parts;
  RankPlace part;
  for (const auto& [device, lacking] : free) {
    if (taken.count(device) > 0 || Lacks(lacking, need.kernels)) continue;
    if (device.worker != part.worker) part = {device.worker, {}};
    part.devices.push_back(device.device);
    if (static_cast<int>(part.devices.size()) < need.devices) continue;
    parts.push_back(part);
    part.devices.clear();
    if (static_cast<int>(parts.size()) == need.ranks) return parts;
  }
  return {};
}

// Places jobs for one kind of device.
void PlaceKind(const WaitingJobs& waiting, const std::string& kind,
               const Devices& free, std::vector<Placement>* placements) {
  std::vector<Line> lines;
  bool are_named = false;
  Need first;
  first.kind = kind;
  for (auto it = waiting.lower_bound(first);
       it != waiting.end() && it->first.kind == kind; ++it) {
    are_named |= !it->first.kernels.empty() && !it->second.empty();
    lines.push_back({it->first, it->second.begin(), it->second.end(),
                     /*lacking_only=*/false, free.begin()});
  }
  // Otherwise any order does, and none is the quickest.
  for (Line& line : lines) line.lacking_only = are_named;
  Taken taken;
  while (placements->size() < kMaxPlacements) {
    Line* oldest = nullptr;
    for (Line& line : lines) {
      // What does not do for a line now does not later either.
      Seek(free, taken, &line);
      if (line.job == line.end || line.device == free.end()) continue;
      if (oldest == nullptr || line.job->first < oldest->job->first) {
        oldest = &line;
      }
    }
    if (oldest == nullptr) return;
    std::vector<RankPlace> parts;
    if (oldest->IsSingle()) {
      const DeviceId& device = oldest->device->first;
      parts = {{device.worker, {device.device}}};
    } else {
      parts = FindParts(free, taken, oldest->need);
    }
    if (parts.empty()) {
      // Its jobs wait for more than there is.
      oldest->job = oldest->end;
      continue;
    }
    for (const RankPlace& part : parts) {
      for (const std::string& device : part.devices) {
        taken.insert({part.worker, device});
      }
    }
    placements->push_back({oldest->job->second, std::move(parts)});
    ++oldest->job;
  }
}

}  // namespace

std::vector<Placement> PlaceFifo(const Snapshot& snapshot) {
  std::vector<Placement> placements;
  for (const auto& [kind, devices] : snapshot.free) {
    PlaceKind(snapshot.waiting, kind, devices, &placements);
  }
  return placements;
}

}  // namespace ordo::scheduler::policy
