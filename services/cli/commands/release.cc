#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/each.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

absl::Status ReleaseOne(Context& context, const std::string& argument) {
  jobs::v1::ReleaseJobRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(), JobName(argument));
  ORDO_ASSIGN_OR_RETURN(
      const jobs::v1::Job job,
      context.client.Call(context.client.jobs(),
                          &jobs::v1::JobsService::Stub::ReleaseJob, request));
  if (PrintStructured(context, job)) return absl::OkStatus();
  context.out << ShortName(job.name()) << " released\n";
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  return ForEach(context, arguments.positional(), ReleaseOne);
}

}  // namespace

Command ReleaseCommand() {
  Command command;
  command.name = "release";
  command.arguments = "JOB...";
  command.summary = "let held jobs start again";
  command.help =
      "Ends what ordo hold, or `hold: true` in the job's file, began. A job "
      "that\n"
      "nobody holds stays as it is. One that is not QUEUED is an error; the\n"
      "others are released all the same.";
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
