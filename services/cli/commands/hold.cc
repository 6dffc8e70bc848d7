#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/each.h"
#include "services/cli/commands/parts.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

absl::Status HoldOne(Context& context, const std::string& argument) {
  jobs::v1::HoldJobRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(), JobName(argument));
  ORDO_ASSIGN_OR_RETURN(
      const jobs::v1::Job job,
      context.client.Call(context.client.jobs(),
                          &jobs::v1::JobsService::Stub::HoldJob, request));
  if (!PrintStructured(context, job)) {
    context.out << ShortName(job.name()) << " held by "
                << Printable(job.held_by()) << "\n";
  }
  SayWhatRunsOn(context, job);
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  return ForEach(context, arguments.positional(), HoldOne);
}

}  // namespace

Command HoldCommand() {
  Command command;
  command.name = "hold";
  command.arguments = "JOB...";
  command.summary = "keep queued jobs from starting";
  command.help =
      "They keep their place and start no earlier than after ordo release.\n"
      "Holding a job again changes nothing. One that is not QUEUED is an "
      "error;\n"
      "the others are held all the same. Of a sweep, comparison or pipeline, "
      "the\n"
      "parts that are queued are held too; those that run go on.";
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
