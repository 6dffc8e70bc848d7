#include <string>

#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

// Whether it has that place, and not something else holds it.
bool WaitsForDevices(const jobs::v1::ExplainResponse& response) {
  if (response.blockers().empty()) return true;
  const std::string& reason = response.blockers(0).reason();
  return reason != "HELD" && reason != "WAITING_FOR_NEEDS" &&
         reason != "WAITING_FOR_CHECKPOINT" && reason != "WAITING_FOR_RESULT" &&
         reason != "BACKOFF";
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  jobs::v1::ExplainRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(),
                        JobName(arguments.positional()[0]));
  ORDO_ASSIGN_OR_RETURN(
      const jobs::v1::ExplainResponse response,
      context.client.Call(context.client.jobs(),
                          &jobs::v1::JobsService::Stub::Explain, request));
  if (PrintStructured(context, response)) return ExitCode::kOk;
  context.out << Printable(WithLocalTimes(response.summary())) << "\n";
  // The first is what holds it; alone it is what the summary says.
  for (const auto& blocker : response.blockers()) {
    if (response.blockers_size() == 1) break;
    context.out << "  "
                << Paint(context.terminal, Color::kBold, blocker.reason())
                << "  " << Printable(WithLocalTimes(blocker.message())) << "\n";
  }
  if (response.has_jobs_ahead()) {
    context.out << "  place in the queue: " << response.jobs_ahead() + 1
                << (WaitsForDevices(response) ? "" : ", if it were free now")
                << "\n";
  }
  if (response.has_estimated_start_time()) {
    context.out << "  starts about "
                << FormatTime(response.estimated_start_time())
                << ", at a guess, if nothing fails\n";
  }
  return ExitCode::kOk;
}

}  // namespace

Command ExplainCommand() {
  Command command;
  command.name = "explain";
  command.arguments = "JOB";
  command.summary = "say what a job waits for or does";
  command.help =
      "Of a job that waits: the one thing that holds it, what comes after "
      "that,\n"
      "its place in the queue (of one that is on hold, backs off or needs "
      "others:\n"
      "if it were free now) and, where that can be guessed, when it will "
      "start:\n"
      "by the progress of what runs, and by how long jobs of its queue took "
      "lately\n"
      "or may take; jobs that take otherwise put it far off.";
  command.min_arguments = 1;
  command.max_arguments = 1;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
