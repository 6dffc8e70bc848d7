#ifndef ORDO_WORKER_TRAINER_COMMANDS_H_
#define ORDO_WORKER_TRAINER_COMMANDS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "worker/trainer/command_line.h"

namespace ordo::worker::trainer {

// What commands reach the world through.
struct CommandContext {
  base::Filesystem& files;
  base::Clock& clock;
  std::function<bool()> stop_requested;
  // As TrainerContext::leave.
  std::function<void(ordo::training::v1::ExitCode)> leave =
      [](ordo::training::v1::ExitCode) {};
};

// Runs a command. Errors are marked with their exit code.
absl::StatusOr<ordo::training::v1::ExitCode> RunCommand(
    const CommandContext& context, const CommandLine& line);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_COMMANDS_H_
