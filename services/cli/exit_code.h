#ifndef ORDO_SERVICES_CLI_EXIT_CODE_H_
#define ORDO_SERVICES_CLI_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"

namespace ordo::services::cli {

// Exit codes of `ordo`, part of its contract with scripts.
enum class ExitCode {
  kOk = 0,
  kJobFailed = 1,
  kBadInput = 2,
  kCancelled = 3,
  kUnreachable = 4,
  kTimedOut = 5,
  // Of `ordo gate`: the candidate is worse, or neither that nor the contrary
  // was shown.
  kGateFailed = 6,
  kInconclusive = 7,
  // By a limit, the room on a disk included, or by what another did meanwhile:
  // later, or after a look, the same may be taken.
  kRefusedForNow = 8,
  // A store, a checkpoint or another file does not hold what it held.
  kDamaged = 9,
  kBug = 70,
};

// The exit code that tells of an error.
ExitCode ExitCodeOf(const absl::Status& status);

// What a program of ours that did not start ended with, in these words: the
// error that the exit code tells of; FAILED_PRECONDITION for those that tell
// nothing of where the fault lies.
absl::Status ErrorOfExit(int exit_code, const std::string& message);

// The exit code that tells how a job ended; kOk for one that goes on.
ExitCode ExitCodeOf(jobs::v1::Job::State state);

// The code for several jobs: a failed one outweighs a cancelled one.
ExitCode Worse(ExitCode a, ExitCode b);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_EXIT_CODE_H_
