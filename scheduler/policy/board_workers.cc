#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/classes.h"
#include "scheduler/policy/lanes.h"

namespace ordo::scheduler::policy {
namespace {

// The devices that are given, with who has those of them that there were
// before, and behind them those that are no longer given and not free yet.
std::vector<DeviceEntry> Merge(const Worker& worker,
                               const std::vector<DeviceEntry>& before,
                               Tables* tables) {
  std::vector<DeviceEntry> devices;
  for (const Device& device : worker.devices) {
    DeviceEntry entry;
    for (const DeviceEntry& other : before) {
      if (other.facts.name != device.name) continue;
      entry = other;
      break;
    }
    entry.facts = device;
    entry.kind = KindId(device.kind, tables);
    entry.given = true;
    devices.push_back(std::move(entry));
  }
  for (const DeviceEntry& other : before) {
    const bool is_given = std::any_of(
        worker.devices.begin(), worker.devices.end(),
        [&](const Device& device) { return device.name == other.facts.name; });
    if (is_given || (other.job == 0 && !other.lingering)) continue;
    devices.push_back(other);
    devices.back().given = false;
  }
  return devices;
}

bool IsMixed(const std::vector<DeviceEntry>& devices) {
  for (const DeviceEntry& device : devices) {
    for (const DeviceEntry& other : devices) {
      if (device.kind == other.kind &&
          (device.facts.memory_bytes != other.facts.memory_bytes ||
           device.facts.lacking != other.facts.lacking)) {
        return true;
      }
    }
  }
  return false;
}

void IndexLabels(int worker, Tables* tables) {
  for (const Label label : tables->workers[worker].facts.labels) {
    tables->workers_by_label[label].insert(worker);
  }
}

void UnindexLabels(int worker, Tables* tables) {
  for (const Label label : tables->workers[worker].facts.labels) {
    const auto it = tables->workers_by_label.find(label);
    it->second.erase(worker);
    if (it->second.empty()) tables->workers_by_label.erase(it);
  }
}

int AddWorker(const std::string& id, Tables* tables) {
  const auto [it, inserted] = tables->worker_ids.try_emplace(id, -1);
  if (!inserted) return it->second;
  if (tables->free_workers.empty()) {
    tables->free_workers.push_back(static_cast<int>(tables->workers.size()));
    tables->workers.emplace_back();
  }
  it->second = tables->free_workers.back();
  tables->free_workers.pop_back();
  return it->second;
}

}  // namespace

void Board::PutWorker(const Worker& worker) {
  const int id = AddWorker(worker.id, &tables_);
  WorkerEntry& entry = tables_.workers[id];
  if (entry.worker_class >= 0 && entry.facts == worker) return;
  // What was kept there was kept by what there was.
  if (entry.reserved_for != 0) DropReservation(entry.reserved_for, &tables_);
  UnindexWorker(id, &tables_);
  UnindexLabels(id, &tables_);
  entry.devices = Merge(worker, entry.devices, &tables_);
  entry.mixed = IsMixed(entry.devices);
  entry.facts = worker;
  for (Occupant& occupant : entry.occupants) {
    occupant.devices = DevicesOf(entry, occupant);
  }
  IndexLabels(id, &tables_);
  IndexWorker(id, &tables_);
}

void Board::RemoveWorker(absl::string_view id) {
  const auto it = tables_.worker_ids.find(id);
  ORDO_CHECK(it != tables_.worker_ids.end()) << std::string(id);
  const int number = it->second;
  WorkerEntry& entry = tables_.workers[number];
  ORDO_CHECK(entry.occupants.empty()) << std::string(id);
  if (entry.reserved_for != 0) DropReservation(entry.reserved_for, &tables_);
  UnindexWorker(number, &tables_);
  UnindexLabels(number, &tables_);
  entry = WorkerEntry();
  tables_.worker_ids.erase(it);
  tables_.free_workers.push_back(number);
}

bool Board::HasWorker(absl::string_view id) const {
  return tables_.worker_ids.contains(id);
}

void Board::SetLingering(absl::string_view worker,
                         const std::set<std::string>& devices) {
  const int id = tables_.worker_ids.at(worker);
  bool changed = false;
  for (DeviceEntry& device : tables_.workers[id].devices) {
    const bool lingers = devices.count(device.facts.name) > 0;
    changed |= lingers != device.lingering;
    device.lingering = lingers;
  }
  if (changed) RefreshRoom(id, &tables_);
}

}  // namespace ordo::scheduler::policy
