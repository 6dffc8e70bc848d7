#ifndef ORDO_SCHEDULER_POLICY_SHAPE_H_
#define ORDO_SCHEDULER_POLICY_SHAPE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/time/time.h"

namespace ordo::scheduler::policy {

// What a job asks of machines. Jobs that ask for the same are placed alike.
struct Shape {
  // Of device, such as "cpu".
  std::string kind;
  // All of them run, or none does. At least 1.
  int ranks = 1;
  // Of each rank, all on one worker. At least 1.
  int devices = 1;
  // Least memory of each device; 0: any.
  int64_t device_memory_bytes = 0;
  // Set aside for each rank on its worker; 0: none.
  int cpus = 0;
  int64_t memory_bytes = 0;
  // Labels that its workers have, key and value.
  std::map<std::string, std::string> labels;
  // Nothing else runs on its workers meanwhile. Counts as the devices that it
  // asks for, not as those that it keeps others from.
  bool exclusive = false;
  // <table>/<kernel>, or what else only some devices can do, none of which its
  // devices lack.
  std::set<std::string> kernels;
  // Whole paths of data that its workers may read.
  std::set<std::string> data_paths;
  // How long an attempt may run; zero: for ever.
  absl::Duration run_time_limit;

  int num_devices() const { return ranks * devices; }
};

inline auto KeyOf(const Shape& shape) {
  return std::tie(shape.kind, shape.ranks, shape.devices,
                  shape.device_memory_bytes, shape.cpus, shape.memory_bytes,
                  shape.labels, shape.exclusive, shape.kernels,
                  shape.data_paths, shape.run_time_limit);
}
inline bool operator==(const Shape& a, const Shape& b) {
  return KeyOf(a) == KeyOf(b);
}
inline bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

// When an attempt that starts at `start` has ended at the latest, if it leaves
// within `grace` of its limit. Infinite: it has none.
inline absl::Duration LatestEnd(const Shape& shape, absl::Duration start,
                                absl::Duration grace) {
  if (shape.run_time_limit == absl::ZeroDuration()) {
    return absl::InfiniteDuration();
  }
  return start + shape.run_time_limit + grace;
}

template <typename H>
H AbslHashValue(H state, const Shape& shape) {
  return H::combine(std::move(state), shape.kind, shape.ranks, shape.devices,
                    shape.device_memory_bytes, shape.cpus, shape.memory_bytes,
                    shape.labels, shape.exclusive, shape.kernels,
                    shape.data_paths, shape.run_time_limit);
}

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_SHAPE_H_
