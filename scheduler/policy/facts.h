#ifndef ORDO_SCHEDULER_POLICY_FACTS_H_
#define ORDO_SCHEDULER_POLICY_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/policy/data_roots.h"
#include "scheduler/policy/decisions.h"
#include "scheduler/policy/shape.h"

// What a board is told.

namespace ordo::scheduler::policy {

// What a queue may have of one kind of device.
struct Quota {
  // It gets these before any queue borrows, and takes them back from queues
  // that do.
  int guaranteed = 0;
  // It never holds more than these; nothing: no limit.
  std::optional<int> limit;
};

struct Queue {
  std::string name;
  // Its part of the device-time beside those of the others; above 0.
  double weight = 1;
  // By kind of device.
  std::map<std::string, Quota> quotas;
  // Devices of all kinds that jobs of one owner hold in it; nothing: no limit.
  std::optional<int> max_per_owner;
};

struct Device {
  // Unique on its worker, such as "cpu:0".
  std::string name;
  std::string kind;
  int64_t memory_bytes = 0;
  // Kernels, <table>/<kernel>, that it is not to be used with.
  std::set<std::string> lacking;
  // Whether new attempts may get it: not withheld, not in quarantine.
  bool offered = true;
};

inline bool operator==(const Device& a, const Device& b) {
  return std::tie(a.name, a.kind, a.memory_bytes, a.lacking, a.offered) ==
         std::tie(b.name, b.kind, b.memory_bytes, b.lacking, b.offered);
}

struct Worker {
  std::string id;
  std::vector<Device> devices;
  // Of the whole machine, for those jobs that set cores and memory aside.
  int cpus = 0;
  int64_t memory_bytes = 0;
  std::map<std::string, std::string> labels;
  // Below which jobs may name data by its whole path.
  DataRoots data_roots = {};
  // Kinds of its devices on which no rank of several may start.
  std::set<std::string> single_rank_kinds;
  // Whether new attempts may start here: online, not cordoned, not draining.
  bool takes_work = true;
  // Nothing starts here that may run beyond this.
  absl::Duration drain_at = absl::InfiniteDuration();
};

inline bool operator==(const Worker& a, const Worker& b) {
  return std::tie(a.id, a.devices, a.cpus, a.memory_bytes, a.labels,
                  a.data_roots, a.single_rank_kinds, a.takes_work,
                  a.drain_at) ==
         std::tie(b.id, b.devices, b.cpus, b.memory_bytes, b.labels,
                  b.data_roots, b.single_rank_kinds, b.takes_work, b.drain_at);
}

// Names of devices by worker; none: all that it has.
using DevicesByWorker = std::map<std::string, std::set<std::string>>;

struct WaitingJob {
  // Unique, grows with each creation.
  int64_t sequence = 0;
  absl::string_view queue;
  // Whose it is, for the limits of owners.
  absl::string_view owner;
  // Copied.
  const Shape& shape;
  // Larger is earlier, within its queue; -32768..32767.
  int priority = 0;
  // When it was submitted; a job that waits again keeps it.
  absl::Time since;
  // It gets these only where there is no room without them.
  DevicesByWorker avoided = {};
  // What it is part of, if at most so many of the parts run, or have room kept
  // for them, at a time; empty: nothing limits it so.
  absl::string_view parent = {};
  int max_parallel = 0;
};

// An attempt of a job.
struct Run {
  // One for each rank, on workers and devices that are there and free.
  std::vector<Part> parts;
  // With the shape's limit and the grace: when it ends at the latest.
  absl::Duration started;
  // When it last reached something durable: its start or a checkpoint.
  absl::Duration checkpointed;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_FACTS_H_
