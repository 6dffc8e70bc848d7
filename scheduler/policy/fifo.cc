#include "scheduler/policy/fifo.h"

namespace ordo::scheduler::policy {

std::vector<Placement> PlaceFifo(const Snapshot& snapshot) {
  std::vector<Placement> placements;
  for (const auto& [kind, jobs] : snapshot.waiting) {
    const auto free = snapshot.free.find(kind);
    if (free == snapshot.free.end()) continue;
    auto device = free->second.begin();
    for (const auto& [sequence, job] : jobs) {
      if (device == free->second.end()) break;
      if (placements.size() == kMaxPlacements) return placements;
      placements.push_back({job, *device++});
    }
  }
  return placements;
}

}  // namespace ordo::scheduler::policy
