#ifndef ORDO_WORKER_TRAINER_EXIT_CODE_H_
#define ORDO_WORKER_TRAINER_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"
#include "proto/ordo/training/v1/exit_code.pb.h"

// The one place where errors become exit codes.

namespace ordo::worker::trainer {

using ordo::training::v1::ExitCode;

// The error, marked to end the trainer with `code`. OK stays OK; a mark that is
// there already stays.
absl::Status WithExitCode(const absl::Status& status, ExitCode code);

// The mark, or what the status code stands for: INVALID_ARGUMENT is BAD_SPEC,
// RESOURCE_EXHAUSTED OUT_OF_MEMORY, UNAVAILABLE DEVICE_ERROR, anything else
// INTERNAL_ERROR. OK is FINISHED.
ExitCode ExitCodeOf(const absl::Status& status);

// "<message>; <fix>", with the fix of exit_code.proto where there is one for
// those who run the trainer by hand.
std::string MessageForPeople(const absl::Status& status);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_EXIT_CODE_H_
