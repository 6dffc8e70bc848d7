#ifndef ORDO_BASE_CLOCK_CLOCK_H_
#define ORDO_BASE_CLOCK_CLOCK_H_

#include "absl/time/time.h"

namespace ordo::base {

// Where time comes from. Passed to whatever needs it, so that a test decides.
// Implementations may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  // Wall clock: for records and people. May jump.
  virtual absl::Time Now() const = 0;

  // Time since a fixed but arbitrary moment; never goes back. For deadlines and
  // for measuring.
  virtual absl::Duration Monotonic() const = 0;
};

// The clock of this machine.
class RealClock : public Clock {
 public:
  absl::Time Now() const override;
  absl::Duration Monotonic() const override;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_CLOCK_CLOCK_H_
