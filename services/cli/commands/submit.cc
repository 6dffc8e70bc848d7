#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/limits.h"
#include "base/yaml/text_form.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"
#include "services/cli/commands/request_paths.h"
#include "services/cli/commands/submission.h"
#include "services/cli/print.h"
#include "services/spec/expand.h"
#include "services/spec/resolve_job_spec.h"
#include "services/spec/spec_size.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::BatchCreateJobsRequest;
using jobs::v1::BatchCreateJobsResponse;
using jobs::v1::CreateJobRequest;
using jobs::v1::Job;
using jobs::v1::JobSpec;
using jobs::v1::JobsService;

constexpr size_t kMaxJobs = 10'000;  // Of BatchCreateJobs.

using Violations = std::vector<base::FieldViolation>;

// A spec and where it is from, for messages: "a.yaml", "a.yaml document 2".
struct SourcedSpec {
  std::string source;
  JobSpec spec;
  // What of the file, and what of --set, could not be read.
  Violations unread;
  Violations unset;
};

// The jobs of a command line, and what is wrong with its files that hold none
// and with its settings.
struct Input {
  std::vector<SourcedSpec> specs;
  Violations bad_files;
  Violations bad_settings;
};

// Adds `more`, found in `source`.
void AddFrom(const std::string& source, const Violations& more,
             Violations* violations) {
  for (const base::FieldViolation& one : more) {
    violations->push_back(
        {one.field.empty() ? source : absl::StrCat(source, ": ", one.field),
         one.description});
  }
}

absl::StatusOr<std::string> ReadSource(Context& context,
                                       const std::string& file) {
  std::string text;
  if (file == "-") {
    // One byte too many is enough to be refused.
    char c;
    while (text.size() <= base::kMaxTextBytes && context.in.get(c)) text += c;
  } else {
    absl::StatusOr<std::string> read =
        base::ReadFile(context.files, file, base::kMaxTextBytes);
    if (!absl::IsResourceExhausted(read.status())) return read;
    text.resize(base::kMaxTextBytes + 1);
  }
  if (text.size() > base::kMaxTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "it has more than ", base::kMaxTextBytes,
        " bytes; divide its jobs among several files, or shorten the longest "
        "lists and texts in them"));
  }
  return text;
}

absl::StatusOr<std::vector<base::PartialMessage<JobSpec>>> ReadJobs(
    Context& context, const std::string& file) {
  base::TextForm form = base::TextForm::kYaml;
  if (file != "-") {
    ORDO_ASSIGN_OR_RETURN(form, base::TextFormOfFile(file));
  }
  ORDO_ASSIGN_OR_RETURN(const std::string text, ReadSource(context, file));
  ORDO_ASSIGN_OR_RETURN(auto jobs, base::ReadMessagesOf<JobSpec>(text, form));
  if (jobs.empty()) {
    return absl::InvalidArgumentError("there is no job in it");
  }
  return jobs;
}

void ReadSpecs(Context& context, const std::string& file, Input* input) {
  const std::string source = file == "-" ? "standard input" : file;
  auto jobs = ReadJobs(context, file);
  if (!jobs.ok()) {
    const Violations violations = base::FieldViolations(jobs.status());
    AddFrom(source, violations, &input->bad_files);
    const std::string message(jobs.status().message());
    if (violations.empty()) {
      const bool has_name = absl::StrContains(message, file);
      input->bad_files.push_back({has_name ? "" : source, message});
    }
    return;
  }
  for (size_t i = 0; i < jobs->size(); ++i) {
    SourcedSpec spec;
    spec.source = source;
    if (jobs->size() > 1) absl::StrAppend(&spec.source, " document ", i + 1);
    spec.spec = std::move((*jobs)[i].message);
    spec.unread = std::move((*jobs)[i].violations);
    input->specs.push_back(std::move(spec));
  }
}

// Sets the fields of all jobs. What cannot be set is named once.
void ApplyToAll(const std::vector<std::string>& settings, Input* input) {
  const auto add = [input](const Violations& unset) {
    for (base::FieldViolation wrong : unset) {
      if (!wrong.field.empty()) wrong.field = "--set: " + wrong.field;
      auto& all = input->bad_settings;
      if (std::find(all.begin(), all.end(), wrong) == all.end()) {
        all.push_back(std::move(wrong));
      }
    }
  };
  for (SourcedSpec& spec : input->specs) {
    spec.unset = base::FieldViolations(ApplySettings(settings, &spec.spec));
    add(spec.unset);
  }
  if (!input->specs.empty()) return;
  // Without a job, all but indices of its lists can be checked.
  for (const std::string& setting : settings) {
    const std::string path = setting.substr(0, setting.find('='));
    if (path.find_first_of("[0123456789") != std::string::npos) continue;
    JobSpec none;
    add(base::FieldViolations(ApplySettings({setting}, &none)));
  }
}

Input ReadInput(Context& context, const Arguments& arguments) {
  Input input;
  for (const std::string& file : arguments.positional()) {
    ReadSpecs(context, file, &input);
  }
  ApplyToAll(arguments.All("set"), &input);
  return input;
}

// Whether all that was written could be read.
bool IsComplete(const Input& input) {
  return input.bad_files.empty() && input.bad_settings.empty() &&
         std::all_of(
             input.specs.begin(), input.specs.end(),
             [](const SourcedSpec& spec) { return spec.unread.empty(); });
}

// A field that could not be set keeps what the file says, and so does all below
// it; only what is wrong with the field itself, such as that it is missing,
// says nothing new.
void RemoveUnset(const Violations& unset, Violations* values) {
  const auto is_unset = [&unset](const base::FieldViolation& value) {
    return std::any_of(unset.begin(), unset.end(),
                       [&value](const base::FieldViolation& violation) {
                         return violation.field == value.field;
                       });
  };
  values->erase(std::remove_if(values->begin(), values->end(), is_unset),
                values->end());
}

// The jobs with every default filled in, or all that is wrong: with what could
// not be read, and with the values of what could.
absl::StatusOr<std::vector<JobSpec>> Resolve(const Input& input) {
  Violations wrong = input.bad_files;
  std::vector<JobSpec> resolved;
  for (const SourcedSpec& sourced : input.specs) {
    AddFrom(sourced.source, sourced.unread, &wrong);
    absl::StatusOr<JobSpec> spec = spec::ResolveJobSpec(sourced.spec);
    if (spec.ok()) {
      resolved.push_back(*std::move(spec));
      continue;
    }
    Violations values = base::FieldViolations(spec.status());
    values = base::WithoutUnread(values, sourced.unread);
    RemoveUnset(sourced.unset, &values);
    AddFrom(sourced.source, values, &wrong);
  }
  wrong.insert(wrong.end(), input.bad_settings.begin(),
               input.bad_settings.end());
  ORDO_RETURN_IF_ERROR(base::InvalidFields(wrong));
  return resolved;
}

// The server's paths start at the request; a person knows the file.
absl::Status ToSources(const std::vector<SourcedSpec>& specs,
                       const absl::Status& status) {
  if (status.ok()) return status;
  std::vector<JobSource> sources;
  for (const SourcedSpec& spec : specs) {
    sources.push_back({spec.spec.name(), spec.source});
  }
  std::vector<base::FieldViolation> violations = base::FieldViolations(status);
  if (violations.empty()) {
    absl::Status told(status.code(),
                      WithSources(std::string(status.message()), sources));
    status.ForEachPayload(
        [&told](absl::string_view type, const absl::Cord& payload) {
          told.SetPayload(type, payload);
        });
    return told;
  }
  for (base::FieldViolation& violation : violations) {
    std::string& field = violation.field;
    violation.description = WithSources(violation.description, sources);
    const std::string told = WithSources(field, sources);
    if (told != field) {
      field = told;
      continue;
    }
    for (const std::string prefix : {"job.spec.", "spec."}) {
      if (absl::StartsWith(field, prefix)) field = field.substr(prefix.size());
    }
    field = absl::StrCat(specs[0].source, ": ", field);
  }
  return base::InvalidFields(violations);
}

CreateJobRequest MakeRequest(const JobSpec& spec, const std::string& id) {
  CreateJobRequest request;
  *request.mutable_job()->mutable_spec() = spec;
  request.set_request_id(id);
  return request;
}

// Refuses what no request can hold, by name: gRPC's own error names nothing.
absl::Status CheckRequestSize(std::vector<SourcedSpec> specs,
                              size_t num_bytes) {
  Violations wrong;
  for (const SourcedSpec& spec : specs) {
    AddFrom(spec.source, base::FieldViolations(spec::CheckSpecSize(spec.spec)),
            &wrong);
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(wrong));
  if (num_bytes <= size_t{base::kMaxMessageBytes}) return absl::OkStatus();
  std::sort(specs.begin(), specs.end(),
            [](const SourcedSpec& a, const SourcedSpec& b) {
              return a.spec.ByteSizeLong() > b.spec.ByteSizeLong();
            });
  specs.resize(std::min<size_t>(specs.size(), 3));
  return absl::InvalidArgumentError(absl::StrCat(
      "the jobs together have ", num_bytes, " bytes; at most ",
      base::kMaxMessageBytes,
      " are accepted at once: submit them in several commands; the longest: ",
      absl::StrJoin(specs, ", ", [](std::string* out, const SourcedSpec& spec) {
        absl::StrAppend(out, spec.source, " with ", spec.spec.ByteSizeLong(),
                        " bytes");
      })));
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
    const CreateJobRequest request = MakeRequest(specs[0].spec, request_id);
    ORDO_RETURN_IF_ERROR(CheckRequestSize(specs, request.ByteSizeLong()));
    const absl::StatusOr<Job> job = context.client.Call(
        context.client.jobs(), &JobsService::Stub::CreateJob, request,
        &maybe_done);
    if (absl::IsAlreadyExists(job.status())) {
      return absl::AlreadyExistsError(
          absl::StrCat(std::string(job.status().message()),
                       "; to submit it under another name: --set name=NAME"));
    }
    if (!job.ok()) return explain(job.status());
    return std::vector<Job>{*job};
  }
  BatchCreateJobsRequest batch;
  for (size_t i = 0; i < specs.size(); ++i) {
    *batch.add_requests() =
        MakeRequest(specs[i].spec, absl::StrCat(request_id, "/", i + 1));
  }
  ORDO_RETURN_IF_ERROR(CheckRequestSize(specs, batch.ByteSizeLong()));
  const absl::StatusOr<BatchCreateJobsResponse> response = context.client.Call(
      context.client.jobs(), &JobsService::Stub::BatchCreateJobs, batch,
      &maybe_done);
  if (!response.ok()) return explain(response.status());
  return std::vector<Job>(response->jobs().begin(), response->jobs().end());
}

// What a dry run says of the parts of a job, by their names.
std::vector<std::string> PartLines(const std::vector<spec::Part>& parts) {
  size_t width = 0;
  for (const spec::Part& part : parts) {
    width = std::max(width, part.spec.name().size());
  }
  std::vector<std::string> lines;
  for (const spec::Part& part : parts) {
    std::string line = part.spec.name();
    line.resize(width + 2, ' ');
    lines.push_back(line + (part.differs.empty() ? part.label : part.differs));
  }
  return lines;
}

// Says on standard error what is worth knowing of the parts and what of them is
// not checked, once for all that have it, by the field of the job.
void SayOfParts(Context& context, const std::string& source,
                const std::vector<spec::Part>& parts) {
  std::set<std::string> said;
  const auto say = [&](const std::string& text) {
    if (said.insert(text).second) {
      context.err << source << ": " << text << std::endl;
    }
  };
  std::set<std::string> names;
  for (const spec::Part& part : parts) {
    names.insert("jobs/" + part.spec.name());
  }
  for (const spec::Part& part : parts) {
    for (const std::string& notice : spec::NoticesOf(part.spec)) say(notice);
    for (const std::string& what : spec::UncheckedOf(part.spec)) {
      const size_t colon = what.find(": ");
      const std::string about = what.substr(colon + 2);
      // Parts refer to each other.
      if (names.count(about.substr(0, about.find(' '))) > 0) continue;
      say(absl::StrCat(
          "not checked: ", spec::SourceOf(part, what.substr(0, colon)), ": ",
          about));
    }
  }
}

// Parts are made of what the file says; their defaults come behind.
const char* HeadOfResolved(bool has_unchecked, bool has_parts) {
  if (has_unchecked) {
    return ": valid as far as it was checked; with the defaults that are known "
           "filled in:";
  }
  return has_parts ? ": valid; with the defaults filled in, but for those of "
                     "its parts:"
                   : ": valid; with every default filled in:";
}

void PrintResolved(Context& context, const Input& input,
                   const std::vector<JobSpec>& resolved) {
  for (size_t i = 0; i < resolved.size(); ++i) {
    for (const std::string& notice : spec::NoticesOf(resolved[i])) {
      context.err << input.specs[i].source << ": " << notice << std::endl;
    }
    const std::vector<std::string> unchecked = spec::UncheckedOf(resolved[i]);
    for (const std::string& what : unchecked) {
      context.err << input.specs[i].source << ": not checked: " << what
                  << std::endl;
    }
    std::vector<spec::Part> parts;
    if (spec::HasParts(resolved[i].kind())) {
      // It was expanded once already, when it was resolved.
      auto expansion = spec::Expand(resolved[i]);
      if (expansion.ok()) parts = std::move(expansion->parts);
      SayOfParts(context, input.specs[i].source, parts);
    }
    if (PrintStructured(context, resolved[i])) continue;
    if (!parts.empty()) {
      context.out << "# " << parts.size() << " parts:\n#   "
                  << absl::StrJoin(PartLines(parts), "\n#   ") << "\n";
    }
    context.out << "# " << input.specs[i].source
                << HeadOfResolved(!unchecked.empty(), !parts.empty())
                << "\n---\n"
                << base::WriteMessage(resolved[i], base::TextForm::kYaml);
  }
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(PrepareToStay(context, arguments));
  const Input input = ReadInput(context, arguments);
  if (input.specs.size() > kMaxJobs) {
    return absl::InvalidArgumentError(
        absl::StrCat(input.specs.size(),
                     " jobs are too many for one submit; at most ", kMaxJobs));
  }
  // Else the scheduler checks the values.
  if (arguments.Has("dry-run") || !IsComplete(input)) {
    ORDO_ASSIGN_OR_RETURN(const std::vector<JobSpec> resolved, Resolve(input));
    PrintResolved(context, input, resolved);
    return ExitCode::kOk;
  }
  const std::string request_id = arguments.Has("request-id")
                                     ? arguments.Get("request-id", "")
                                     : RandomRequestId();
  ORDO_ASSIGN_OR_RETURN(const std::vector<Job> jobs,
                        Create(context, input.specs, request_id));
  std::vector<std::string> names;
  for (const Job& job : jobs) names.push_back(job.name());
  const bool stays = arguments.Has("wait") || arguments.Has("watch");
  // With -o json or yaml one record of each job: the last, when we stay.
  if (!stays || context.output == OutputForm::kTable) {
    PrintCreated(context, jobs);
  } else {
    SayOfCreated(context, jobs);
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
      "extension, of at most 1 MiB; - reads YAML from standard input. Several\n"
      "jobs, at most 10000 of 16 MiB together, are created all or none. --set\n"
      "changes a field of every job:\n"
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
