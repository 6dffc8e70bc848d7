#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/parts.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  jobs::v1::SetJobPriorityRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(),
                        JobName(arguments.positional()[0]));
  const std::string& text = arguments.positional()[1];
  int32_t priority = 0;
  if (!absl::SimpleAtoi(text, &priority)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a priority is a whole number from -1000 to 1000; not '", text, "'"));
  }
  request.set_priority(priority);
  ORDO_ASSIGN_OR_RETURN(
      const jobs::v1::Job job,
      context.client.Call(context.client.jobs(),
                          &jobs::v1::JobsService::Stub::SetJobPriority,
                          request));
  if (!PrintStructured(context, job)) {
    context.out << ShortName(job.name()) << " priority " << job.priority()
                << "\n";
  }
  SayWhatRunsOn(context, job);
  return ExitCode::kOk;
}

}  // namespace

Command PriorityCommand() {
  Command command;
  command.name = "priority";
  command.arguments = "JOB NUMBER";
  command.summary = "move a queued job in its queue";
  command.help =
      "NUMBER is -1000 to 1000; jobs begin with that of their file, or 0. A "
      "larger\n"
      "one is earlier. Jobs that wait get older, so that none waits for ever.\n"
      "Of a sweep, comparison or pipeline, the parts that are queued get it "
      "too.";
  command.min_arguments = 2;
  command.max_arguments = 2;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
