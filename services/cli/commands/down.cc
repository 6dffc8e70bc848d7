#include "base/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/commands/commands.h"
#include "services/cli/deployment.h"
#include "services/cli/print.h"
#include "services/cli/stop_deployment.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string named =
      arguments.Get("dir", context.environment("ORDO_DIR").value_or(""));
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        DeploymentFolder(context.files, named,
                                         DataHome(context.environment), false));
  ORDO_ASSIGN_OR_RETURN(const int num_stopped, StopDeployment(context, folder));
  google::protobuf::Struct fields;
  (*fields.mutable_fields())["folder"].set_string_value(folder);
  (*fields.mutable_fields())["stopped"].set_number_value(num_stopped);
  if (!PrintStructured(context, fields)) {
    context.out << (num_stopped == 0 ? "nothing runs in " : "stopped ")
                << folder << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

Command DownCommand() {
  Command command;
  command.name = "down";
  command.summary = "stop what `ordo up` started";
  command.help =
      "Running jobs write a checkpoint and are queued again; `ordo up` in the\n"
      "same folder goes on with them.";
  command.options = {
      {"dir", 0, "DIR", "default $ORDO_DIR, else $XDG_DATA_HOME/ordo"},
  };
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
