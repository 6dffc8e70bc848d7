#include "scheduler/policy/fifo.h"

#include <algorithm>

namespace ordo::scheduler::policy {
namespace {

using Jobs = std::map<int64_t, std::string>;
using Devices = std::map<DeviceId, Kernels>;

// Jobs that need the same, and where the search for their next device goes on.
struct Line {
  const Kernels& kernels;
  Jobs::const_iterator job;
  const Jobs::const_iterator end;
  Devices::const_iterator device;
};

bool Lacks(const Kernels& lacking, const Kernels& kernels) {
  return std::any_of(
      kernels.begin(), kernels.end(),
      [&](const std::string& kernel) { return lacking.count(kernel) > 0; });
}

// Places jobs for one kind of device.
void PlaceKind(const WaitingJobs& waiting, const std::string& kind,
               const Devices& free, std::vector<Placement>* placements) {
  std::vector<Line> lines;
  for (auto it = waiting.lower_bound({kind, {}});
       it != waiting.end() && it->first.kind == kind; ++it) {
    lines.push_back({it->first.kernels, it->second.begin(), it->second.end(),
                     free.begin()});
  }
  std::set<DeviceId> taken;
  while (placements->size() < kMaxPlacements) {
    Line* oldest = nullptr;
    for (Line& line : lines) {
      // What does not do for a line now does not later either.
      while (line.device != free.end() &&
             (taken.count(line.device->first) > 0 ||
              Lacks(line.device->second, line.kernels))) {
        ++line.device;
      }
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
