#ifndef ORDO_SERVICES_CLI_COMMANDS_CHECKPOINT_NAMES_H_
#define ORDO_SERVICES_CLI_COMMANDS_CHECKPOINT_NAMES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "services/cli/context.h"

// Checkpoints by what people call them.

namespace ordo::services::cli {

// The alias of a resource name.
absl::StatusOr<checkpoints::v1::Alias> GetAlias(Context& context,
                                                const std::string& name);

// Prints an alias, and who moved it.
absl::Status ShowAlias(Context& context, const std::string& name);

// The full resource name of a checkpoint: jobs/JOB/checkpoints/CHECKPOINT,
// where `latest` and `last` are the newest, JOB for its newest, or
// aliases/ALIAS for what that names. `best` is left to the server.
absl::StatusOr<std::string> CheckpointNamed(Context& context,
                                            const std::string& text);

// What is to be known of a checkpoint beside its state, such as
// "main, pinned, thinned"; empty: nothing.
std::string NotesOf(const checkpoints::v1::Checkpoint& checkpoint);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_CHECKPOINT_NAMES_H_
