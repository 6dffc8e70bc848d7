#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"
#include "services/cli/commands/submission.h"
#include "services/cli/names.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(PrepareToStay(context, arguments));
  ORDO_ASSIGN_OR_RETURN(const std::string name,
                        JobName(arguments.positional()[0]));
  ORDO_ASSIGN_OR_RETURN(const jobs::v1::Job old, GetJob(context, name));
  jobs::v1::JobSpec spec = SpecAgain(old);
  ORDO_RETURN_IF_ERROR(ApplySettings(arguments.All("set"), &spec));
  // A name given by --set is taken as it stands.
  const bool renamed = spec.name() != old.spec().name();
  ORDO_ASSIGN_OR_RETURN(
      const jobs::v1::Job job,
      CreateNamed(context, spec, spec.name(),
                  renamed ? Naming::kAsGiven : Naming::kNumbered));
  PrintCreated(context, {job});
  return StayIfAsked(context, arguments, {job.name()});
}

}  // namespace

Command RerunCommand() {
  Command command;
  command.name = "rerun";
  command.arguments = "JOB";
  command.summary = "submit a job's stored spec again under a new name";
  command.help =
      "The new job is called JOB-2, JOB-3 and so on. It starts over: same "
      "spec,\n"
      "seeds and data order, but for a hold, which is not taken over.";
  command.options = {
      {"set", 0, "PATH=VALUE", "change a field, as in `ordo submit`", true},
  };
  for (const Option& option : StayOptionTable()) {
    command.options.push_back(option);
  }
  command.min_arguments = 1;
  command.max_arguments = 1;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
