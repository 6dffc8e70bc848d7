#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/field_path.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "services/cli/commands/checkpoint_names.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"
#include "services/cli/commands/parts.h"
#include "services/cli/commands/submission.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using reports::v1::Report;

constexpr char kResultFile[] = "result.json";

// What the value of an option names.
enum class Names { kNothing, kCheckpoint, kCheckpointOrReport };

// An option, and the field of the spec that it sets.
struct FieldOption {
  const char* option;
  const char* path;
  const char* value;
  const char* help;
  Names names = Names::kNothing;
};

constexpr FieldOption kFieldOptions[] = {
    {"candidate", "gate.candidate", "CHECKPOINT", "the checkpoint in question",
     Names::kCheckpoint},
    {"baseline", "gate.baseline", "CHECKPOINT",
     "what it is compared with; a REPORT too", Names::kCheckpointOrReport},
    {"anchor", "gate.anchor", "CHECKPOINT",
     "compared with too; stays as baselines move on",
     Names::kCheckpointOrReport},
    {"margin", "gate.margin", "LOSS",
     "loss that is let through, in units of scores"},
    {"anchor-margin", "gate.anchor_margin", "LOSS",
     "same against the anchor; default --margin"},
    {"level", "gate.level", "SHARE", "of the intervals; default 0.95"},
    {"fail-below", "gate.fail_below", "zero|margin",
     "what a failing interval is below; default zero"},
    {"on-inconclusive", "gate.on_inconclusive", "OUTCOME",
     "counts as pass, fail or inconclusive (default)"},
    {"max-items", "gate.max_items", "N",
     "let tasks make up to so many, until it decides"},
};

// The resource name of what a person calls a checkpoint or a report.
absl::StatusOr<std::string> ReferenceOf(const FieldOption& option,
                                        const std::string& text) {
  const auto name = ParseResourceName(text);
  ORDO_RETURN_IF_ERROR(
      base::AddContext(name.status(), absl::StrCat("--", option.option)));
  if (name->kind == ResourceName::Kind::kWorker) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", option.option, ": '", text,
        "' is neither a checkpoint nor a job; see 'ordo list checkpoints'"));
  }
  if (name->kind == ResourceName::Kind::kReport &&
      option.names != Names::kCheckpointOrReport) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", option.option, ": '", text,
        "' is a report; name the checkpoint that is in question (see 'ordo "
        "list checkpoints'): a report can be the --baseline or --anchor"));
  }
  return name->ToString();
}

absl::Status FillGate(const Arguments& arguments, JobSpec* spec) {
  std::vector<base::FieldViolation> wrong;
  for (const FieldOption& option : kFieldOptions) {
    if (!arguments.Has(option.option)) continue;
    std::string value = arguments.Get(option.option, "");
    if (option.names != Names::kNothing) {
      ORDO_ASSIGN_OR_RETURN(value, ReferenceOf(option, value));
    }
    const auto unset =
        base::FieldViolations(base::SetField(option.path, value, spec));
    for (const base::FieldViolation& each : unset) {
      wrong.push_back({absl::StrCat("--", option.option), each.description});
    }
  }
  return base::InvalidFields(wrong);
}

// What a gate that exists already cannot be given any more.
absl::Status RefuseOptions(const Arguments& arguments) {
  std::vector<std::string> names = {"task", "param", "set"};
  for (const FieldOption& option : kFieldOptions) {
    names.emplace_back(option.option);
  }
  for (const std::string& name : names) {
    if (!arguments.Has(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", name, " is for a new gate; leave it out, or leave out the job"));
  }
  return absl::OkStatus();
}

// Creates the job that --candidate and the others ask for.
absl::StatusOr<Job> Create(Context& context, const Arguments& arguments) {
  for (const char* name : {"candidate", "baseline", "margin"}) {
    if (arguments.Has(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a gate needs --", name, "; see 'ordo help gate'"));
  }
  JobSpec spec;
  spec.set_kind(JobSpec::GATE);
  ORDO_RETURN_IF_ERROR(FillGate(arguments, &spec));
  ORDO_ASSIGN_OR_RETURN(ResourceName candidate,
                        ParseResourceName(spec.gate().candidate()));
  if (candidate.kind == ResourceName::Kind::kAlias) {
    ORDO_ASSIGN_OR_RETURN(const std::string named,
                          CheckpointNamed(context, spec.gate().candidate()));
    ORDO_ASSIGN_OR_RETURN(candidate, ParseResourceName(named));
  }
  ORDO_ASSIGN_OR_RETURN(const Job trained,
                        GetJob(context, "jobs/" + candidate.parent));
  ORDO_RETURN_IF_ERROR(FillEvaluations(arguments, trained, &spec));
  *spec.mutable_resources() = trained.spec().resources();
  // A gate is one process.
  spec.mutable_resources()->clear_ranks();
  spec.set_queue(trained.spec().queue());
  ORDO_RETURN_IF_ERROR(ApplySettings(arguments.All("set"), &spec));
  const bool named = !spec.name().empty();
  absl::StatusOr<Job> job = CreateNamed(
      context, spec, named ? spec.name() : candidate.parent + "-gate",
      named ? Naming::kAsGiven : Naming::kFree);
  if (job.ok()) return job;
  std::map<std::string, std::string> options;
  for (const FieldOption& option : kFieldOptions) {
    options[option.path] = option.option;
  }
  return InWordsOfOptions(arguments, options, job.status());
}

// The job that is asked for, which may be there already.
absl::StatusOr<Job> FindOrCreate(Context& context, const Arguments& arguments) {
  if (arguments.positional().empty()) return Create(context, arguments);
  ORDO_RETURN_IF_ERROR(RefuseOptions(arguments));
  ORDO_ASSIGN_OR_RETURN(const std::string name,
                        JobName(arguments.positional().front()));
  ORDO_ASSIGN_OR_RETURN(Job job, GetJob(context, name));
  if (job.spec().kind() != JobSpec::GATE) {
    return absl::InvalidArgumentError(absl::StrCat(
        ShortName(name), " is no gate; its end: ordo wait ", ShortName(name)));
  }
  return job;
}

// What result.json says that the gate counts as.
absl::StatusOr<ExitCode> CodeOf(Context& context, const Report& report) {
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        FetchFile(context, report, kResultFile));
  google::protobuf::Struct result;
  std::string outcome;
  if (google::protobuf::util::JsonStringToMessage(text, &result).ok()) {
    const auto found = result.fields().find("outcome");
    if (found != result.fields().end()) outcome = found->second.string_value();
  }
  if (outcome == "pass") return ExitCode::kOk;
  if (outcome == "fail") return ExitCode::kGateFailed;
  if (outcome == "inconclusive") return ExitCode::kInconclusive;
  return absl::DataLossError(absl::StrCat(report.name(), ":", kResultFile,
                                          " says no outcome of a gate"));
}

// Writes all files of the report into the folder, in place of earlier ones.
absl::Status WriteFiles(Context& context, const Report& report,
                        const std::string& folder) {
  ORDO_RETURN_IF_ERROR(context.files.MakeFolders(folder));
  for (const auto& file : report.files()) {
    ORDO_ASSIGN_OR_RETURN(const std::string content,
                          FetchFile(context, report, file.path()));
    ORDO_RETURN_IF_ERROR(base::AtomicWrite(
        context.files, base::JoinPath(folder, file.path()), content));
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  context.interrupt.CatchSignals();
  StayOptions stay;
  stay.live = arguments.Has("watch");
  stay.cancel_on_interrupt = arguments.Has("cancel-on-interrupt");
  stay.tells_success = false;
  stay.back = "gate";
  ORDO_ASSIGN_OR_RETURN(
      stay.timeout, arguments.GetDuration("timeout", absl::InfiniteDuration()));
  ORDO_ASSIGN_OR_RETURN(const Job job, FindOrCreate(context, arguments));
  context.err << "ordo: the gate is " << ShortName(job.name()) << "\n";
  for (const std::string& notice : job.notices()) {
    context.err << "ordo: " << Printable(notice) << "\n";
  }
  context.err << std::flush;
  ORDO_ASSIGN_OR_RETURN(const ExitCode end,
                        StayUntilEnded(context, {job.name()}, stay));
  if (end != ExitCode::kOk) return end;
  ORDO_ASSIGN_OR_RETURN(const Job ended, GetJob(context, job.name()));
  ORDO_ASSIGN_OR_RETURN(const Report report, FindSummary(context, ended));
  ORDO_RETURN_IF_ERROR(PrintSummary(context, report, ""));
  const std::string folder = arguments.Get("out", "");
  if (!folder.empty()) {
    ORDO_RETURN_IF_ERROR(WriteFiles(context, report, folder));
  }
  if (context.output == OutputForm::kTable) {
    if (!folder.empty()) context.out << "wrote " << folder << "; ";
    context.out << "all files: ordo get " << report.name() << "\n";
  }
  return CodeOf(context, report);
}

}  // namespace

Command GateCommand() {
  Command command;
  command.name = "gate";
  command.arguments = "[JOB]";
  command.summary = "whether a checkpoint is worse than another; for CI";
  command.help =
      "Puts the same items to a candidate and a baseline, in a job of its own, "
      "and\n"
      "stays until there is a verdict. A CHECKPOINT is "
      "jobs/JOB/checkpoints/ID, where\n"
      "ID may be best, JOB for its newest, or aliases/ALIAS; a REPORT is\n"
      "jobs/JOB/reports/ID.\n"
      "Without --task the evaluations are those of the candidate's job.\n"
      "  ordo gate --candidate nightly --baseline release --margin 0.01 \\\n"
      "    --task addition_grid --out gate\n"
      "writes report.html, gate.md, junit.xml, result.json, comparisons.csv "
      "and the\n"
      "figures to gate/. With JOB it stays with a gate that is there. Exit "
      "code 0\n"
      "when it passes, 6 when it fails, 7 when it shows neither, others as of\n"
      "`ordo wait`.";
  for (const FieldOption& option : kFieldOptions) {
    command.options.push_back({option.option, 0, option.value, option.help});
  }
  const std::vector<Option> others = {
      {"task", 0, "TASK", "evaluation task, see `ordo list tasks`", true},
      {"param", 0, "NAME=VALUE", "parameter of the evaluations", true},
      {"set", 0, "PATH=VALUE", "change a field, as in `ordo submit`", true},
      {"out", 0, "DIR", "folder for the files of its report"},
      {"timeout", 0, "DURATION", "stay at most this long, such as 90s or 2h"},
      {"watch", 0, "", "show how it goes"},
      {"cancel-on-interrupt", 0, "", "Ctrl-C cancels the gate"},
  };
  command.options.insert(command.options.end(), others.begin(), others.end());
  command.max_arguments = 1;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
