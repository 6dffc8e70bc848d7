#include <string>
#include <vector>

#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/each.h"
#include "services/cli/commands/submission.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

// A cancel that was done but whose answer was lost finds, at the second try, a
// job that has ended: that is what was asked for.
absl::StatusOr<jobs::v1::Job> Cancel(Context& context,
                                     const std::string& name) {
  jobs::v1::CancelJobRequest request;
  request.set_name(name);
  bool maybe_done = false;
  const auto cancelled = context.client.Call(
      context.client.jobs(), &jobs::v1::JobsService::Stub::CancelJob, request,
      &maybe_done);
  if (!maybe_done ||
      cancelled.status().code() != absl::StatusCode::kFailedPrecondition) {
    return cancelled;
  }
  const absl::StatusOr<jobs::v1::Job> job = GetJob(context, name);
  if (job.ok() && job->state() == jobs::v1::Job::CANCELLED) return job;
  return cancelled;
}

absl::Status CancelOne(Context& context, const std::string& argument) {
  ORDO_ASSIGN_OR_RETURN(const std::string name, JobName(argument));
  ORDO_ASSIGN_OR_RETURN(const jobs::v1::Job job, Cancel(context, name));
  if (PrintStructured(context, job)) return absl::OkStatus();
  const Cell state = StateCell(job.state());
  context.out << ShortName(job.name()) << " "
              << Paint(context.terminal, state.color, state.text) << "\n";
  return absl::OkStatus();
}

// Those that could start come first: else one of them might, on a device that
// another leaves. In the order given, as far as the scheduler does not say.
std::vector<std::string> InOrder(Context& context,
                                 const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return arguments;
  std::vector<std::string> ordered;
  std::vector<std::string> later;
  bool answers = true;
  for (const std::string& argument : arguments) {
    const auto name = JobName(argument);
    bool could_start = false;
    if (answers && name.ok()) {
      const auto job = GetJob(context, *name);
      answers = job.ok() || absl::IsNotFound(job.status());
      could_start = job.ok() && CouldStart(*job);
    }
    (could_start ? ordered : later).push_back(argument);
  }
  ordered.insert(ordered.end(), later.begin(), later.end());
  return ordered;
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  return ForEach(context, InOrder(context, arguments.positional()), CancelOne);
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
      "were written stay. A job that has ended already is an error; the "
      "others\n"
      "are cancelled all the same. Those that wait are cancelled first, so "
      "that\n"
      "none starts on what another leaves.";
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
