#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/limits.h"
#include "base/yaml/text_form.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"
#include "services/cli/commands/submission.h"
#include "services/cli/print.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::BatchCreateJobsRequest;
using jobs::v1::BatchCreateJobsResponse;
using jobs::v1::CreateJobRequest;
using jobs::v1::Job;
using jobs::v1::JobSpec;
using jobs::v1::JobsService;

constexpr size_t kMaxJobs = 1000;  // Of BatchCreateJobs.

// A spec and where it is from, for messages: "a.yaml", "a.yaml document 2".
struct SourcedSpec {
  std::string source;
  JobSpec spec;
};

// Puts `source` in front of each violation's field.
absl::Status InSource(const std::string& source, const absl::Status& status) {
  std::vector<base::FieldViolation> violations = base::FieldViolations(status);
  if (violations.empty()) return base::AddContext(status, source);
  for (base::FieldViolation& violation : violations) {
    violation.field = violation.field.empty()
                          ? source
                          : absl::StrCat(source, ": ", violation.field);
  }
  return base::InvalidFields(violations);
}

absl::StatusOr<std::string> ReadSource(Context& context,
                                       const std::string& file) {
  if (file != "-") {
    return base::ReadFile(context.files, file, base::kMaxTextBytes);
  }
  std::string text;
  char c;
  while (text.size() <= base::kMaxTextBytes && context.in.get(c)) text += c;
  return text;  // One that is too long is refused by the reader.
}

absl::Status ReadSpecs(Context& context, const std::string& file,
                       std::vector<SourcedSpec>* specs) {
  base::TextForm form = base::TextForm::kYaml;
  const std::string source = file == "-" ? "standard input" : file;
  if (file != "-") {
    ORDO_ASSIGN_OR_RETURN(form, base::TextFormOfFile(file));
  }
  ORDO_ASSIGN_OR_RETURN(const std::string text, ReadSource(context, file));
  absl::StatusOr<std::vector<JobSpec>> read =
      base::ReadMessagesOf<JobSpec>(text, form);
  if (!read.ok()) return InSource(source, read.status());
  if (read->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": there is no job in it"));
  }
  for (size_t i = 0; i < read->size(); ++i) {
    specs->push_back(
        {read->size() == 1 ? source : absl::StrCat(source, " document ", i + 1),
         std::move((*read)[i])});
  }
  return absl::OkStatus();
}

// The server's field paths start at the request; a person knows the file.
absl::Status ToSources(const std::vector<SourcedSpec>& specs,
                       const absl::Status& status) {
  std::vector<base::FieldViolation> violations = base::FieldViolations(status);
  if (violations.empty()) return status;
  for (base::FieldViolation& violation : violations) {
    std::string& field = violation.field;
    size_t index = 0;
    for (size_t i = 0; i < specs.size() && specs.size() > 1; ++i) {
      const std::string prefix = absl::StrCat("requests[", i, "].");
      if (!absl::StartsWith(field, prefix)) continue;
      index = i;
      field = field.substr(prefix.size());
      break;
    }
    for (const std::string prefix : {"job.spec.", "spec."}) {
      if (absl::StartsWith(field, prefix)) field = field.substr(prefix.size());
    }
    field = absl::StrCat(specs[index].source, ": ", field);
  }
  return base::InvalidFields(violations);
}

CreateJobRequest MakeRequest(const JobSpec& spec, const std::string& id) {
  CreateJobRequest request;
  *request.mutable_job()->mutable_spec() = spec;
  request.set_request_id(id);
  return request;
}

absl::StatusOr<std::vector<Job>> Create(Context& context,
                                        const std::vector<SourcedSpec>& specs,
                                        const std::string& request_id) {
  std::vector<std::string> names;
  for (const SourcedSpec& spec : specs) names.push_back(spec.spec.name());
  bool maybe_done = false;
  const auto explain = [&](const absl::Status& status) {
    const absl::Status told = ToSources(specs, status);
    return maybe_done ? ExplainUnanswered(told, names, request_id) : told;
  };
  if (specs.size() == 1) {
    const absl::StatusOr<Job> job = context.client.Call(
        context.client.jobs(), &JobsService::Stub::CreateJob,
        MakeRequest(specs[0].spec, request_id), &maybe_done);
    if (!job.ok()) return explain(job.status());
    return std::vector<Job>{*job};
  }
  BatchCreateJobsRequest batch;
  for (size_t i = 0; i < specs.size(); ++i) {
    *batch.add_requests() =
        MakeRequest(specs[i].spec, absl::StrCat(request_id, "/", i + 1));
  }
  const absl::StatusOr<BatchCreateJobsResponse> response = context.client.Call(
      context.client.jobs(), &JobsService::Stub::BatchCreateJobs, batch,
      &maybe_done);
  if (!response.ok()) return explain(response.status());
  return std::vector<Job>(response->jobs().begin(), response->jobs().end());
}

absl::Status DryRun(Context& context, const std::vector<SourcedSpec>& specs) {
  std::vector<base::FieldViolation> violations;
  std::vector<JobSpec> resolved;
  for (const SourcedSpec& sourced : specs) {
    absl::StatusOr<JobSpec> spec = spec::ResolveJobSpec(sourced.spec);
    if (spec.ok()) {
      resolved.push_back(*std::move(spec));
      continue;
    }
    const auto more =
        base::FieldViolations(InSource(sourced.source, spec.status()));
    if (more.empty()) return InSource(sourced.source, spec.status());
    violations.insert(violations.end(), more.begin(), more.end());
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  for (size_t i = 0; i < specs.size(); ++i) {
    if (PrintStructured(context, resolved[i])) continue;
    context.out << "# " << specs[i].source
                << ": valid; with every default filled in:\n---\n"
                << base::WriteMessage(resolved[i], base::TextForm::kYaml);
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(PrepareToStay(context, arguments));
  std::vector<SourcedSpec> specs;
  for (const std::string& file : arguments.positional()) {
    ORDO_RETURN_IF_ERROR(ReadSpecs(context, file, &specs));
  }
  if (specs.size() > kMaxJobs) {
    return absl::InvalidArgumentError(absl::StrCat(
        specs.size(), " jobs are too many for one submit; at most ", kMaxJobs));
  }
  for (SourcedSpec& spec : specs) {
    const absl::Status status = ApplySettings(arguments.All("set"), &spec.spec);
    if (!status.ok()) return InSource("--set", status);
  }
  if (arguments.Has("dry-run")) {
    ORDO_RETURN_IF_ERROR(DryRun(context, specs));
    return ExitCode::kOk;
  }
  const std::string request_id = arguments.Has("request-id")
                                     ? arguments.Get("request-id", "")
                                     : RandomRequestId();
  ORDO_ASSIGN_OR_RETURN(const std::vector<Job> jobs,
                        Create(context, specs, request_id));
  std::vector<std::string> names;
  for (const Job& job : jobs) names.push_back(job.name());
  const bool stays = arguments.Has("wait") || arguments.Has("watch");
  // With -o json or yaml one record of each job: the last, when we stay.
  if (!stays || context.output == OutputForm::kTable) {
    PrintCreated(context, jobs);
  }
  return StayIfAsked(context, arguments, names);
}

}  // namespace

Command SubmitCommand() {
  Command command;
  command.name = "submit";
  command.arguments = "FILE...|-";
  command.summary = "create jobs from files";
  command.help =
      "A FILE is YAML (several jobs divided by ---), JSON or textproto by its\n"
      "extension; - reads YAML from standard input. Several jobs are created "
      "all\n"
      "or none. --set changes a field of every job:\n"
      "  ordo submit job.yaml --set training.steps=500 --set name=short\n"
      "A repeat with the same --request-id and the same job gives the job "
      "that\n"
      "exists. Ctrl-C during --wait leaves the job running and prints its "
      "name.";
  command.options = {
      {"set", 0, "PATH=VALUE", "change a field of the jobs", true},
      {"request-id", 0, "ID", "makes a repeat harmless; default a random one"},
      {"dry-run", 0, "", "check and print with defaults; no scheduler needed"},
  };
  for (const Option& option : StayOptionTable()) {
    command.options.push_back(option);
  }
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "files";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
