#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"
#include "services/cli/commands/submission.h"
#include "services/cli/names.h"

namespace ordo::services::cli {
namespace {

constexpr char kMark[] = "-continued";

// `a` for `a-continued-2000` too, so that names do not grow each time.
std::string Stem(const std::string& name) {
  const size_t mark = name.rfind(kMark);
  return mark == std::string::npos || mark == 0 ? name : name.substr(0, mark);
}

// What was made. Settings may have given it another start, or another end.
std::string NoteOf(const jobs::v1::Job& job,
                   const checkpoints::v1::Checkpoint& newest) {
  const std::string& start = job.spec().start_from();
  return absl::StrCat(
      ShortName(job.name()), " goes on from ", start,
      start == newest.name() ? absl::StrCat(", step ", newest.step()) : "",
      ", to step ", job.spec().training().steps());
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(PrepareToStay(context, arguments));
  ORDO_ASSIGN_OR_RETURN(const std::string name,
                        JobName(arguments.positional()[0]));
  if (!arguments.Has("steps")) {
    return absl::InvalidArgumentError(
        "--steps is missing: how many steps to train further");
  }
  ORDO_ASSIGN_OR_RETURN(const int64_t steps,
                        arguments.GetInt("steps", 0, 1, 1'000'000'000));
  ORDO_ASSIGN_OR_RETURN(const jobs::v1::Job old, GetJob(context, name));
  if (old.spec().kind() != jobs::v1::JobSpec::TRAIN) {
    return absl::FailedPreconditionError(
        absl::StrCat(name,
                     " is not a training job; nothing to continue: to "
                     "train a model further from its weights alone use "
                     "model: {from: ",
                     old.spec().name(), "}"));
  }
  checkpoints::v1::GetCheckpointRequest request;
  request.set_name(name + "/checkpoints/latest");
  ORDO_ASSIGN_OR_RETURN(
      const checkpoints::v1::Checkpoint checkpoint,
      context.client.Call(
          context.client.checkpoints(),
          &checkpoints::v1::CheckpointsService::Stub::GetCheckpoint, request));

  jobs::v1::JobSpec spec = SpecAgain(old);
  spec.set_start_from(checkpoint.name());
  // Its weights have come from there.
  spec.mutable_model()->clear_from();
  spec.mutable_model()->clear_from_sha256();
  spec.mutable_training()->set_steps(checkpoint.step() + steps);
  ORDO_RETURN_IF_ERROR(ApplySettings(arguments.All("set"), &spec));
  const bool renamed = spec.name() != old.spec().name();
  const std::string base = renamed
                               ? spec.name()
                               : absl::StrCat(Stem(old.spec().name()), kMark,
                                              "-", spec.training().steps());
  ORDO_ASSIGN_OR_RETURN(
      const jobs::v1::Job job,
      CreateNamed(context, spec, base,
                  renamed ? Naming::kAsGiven : Naming::kFree));
  if (context.output == OutputForm::kTable) {
    context.err << "ordo: " << NoteOf(job, checkpoint) << "\n";
  }
  PrintCreated(context, {job});
  return StayIfAsked(context, arguments, {job.name()});
}

}  // namespace

Command ContinueCommand() {
  Command command;
  command.name = "continue";
  command.arguments = "JOB";
  command.summary = "train further from a job's newest checkpoint";
  command.help =
      "A new job, called JOB-continued-<last step>: it takes parameters,\n"
      "optimizer state, step and data cursor over, and trains --steps more. A\n"
      "hold of JOB is not taken over.";
  command.options = {
      {"steps", 0, "NUMBER", "steps to train further; required"},
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
