#ifndef ORDO_TESTS_FAKE_BEHAVIOUR_H_
#define ORDO_TESTS_FAKE_BEHAVIOUR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ordo::tests::fake {

// How the fake trainer behaves, from the environment variable ORDO_FAKE, which
// a worker's configuration sets (trainer_environment):
//   ORDO_FAKE="*:step_ms=2;crashing-job:crash_at=7,once=1"
// Entries are joined by `;`, keys by `,`; `*` serves jobs that no entry names.
// Times are milliseconds, 0 is off.
struct Behaviour {
  // Before the first record; per step; within a checkpoint, after its first
  // file is written.
  int64_t start_ms = 0;
  int64_t step_ms = 0;
  int64_t checkpoint_ms = 0;
  // Held until the file <out>/go is there: before the first record (1), at the
  // start of this step, within the checkpoint of this step. At a step it goes
  // on reporting and leaves when it is asked to stop.
  int64_t hold_start = 0;
  int64_t hold_at = 0;
  int64_t hold_checkpoint = 0;
  // At the start of this step: abort, stop making progress, leave with
  // exit_code.
  int64_t crash_at = 0;
  int64_t hang_at = 0;
  int64_t exit_at = 0;
  int64_t exit_code = 1;
  // 1: the three above in the first attempt only.
  int64_t once = 0;
  // 1: SIGTERM is ignored.
  int64_t ignore_term = 0;
  // So many children are left behind; every second one leaves session and
  // group.
  int64_t grandchildren = 0;
  // So many MiB are printed at the start.
  int64_t log_mb = 0;
  // The disk takes so many bytes and is then full, up to the start of step
  // heal_at (0: for ever).
  int64_t disk_bytes = 0;
  int64_t heal_at = 0;
  // 1: it holds the file `device` in its worker's state folder for as long as
  // it lives, and says so in `double_booked` there when another trainer does.
  // For workers with one device.
  int64_t claim = 0;
};

// The behaviour of `job`. INVALID_ARGUMENT names an unknown key or a value that
// is no number.
absl::StatusOr<Behaviour> ParseBehaviour(std::string_view text,
                                         std::string_view job);

}  // namespace ordo::tests::fake

#endif  // ORDO_TESTS_FAKE_BEHAVIOUR_H_
