#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  for (const std::string& argument : arguments.positional()) {
    jobs::v1::CancelJobRequest request;
    ORDO_ASSIGN_OR_RETURN(*request.mutable_name(), JobName(argument));
    ORDO_ASSIGN_OR_RETURN(
        const jobs::v1::Job job,
        context.client.Call(context.client.jobs(),
                            &jobs::v1::JobsService::Stub::CancelJob, request));
    if (PrintStructured(context, job)) continue;
    const Cell state = StateCell(job.state());
    context.out << ShortName(job.name()) << " "
                << Paint(context.terminal, state.color, state.text) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

Command CancelCommand() {
  Command command;
  command.name = "cancel";
  command.arguments = "JOB...";
  command.summary = "end jobs that have not ended";
  command.help =
      "The trainer gets a moment to leave, then it is killed. Checkpoints "
      "that\n"
      "were written stay. A job that has ended already is an error.";
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
