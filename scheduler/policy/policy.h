#ifndef ORDO_SCHEDULER_POLICY_POLICY_H_
#define ORDO_SCHEDULER_POLICY_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// Placement: which waiting job gets which free device. Pure: a policy is a
// stateless, idempotent function from a snapshot to placements, tested as a
// table of states.

namespace ordo::scheduler::policy {

// No call places more jobs than this; the caller calls again.
inline constexpr size_t kMaxPlacements = 1024;

// A free device.
struct DeviceId {
  std::string worker;
  // Such as "cpu:0".
  std::string device;
};

inline bool operator<(const DeviceId& a, const DeviceId& b) {
  return std::tie(a.worker, a.device) < std::tie(b.worker, b.device);
}
inline bool operator==(const DeviceId& a, const DeviceId& b) {
  return a.worker == b.worker && a.device == b.device;
}

// Names of kernels, <table>/<kernel>, such as attention/cpu_tiled.
using Kernels = std::set<std::string>;

// What a job asks of its devices.
struct Need {
  std::string kind;
  // Those that it names.
  Kernels kernels;
  // Its processes, and the devices of each, all on one worker.
  int ranks = 1;
  int devices = 1;

  auto tied() const { return std::tie(kind, kernels, ranks, devices); }
};

inline bool operator<(const Need& a, const Need& b) {
  return a.tied() < b.tied();
}
inline bool operator==(const Need& a, const Need& b) {
  return a.tied() == b.tied();
}

// By what they need: the jobs that may start now, by order of submission.
using WaitingJobs = std::map<Need, std::map<int64_t, std::string>>;
// By kind of device: those that may be given away, and the kernels that each
// lacks.
using FreeDevices = std::map<std::string, std::map<DeviceId, Kernels>>;

// A read-only view over indexes of the core; nothing is copied. A need or a
// kind without entries may be there or missing.
struct Snapshot {
  const WaitingJobs& waiting;
  const FreeDevices& free;
};

// Where one rank runs.
struct RankPlace {
  std::string worker;
  std::vector<std::string> devices;
};

inline bool operator==(const RankPlace& a, const RankPlace& b) {
  return a.worker == b.worker && a.devices == b.devices;
}

struct Placement {
  std::string job;
  // By rank.
  std::vector<RankPlace> parts;
};

inline bool operator==(const Placement& a, const Placement& b) {
  return a.job == b.job && a.parts == b.parts;
}

// Each job and each device at most once, at most kMaxPlacements; all ranks of a
// job or none. No job gets a device that lacks a kernel it names. Below that
// limit, no job that waits and no device that stays free would do for each
// other.
using PlaceFunction = std::vector<Placement> (*)(const Snapshot&);

struct Policy {
  std::string_view name;
  PlaceFunction place;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_POLICY_H_
