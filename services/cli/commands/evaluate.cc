#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "services/cli/commands/checkpoint_names.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"
#include "services/cli/commands/submission.h"
#include "services/cli/names.h"

namespace ordo::services::cli {
namespace {

// What takes the place of the checkpoints' encoding: "yarn", or
// "{name: yarn, params: {factor: 4}}".
absl::Status FillEncoding(const Arguments& arguments, jobs::v1::JobSpec* spec) {
  const std::string text = arguments.Get("encoding", "");
  if (text.empty()) return absl::OkStatus();
  if (text.find_first_of("{:") == std::string::npos) {
    spec->mutable_encoding()->set_name(text);
    return absl::OkStatus();
  }
  const absl::Status status =
      base::ReadMessage(text, base::TextForm::kYaml, spec->mutable_encoding());
  auto violations = base::FieldViolations(status);
  for (auto& violation : violations) {
    violation.field = "--encoding: " + violation.field;
  }
  return violations.empty() ? base::AddContext(status, "--encoding")
                            : base::InvalidFields(violations);
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(PrepareToStay(context, arguments));
  jobs::v1::JobSpec spec;
  spec.set_kind(jobs::v1::JobSpec::EVALUATE);
  std::string first_job;
  for (const std::string& argument : arguments.positional()) {
    ORDO_ASSIGN_OR_RETURN(ResourceName name, ParseResourceName(argument));
    const std::string reference = name.ToString();
    if (name.kind == ResourceName::Kind::kAlias) {
      ORDO_ASSIGN_OR_RETURN(const std::string named,
                            CheckpointNamed(context, argument));
      ORDO_ASSIGN_OR_RETURN(name, ParseResourceName(named));
    }
    if (name.kind != ResourceName::Kind::kCheckpoint &&
        name.kind != ResourceName::Kind::kJob) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", argument, "' is neither a checkpoint nor a job; ",
                       "see 'ordo list checkpoints'"));
    }
    if (first_job.empty()) first_job = name.parent;
    spec.add_checkpoints(reference);
  }
  ORDO_ASSIGN_OR_RETURN(const jobs::v1::Job trained,
                        GetJob(context, "jobs/" + first_job));
  ORDO_RETURN_IF_ERROR(FillEvaluations(arguments, trained, &spec));
  ORDO_RETURN_IF_ERROR(FillEncoding(arguments, &spec));
  *spec.mutable_resources() = trained.spec().resources();
  // An evaluation is one process.
  spec.mutable_resources()->clear_ranks();
  spec.set_queue(trained.spec().queue());
  if (arguments.Has("again")) spec.set_again(true);
  ORDO_RETURN_IF_ERROR(ApplySettings(arguments.All("set"), &spec));
  const bool named = !spec.name().empty();
  const absl::StatusOr<jobs::v1::Job> job =
      CreateNamed(context, spec, named ? spec.name() : first_job + "-evaluate",
                  named ? Naming::kAsGiven : Naming::kFree);
  if (!job.ok()) {
    return InWordsOfOptions(arguments, {{"encoding", "encoding"}},
                            job.status());
  }
  PrintCreated(context, {*job});
  return StayIfAsked(context, arguments, {job->name()});
}

}  // namespace

Command EvaluateCommand() {
  Command command;
  command.name = "evaluate";
  command.arguments = "CHECKPOINT...";
  command.summary = "evaluate checkpoints in a job of its own";
  command.help =
      "A CHECKPOINT is jobs/JOB/checkpoints/ID, JOB for its newest, or "
      "aliases/ALIAS;\n"
      "an ID may be best, by the first evaluation of its job, last, or every: "
      "all that\n"
      "JOB has and each new one as it comes, until JOB has ended.\n"
      "Without --task the evaluations are those of the first checkpoint's "
      "job.\n"
      "--encoding takes the place of the checkpoints' own, such as\n"
      "  ordo evaluate llama --task addition_grid \\\n"
      "    --encoding '{name: yarn, params: {factor: 4}}'\n"
      "and gives results of its own, which have it in their names.\n"
      "What was asked of a checkpoint before is not evaluated again: the new "
      "job\n"
      "takes the result over, and its report says from which. With --again it\n"
      "evaluates all the same.";
  command.options = {
      {"task", 0, "TASK", "evaluation task, see `ordo list tasks`"},
      {"encoding", 0, "ENCODING",
       "in place of the checkpoints' own; a name, or YAML"},
      {"again", 0, "", "evaluate also what was evaluated before"},
      {"param", 0, "NAME=VALUE", "parameter of the evaluations", true},
      {"set", 0, "PATH=VALUE", "change a field, as in `ordo submit`", true},
  };
  for (const Option& option : StayOptionTable()) {
    command.options.push_back(option);
  }
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
