#ifndef ORDO_SCHEDULER_POLICY_TABLES_H_
#define ORDO_SCHEDULER_POLICY_TABLES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "scheduler/policy/data_roots.h"
#include "scheduler/policy/facts.h"
#include "scheduler/policy/interner.h"
#include "scheduler/policy/job_order.h"
#include "scheduler/policy/room.h"
#include "scheduler/policy/shape.h"

// What is in a board. Internal to scheduler/policy. Kinds, queues, owners,
// parents, shapes, lanes, workers and classes are numbers from 0 here.

namespace ordo::scheduler::policy {

// The waiting jobs of one queue, shape, owner and parent: what holds up one
// holds up all behind it.
struct Lane {
  int queue = -1;
  int shape = -1;
  int owner = -1;
  // -1: no parent limits them.
  int parent = -1;
  JobOrder jobs;
  int num_running = 0;
  // Of its jobs that have one.
  int num_reserved = 0;
};

// A lane by its first job.
struct LaneHead {
  OrderKey key;
  int lane = -1;
};

inline bool operator<(const LaneHead& a, const LaneHead& b) {
  return a.key < b.key;
}

// An attempt by how soon it makes room for another job: the smallest priority
// first; of those with as many devices, what loses least first.
struct AttemptKey {
  int priority = 0;
  int devices = 0;
  absl::Duration checkpointed;
  int64_t job = 0;
  // No part of the order.
  absl::Duration started;
};

inline bool operator<(const AttemptKey& a, const AttemptKey& b) {
  return std::tie(a.priority, a.devices, b.checkpointed, a.job) <
         std::tie(b.priority, b.devices, a.checkpointed, b.job);
}

// What a queue has to do with one kind of device.
struct QueueKind {
  Quota quota;
  // Device-seconds, decayed up to `used_at`.
  double used = 0;
  absl::Duration used_at = -absl::InfiniteDuration();
  // Devices of attempts; of them, those of attempts that have been told to
  // stop.
  int held = 0;
  int stopping = 0;
  // Devices that reservations of its jobs count with.
  int kept = 0;
  // Lanes in which a job waits.
  absl::btree_set<LaneHead> lanes;
  // Waiting jobs by priority.
  absl::btree_map<int, int64_t> priorities;
  // Of attempts, but for those told to stop.
  absl::btree_set<AttemptKey> attempts;
  // How long attempts took lately; 0: none has ended.
  double mean_run_s = 0;
};

// Devices that an owner holds in a queue, or has reservations for.
struct OwnerUse {
  int held = 0;
  int kept = 0;
};

// What at most so many parts of run or have a reservation.
struct ParentEntry {
  std::string name;
  int max_parallel = 0;
  int num_running = 0;
  int num_reserved = 0;
};

struct QueueEntry {
  std::string name;
  double weight = 1;
  std::optional<int> max_per_owner;
  // By kind.
  std::map<int, QueueKind> kinds;
  absl::flat_hash_map<int, OwnerUse> owners;
  int64_t num_waiting = 0;
  int64_t num_running = 0;
};

struct KindEntry {
  std::string name;
  // With a job that waits.
  std::set<int> queues;
  // Shapes of jobs that wait; of them, those with a limit of time.
  int num_shapes = 0;
  int num_limited_shapes = 0;
  // Over all workers: devices for attempts without end, and workers that have
  // more for some that end early enough (HoldsBack).
  int64_t num_open = 0;
  int64_t num_held_back = 0;
};

// A class whose workers have, when they are empty, room for so many ranks.
struct ClassFit {
  int worker_class = -1;
  // Of the devices that are offered, and of all.
  int ranks = 0;
  int ranks_of_all = 0;
};

struct ShapeEntry {
  Shape shape;
  int kind = -1;
  int64_t num_waiting = 0;
  // With room for one rank at least.
  std::vector<ClassFit> classes;
};

// Devices of a worker that are alike.
struct DeviceGroup {
  int kind = -1;
  int64_t memory_bytes = 0;
  std::set<std::string> lacking;
  int num_offered = 0;
  int num = 0;
};

inline bool operator<(const DeviceGroup& a, const DeviceGroup& b) {
  return std::tie(a.kind, a.memory_bytes, a.lacking, a.num_offered, a.num) <
         std::tie(b.kind, b.memory_bytes, b.lacking, b.num_offered, b.num);
}

using Label = std::pair<std::string, std::string>;

// What decides which shapes a worker has room for when it is empty.
struct ClassKey {
  std::vector<DeviceGroup> devices;
  int cpus = 0;
  int64_t memory_bytes = 0;
  std::set<std::string> single_rank_kinds;
  // Those that a shape asks for.
  std::vector<Label> labels;
  DataRoots data_roots;
};

inline bool operator<(const ClassKey& a, const ClassKey& b) {
  return std::tie(a.devices, a.cpus, a.memory_bytes, a.single_rank_kinds,
                  a.labels, a.data_roots) <
         std::tie(b.devices, b.cpus, b.memory_bytes, b.single_rank_kinds,
                  b.labels, b.data_roots);
}

struct WorkerClass {
  ClassKey key;
  int num_workers = 0;
  // Of those, the ones that take work, by when they are drained; infinite: not.
  absl::btree_map<absl::Duration, int> serving;
  // Shapes that it has room for.
  int num_shapes = 0;
  // Of workers that take work.
  RoomIndex rooms;
};

// One rank of an attempt.
struct RunPart {
  int worker = -1;
  int rank = 0;
};

struct RunEntry {
  int lane = -1;
  int priority = 0;
  bool stopping = false;
  absl::Duration started;
  absl::Duration checkpointed;
  // As it was noted; infinite: nothing was.
  absl::Duration expected_end = absl::InfiniteDuration();
  // Those that have not ended.
  absl::InlinedVector<RunPart, 1> parts;
};

struct WaitEntry {
  int64_t k = 0;
  int lane = -1;
  int16_t priority = 0;
};

struct ReservationEntry {
  absl::Duration at;
  std::vector<std::pair<int, int>> workers;  // and ranks
};

struct Tables {
  std::vector<KindEntry> kinds;
  std::map<std::string, int, std::less<>> kind_ids;

  std::vector<QueueEntry> queues;
  // In use; the order in which equals are looked at.
  std::map<std::string, int, std::less<>> queue_ids;
  std::vector<int> free_queues;

  Interner<std::string> owners;
  std::vector<std::string> owner_names;

  // Of lanes that have one.
  Interner<std::string> parent_ids;
  std::vector<ParentEntry> parents;

  Interner<Shape> shape_ids;
  std::vector<ShapeEntry> shapes;
  // Numbers of those in use.
  std::set<int> shapes_used;

  // By queue, shape, owner, parent.
  absl::flat_hash_map<std::tuple<int, int, int, int>, int> lane_ids;
  std::vector<Lane> lanes;
  std::vector<int> free_lanes;

  absl::flat_hash_map<int64_t, WaitEntry> waiting;
  // By job; of those that wait and avoid any.
  std::map<int64_t, DevicesByWorker> avoided;
  absl::flat_hash_map<int64_t, RunEntry> running;
  std::map<int64_t, ReservationEntry> reservations;
  // When victims are looked for again.
  absl::Duration preempt_at = -absl::InfiniteDuration();

  std::vector<WorkerEntry> workers;
  absl::flat_hash_map<std::string, int> worker_ids;
  std::vector<int> free_workers;
  std::map<Label, std::set<int>> workers_by_label;
  // How many shapes ask for it.
  std::map<Label, int> labels_asked;

  std::vector<WorkerClass> classes;
  std::map<ClassKey, int> class_ids;
  // Workers that take work and will be drained.
  int num_drained = 0;
  std::vector<int> free_classes;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_TABLES_H_
