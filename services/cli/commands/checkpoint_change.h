#ifndef ORDO_SERVICES_CLI_COMMANDS_CHECKPOINT_CHANGE_H_
#define ORDO_SERVICES_CLI_COMMANDS_CHECKPOINT_CHANGE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status/status.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "services/cli/commands/checkpoint_names.h"
#include "services/cli/commands/each.h"
#include "services/cli/context.h"
#include "services/cli/exit_code.h"
#include "services/cli/options.h"
#include "services/cli/print.h"

namespace ordo::services::cli {

// A method that changes a checkpoint, and what is then said of that.
template <typename Request>
struct CheckpointChange {
  using Stub = checkpoints::v1::CheckpointsService::Stub;

  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                               checkpoints::v1::Checkpoint*);
  std::string done;
};

// Does it to the checkpoint of this resource name, with --reason, and prints
// it. What is so already is no error, so that a second try is none either.
template <typename Request>
absl::Status ChangeCheckpoint(Context& context, const Arguments& arguments,
                              const CheckpointChange<Request>& change,
                              const std::string& name) {
  Request request;
  request.set_name(name);
  request.set_reason(arguments.Get("reason", ""));
  ORDO_ASSIGN_OR_RETURN(const checkpoints::v1::Checkpoint checkpoint,
                        context.client.Call(context.client.checkpoints(),
                                            change.method, request));
  if (!PrintStructured(context, checkpoint)) {
    context.out << checkpoint.name() << " " << change.done << "\n";
  }
  return absl::OkStatus();
}

// The same for each checkpoint that the command names.
template <typename Request>
absl::StatusOr<ExitCode> ChangeCheckpoints(
    Context& context, const Arguments& arguments,
    const CheckpointChange<Request>& change) {
  return ForEach(context, arguments.positional(),
                 [&](Context& each, const std::string& text) -> absl::Status {
                   ORDO_ASSIGN_OR_RETURN(const std::string name,
                                         CheckpointNamed(each, text));
                   return ChangeCheckpoint(each, arguments, change, name);
                 });
}

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_CHECKPOINT_CHANGE_H_
