#ifndef ORDO_SCHEDULER_CORE_WALL_HISTORY_H_
#define ORDO_SCHEDULER_CORE_WALL_HISTORY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/moment.h"

// Times of records are the wall clock's, which people and programs set; time
// limits go by the monotonic one, which goes on as long as the machine is up.
// What the wall clock was set to since the boot leads from one to the other. Of
// what was recorded in another boot, or on another machine, nothing but the
// wall clock is known.

namespace ordo::scheduler::core {

// The two clocks are read one after the other, and one may be slewed.
inline constexpr absl::Duration kClockTolerance = absl::Milliseconds(100);
// The newest are kept.
inline constexpr size_t kMaxClockSettings = 16;

// Plain data, copyable.
class WallHistory {
 public:
  // Takes note of how the wall clock is set; whether it is another setting than
  // the last.
  bool Note(const Moment& now);

  // What the monotonic clock showed at that time, at most what it shows now. Of
  // several such moments, which there are when the wall clock went back, the
  // last: nobody's limit is over too early. Where there was none since the
  // boot, by the wall clock as it is now.
  absl::Duration MonotonicAt(absl::Time time, const Moment& now) const;

  // The row that says it, of this boot; and what one says, taken back, unless
  // it is of another boot. DATA_LOSS when it cannot be read.
  RowPtr ToRow(const std::string& boot_id) const;
  absl::Status Take(const Row& row, const std::string& boot_id);

 private:
  struct Setting {
    absl::Duration from;
    absl::Time origin;
  };

  // Of one boot, oldest first; none: nothing is known.
  std::vector<Setting> settings_;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_WALL_HISTORY_H_
