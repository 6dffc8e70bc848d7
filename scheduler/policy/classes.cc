#include "scheduler/policy/classes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scheduler/policy/data_roots.h"

namespace ordo::scheduler::policy {
namespace {

ClassKey KeyOf(const Tables& tables, const WorkerEntry& worker) {
  ClassKey key;
  for (const DeviceEntry& device : worker.devices) {
    if (!device.given) continue;
    DeviceGroup group{device.kind, device.facts.memory_bytes,
                      device.facts.lacking};
    auto it = std::find_if(key.devices.begin(), key.devices.end(),
                           [&](const DeviceGroup& other) {
                             return other.kind == group.kind &&
                                    other.memory_bytes == group.memory_bytes &&
                                    other.lacking == group.lacking;
                           });
    if (it == key.devices.end()) {
      it = key.devices.insert(it, std::move(group));
    }
    ++it->num;
    it->num_offered += device.facts.offered ? 1 : 0;
  }
  std::sort(key.devices.begin(), key.devices.end());
  key.cpus = worker.facts.cpus;
  key.memory_bytes = worker.facts.memory_bytes;
  key.single_rank_kinds = worker.facts.single_rank_kinds;
  key.data_roots = worker.facts.data_roots;
  for (const auto& label : worker.facts.labels) {
    if (tables.labels_asked.count(label) > 0) key.labels.push_back(label);
  }
  return key;
}

ClassFit FitOf(const ClassKey& key, const ShapeEntry& entry) {
  const Shape& shape = entry.shape;
  ClassFit fit;
  if (shape.ranks > 1 && key.single_rank_kinds.count(shape.kind) > 0) {
    return fit;
  }
  for (const Label label : shape.labels) {
    if (!std::binary_search(key.labels.begin(), key.labels.end(), label)) {
      return fit;
    }
  }
  if (!MayRead(key.data_roots, shape.data_paths)) return fit;
  int64_t most = shape.ranks;
  if (shape.cpus > 0) most = std::min<int64_t>(most, key.cpus / shape.cpus);
  if (shape.memory_bytes > 0) {
    most = std::min(most, key.memory_bytes / shape.memory_bytes);
  }
  int64_t offered = 0;
  int64_t all = 0;
  for (const DeviceGroup& group : key.devices) {
    DeviceEntry device;
    device.kind = group.kind;
    device.facts.memory_bytes = group.memory_bytes;
    device.facts.lacking = group.lacking;
    if (!Matches(device, {shape, entry.kind})) continue;
    offered += group.num_offered;
    all += group.num;
  }
  fit.ranks = static_cast<int>(std::min(most, offered / shape.devices));
  fit.ranks_of_all = static_cast<int>(std::min(most, all / shape.devices));
  return fit;
}

void AddFit(int id, int shape, Tables* tables) {
  WorkerClass& worker_class = tables->classes[id];
  ClassFit fit = FitOf(worker_class.key, tables->shapes[shape]);
  if (fit.ranks_of_all == 0) return;
  fit.worker_class = id;
  tables->shapes[shape].classes.push_back(fit);
  ++worker_class.num_shapes;
}

int ClassId(ClassKey key, Tables* tables) {
  const auto [it, inserted] = tables->class_ids.try_emplace(key, -1);
  if (!inserted) return it->second;
  if (tables->free_classes.empty()) {
    tables->free_classes.push_back(static_cast<int>(tables->classes.size()));
    tables->classes.emplace_back();
  }
  const int id = tables->free_classes.back();
  tables->free_classes.pop_back();
  it->second = id;
  tables->classes[id] = WorkerClass();
  tables->classes[id].key = std::move(key);
  for (const int shape : tables->shapes_used) AddFit(id, shape, tables);
  return id;
}

void ForgetClass(int id, Tables* tables) {
  for (const int shape : tables->shapes_used) {
    std::vector<ClassFit>& fits = tables->shapes[shape].classes;
    fits.erase(std::remove_if(
                   fits.begin(), fits.end(),
                   [&](const ClassFit& fit) { return fit.worker_class == id; }),
               fits.end());
  }
  tables->class_ids.erase(tables->classes[id].key);
  tables->free_classes.push_back(id);
}

// Adds what a worker's room counts for, times `sign`.
void Count(const Room& room, int sign, Tables* tables) {
  if (!room.takes_work) return;
  for (const KindRoom& kind : room.kinds) {
    KindEntry& entry = tables->kinds[kind.kind];
    entry.num_open += sign * OpenDevices(room, kind);
    if (HoldsBack(room, kind)) entry.num_held_back += sign;
  }
}

// Adds a worker that takes work, times `sign`, by when it is drained.
void CountServing(const Room& room, int sign, WorkerClass* worker_class,
                  Tables* tables) {
  if (!room.takes_work) return;
  const auto serving = worker_class->serving.try_emplace(room.drain_at, 0);
  serving.first->second += sign;
  if (serving.first->second == 0) worker_class->serving.erase(serving.first);
  if (room.drain_at < absl::InfiniteDuration()) tables->num_drained += sign;
}

void Reclassify(const Label& label, Tables* tables) {
  const auto workers = tables->workers_by_label.find(label);
  if (workers == tables->workers_by_label.end()) return;
  for (const int worker : workers->second) {
    UnindexWorker(worker, tables);
    IndexWorker(worker, tables);
  }
}

}  // namespace

int KindId(const std::string& name, Tables* tables) {
  const auto [it, inserted] = tables->kind_ids.try_emplace(
      name, static_cast<int>(tables->kinds.size()));
  if (inserted) {
    tables->kinds.emplace_back();
    tables->kinds.back().name = name;
  }
  return it->second;
}

int FindKind(const Tables& tables, absl::string_view name) {
  const auto it = tables.kind_ids.find(name);
  return it == tables.kind_ids.end() ? -1 : it->second;
}

int AcquireShape(const Shape& shape, Tables* tables) {
  const int id = tables->shape_ids.Acquire(shape);
  if (tables->shape_ids.uses(id) > 1) return id;
  if (tables->shapes.size() <= static_cast<size_t>(id)) {
    tables->shapes.resize(id + 1);
  }
  ShapeEntry& entry = tables->shapes[id];
  entry = ShapeEntry();
  entry.shape = shape;
  entry.kind = KindId(shape.kind, tables);
  for (const Label label : shape.labels) {
    if (++tables->labels_asked[label] == 1) Reclassify(label, tables);
  }
  tables->shapes_used.insert(id);
  for (const auto& [key, worker_class] : tables->class_ids) {
    AddFit(worker_class, id, tables);
  }
  return id;
}

void ReleaseShape(int id, Tables* tables) {
  const Shape shape = tables->shapes[id].shape;
  if (!tables->shape_ids.Release(id, shape)) return;
  for (const ClassFit& fit : tables->shapes[id].classes) {
    --tables->classes[fit.worker_class].num_shapes;
  }
  tables->shapes_used.erase(id);
  tables->shapes[id] = ShapeEntry();
  for (const Label label : shape.labels) {
    const auto it = tables->labels_asked.find(label);
    if (--it->second > 0) continue;
    tables->labels_asked.erase(it);
    Reclassify(label, tables);
  }
}

Ask AskOf(const Tables& tables, int shape) {
  return {tables.shapes[shape].shape, tables.shapes[shape].kind};
}

void IndexWorker(int worker, Tables* tables) {
  WorkerEntry& entry = tables->workers[worker];
  ORDO_CHECK(entry.worker_class < 0) << entry.facts.id;
  entry.worker_class = ClassId(KeyOf(*tables, entry), tables);
  entry.room = RoomWithReservation(*tables, worker);
  WorkerClass& worker_class = tables->classes[entry.worker_class];
  ++worker_class.num_workers;
  CountServing(entry.room, 1, &worker_class, tables);
  AddToIndex(worker, entry.room, &worker_class.rooms);
  Count(entry.room, 1, tables);
}

void UnindexWorker(int worker, Tables* tables) {
  WorkerEntry& entry = tables->workers[worker];
  if (entry.worker_class < 0) return;
  WorkerClass& worker_class = tables->classes[entry.worker_class];
  RemoveFromIndex(worker, entry.room, &worker_class.rooms);
  Count(entry.room, -1, tables);
  CountServing(entry.room, -1, &worker_class, tables);
  if (--worker_class.num_workers == 0) {
    ForgetClass(entry.worker_class, tables);
  }
  entry.worker_class = -1;
}

void RefreshRoom(int worker, Tables* tables) {
  WorkerEntry& entry = tables->workers[worker];
  RoomIndex& index = tables->classes[entry.worker_class].rooms;
  RemoveFromIndex(worker, entry.room, &index);
  Count(entry.room, -1, tables);
  entry.room = RoomWithReservation(*tables, worker);
  AddToIndex(worker, entry.room, &index);
  Count(entry.room, 1, tables);
}

Room RoomWithReservation(const Tables& tables, int worker) {
  const WorkerEntry& entry = tables.workers[worker];
  Room room = RoomOf(entry);
  if (entry.reserved_for == 0) return room;
  const ReservationEntry& reservation =
      tables.reservations.at(entry.reserved_for);
  const WaitEntry& job = tables.waiting.at(entry.reserved_for);
  for (const auto& [id, ranks] : reservation.workers) {
    if (id != worker) continue;
    Keep(entry, {},
         {AskOf(tables, tables.lanes[job.lane].shape), ranks, reservation.at},
         &room);
  }
  return room;
}

bool TakesUntil(const Room& room, absl::Duration ends_by) {
  return room.takes_work && ends_by <= room.drain_at;
}

int64_t NumTaking(const WorkerClass& worker_class, absl::Duration ends_by) {
  int64_t workers = 0;
  const auto& serving = worker_class.serving;
  for (auto it = serving.lower_bound(ends_by); it != serving.end(); ++it) {
    workers += it->second;
  }
  return workers;
}

bool IsFeasible(const Tables& tables, int shape, absl::Duration ends_by) {
  const ShapeEntry& entry = tables.shapes[shape];
  int64_t ranks = 0;
  for (const ClassFit& fit : entry.classes) {
    ranks += NumTaking(tables.classes[fit.worker_class], ends_by) * fit.ranks;
    if (ranks >= entry.shape.ranks) return true;
  }
  return false;
}

bool IsOffered(const Tables& tables, int shape) {
  const ShapeEntry& entry = tables.shapes[shape];
  int64_t ranks = 0;
  for (const ClassFit& fit : entry.classes) {
    ranks += int64_t{tables.classes[fit.worker_class].num_workers} *
             fit.ranks_of_all;
    if (ranks >= entry.shape.ranks) return true;
  }
  return false;
}

absl::Duration NextLapse(const Tables& tables, absl::Duration now,
                         absl::Duration grace) {
  absl::Duration left = absl::InfiniteDuration();
  if (tables.num_drained == 0) return left;
  for (const int shape : tables.shapes_used) {
    const ShapeEntry& entry = tables.shapes[shape];
    if (entry.num_waiting == 0) continue;
    const absl::Duration ends_by = LatestEnd(entry.shape, now, grace);
    for (const ClassFit& fit : entry.classes) {
      const auto& drains = tables.classes[fit.worker_class].serving;
      const auto drain = drains.lower_bound(ends_by);
      if (drain == drains.end()) continue;
      if (drain->first < absl::InfiniteDuration()) {
        left = std::min(left, drain->first - ends_by);
      }
    }
  }
  return now + left + absl::Nanoseconds(1);
}

int RanksWhenEmpty(const Tables& tables, int shape, int worker) {
  const int worker_class = tables.workers[worker].worker_class;
  for (const ClassFit& fit : tables.shapes[shape].classes) {
    if (fit.worker_class == worker_class) return fit.ranks;
  }
  return 0;
}

}  // namespace ordo::scheduler::policy
