#ifndef ORDO_SCHEDULER_CORE_MOMENT_H_
#define ORDO_SCHEDULER_CORE_MOMENT_H_

#include "absl/time/time.h"
#include "base/units/proto_time.h"

namespace ordo::scheduler::core {

// The time of an event, read once by the shell. Deadlines are kept on the
// monotonic clock, so that a jump of the wall clock loses no worker; records
// and people get the wall clock.
struct Moment {
  absl::Time wall;
  absl::Duration monotonic;
};

using base::ToDuration;
using base::ToProtoDuration;
using base::ToTime;
using base::ToTimestamp;

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_MOMENT_H_
