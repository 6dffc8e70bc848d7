#ifndef ORDO_SCHEDULER_POLICY_OPTIONS_H_
#define ORDO_SCHEDULER_POLICY_OPTIONS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace ordo::scheduler::policy {

struct BoardOptions {
  // A point of priority is worth having been submitted this much earlier.
  absl::Duration aging = absl::Seconds(60);
  // Used device-time counts half as much after this.
  absl::Duration half_life = absl::Hours(24);
  // Each device that is given counts as used for so long at once, so that one
  // call shares out what is free.
  absl::Duration start_charge = absl::Seconds(60);
  // What an attempt may take to end after its limit, or after it is told to
  // stop.
  absl::Duration grace = absl::Seconds(30);
  // Who might be preempted is looked for once in this time.
  absl::Duration preemption_period = absl::Seconds(1);
  // No younger attempt is preempted.
  absl::Duration min_run_time = absl::Seconds(60);
  // Blocked jobs that room is kept for at a time, those that preempt apart.
  size_t max_reservations = 16;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_OPTIONS_H_
