#include "scheduler/policy/fifo.h"

#include <algorithm>

namespace ordo::scheduler::policy {
namespace {

using Jobs = std::map<int64_t, std::string>;
using Devices = std::map<DeviceId, Kernels>;

// Jobs that need the same, and where the search for their next device goes on:
// among those that lack kernels, which do for fewer jobs, and then among all.
struct Line {
  const Kernels& kernels;
  Jobs::const_iterator job;
  const Jobs::const_iterator end;
  bool lacking_only;
  Devices::const_iterator device;
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
    if (taken.count(device) == 0 && !Lacks(lacking, line->kernels)) return;
  }
}

// Places jobs for one kind of device.
void PlaceKind(const WaitingJobs& waiting, const std::string& kind,
               const Devices& free, std::vector<Placement>* placements) {
  std::vector<Line> lines;
  bool are_named = false;
  for (auto it = waiting.lower_bound({kind, {}});
       it != waiting.end() && it->first.kind == kind; ++it) {
    are_named |= !it->first.kernels.empty() && !it->second.empty();
    lines.push_back({it->first.kernels, it->second.begin(), it->second.end(),
                     /*lacking_only=*/false, free.begin()});
  }
  // Otherwise any order does, and none is the quickest.
  for (Line& line : lines) line.lacking_only = are_named;
  std::set<DeviceId> taken;
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
    placements->push_back({oldest->job->second, oldest->device->first});
    taken.insert(oldest->device->first);
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
