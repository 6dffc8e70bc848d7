#include "services/cli/commands/submission.h"

#include <algorithm>
#include <string_view>
#include <sys/random.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/field_path.h"
#include "services/cli/commands/parts.h"
#include "services/cli/names.h"
#include "services/cli/options.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

constexpr size_t kMaxNameLength = 63;
constexpr int kMaxNamesTried = 1000;

std::string Numbered(const std::string& base, int number) {
  const std::string suffix = number == 1 ? "" : absl::StrCat("-", number);
  std::string stem = base.substr(0, kMaxNameLength - suffix.size());
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return stem + suffix;
}

// Of "params.lengths[0]", which --param set: "--param lengths[0]"; else empty.
std::string WordsOfParam(const Arguments& arguments, std::string_view field) {
  constexpr std::string_view kParams = "params.";
  if (field.substr(0, kParams.size()) != kParams) return "";
  field.remove_prefix(kParams.size());
  const std::string_view name = field.substr(0, field.find_first_of(".["));
  for (const std::string& param : arguments.All("param")) {
    const std::string_view given =
        std::string_view(param).substr(0, param.find_first_of(".[="));
    if (given == name) return "--param " + std::string(field);
  }
  return "";
}

// The option that set a field of the spec, with what of the field is behind
// that; the field itself where none did.
std::string WordsOfField(const Arguments& arguments,
                         const std::map<std::string, std::string>& options,
                         const std::string& field) {
  for (const auto& [path, option] : options) {
    if (field.substr(0, path.size()) != path || !arguments.Has(option)) {
      continue;
    }
    const std::string rest = field.substr(path.size());
    if (rest.empty()) return "--" + option;
    if (rest.front() == '.' || rest.front() == '[') {
      return absl::StrCat("--", option, ": ",
                          rest.substr(rest.front() == '.' ? 1 : 0));
    }
  }
  const size_t end = field.find("].");
  constexpr std::string_view kEvaluations = "evaluations[";
  if (field.substr(0, kEvaluations.size()) != kEvaluations ||
      end == std::string::npos) {
    return field;
  }
  const std::string of_one = field.substr(end + 2);
  if (of_one == "task" && arguments.Has("task")) return "--task";
  const std::string param = WordsOfParam(arguments, of_one);
  return param.empty() ? field : param;
}

// Of an error whose message alone begins with a field.
absl::Status WithoutFields(const Arguments& arguments,
                           const std::map<std::string, std::string>& options,
                           const absl::Status& status) {
  const std::string message(status.message());
  for (const auto& [path, option] : options) {
    const std::string field = path + ": ";
    if (message.rfind(field, 0) != 0 || !arguments.Has(option)) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("--", option, ": ", message.substr(field.size())));
  }
  return status;
}

}  // namespace

absl::Status InWordsOfOptions(const Arguments& arguments,
                              const std::map<std::string, std::string>& options,
                              const absl::Status& status) {
  constexpr std::string_view kSpec = "job.spec.";
  std::vector<base::FieldViolation> told;
  std::vector<base::FieldViolation> violations = base::FieldViolations(status);
  for (base::FieldViolation& each : violations) {
    if (each.field.substr(0, kSpec.size()) == kSpec) {
      each.field =
          WordsOfField(arguments, options, each.field.substr(kSpec.size()));
    }
    // What --param sets, it sets of each evaluation.
    if (std::count(told.begin(), told.end(), each) > 0) continue;
    told.push_back(std::move(each));
  }
  return told.empty() ? WithoutFields(arguments, options, status)
                      : base::InvalidFields(told);
}

absl::Status ApplySettings(const std::vector<std::string>& settings,
                           jobs::v1::JobSpec* spec) {
  std::vector<base::FieldViolation> violations;
  for (const std::string& setting : settings) {
    const auto assignment = SplitAssignment("set", setting);
    if (!assignment.ok()) {
      violations.push_back({"", std::string(assignment.status().message())});
      continue;
    }
    const auto wrong = base::FieldViolations(
        base::SetField(assignment->first, assignment->second, spec));
    violations.insert(violations.end(), wrong.begin(), wrong.end());
  }
  return base::InvalidFields(violations);
}

std::string RandomRequestId() {
  char bytes[16];
  // Fails only before the system has booted.
  ORDO_CHECK(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes))
      << "the system has random bytes";
  return base::ToHex(std::string_view(bytes, sizeof(bytes)));
}

absl::StatusOr<jobs::v1::Job> CreateNamed(Context& context,
                                          jobs::v1::JobSpec spec,
                                          const std::string& base,
                                          Naming naming) {
  absl::Status status;
  const int first = naming == Naming::kNumbered ? 2 : 1;
  const int last = naming == Naming::kAsGiven ? 1 : kMaxNamesTried;
  for (int number = first; number <= last; ++number) {
    spec.set_name(Numbered(base, number));
    jobs::v1::CreateJobRequest request;
    *request.mutable_job()->mutable_spec() = spec;
    request.set_request_id(RandomRequestId());
    bool maybe_done = false;
    absl::StatusOr<jobs::v1::Job> job = context.client.Call(
        context.client.jobs(), &jobs::v1::JobsService::Stub::CreateJob, request,
        &maybe_done);
    if (job.ok()) return job;
    if (job.status().code() != absl::StatusCode::kAlreadyExists) {
      return maybe_done ? ExplainUnanswered(job.status(), {spec.name()}, "")
                        : job.status();
    }
    status = job.status();
  }
  return status;
}

absl::Status ExplainUnanswered(const absl::Status& status,
                               const std::vector<std::string>& names,
                               const std::string& request_id) {
  const bool interrupted = status.code() == absl::StatusCode::kCancelled;
  if (!interrupted && status.code() != absl::StatusCode::kUnavailable) {
    return status;
  }
  std::string text = absl::StrCat(
      std::string(status.message()), "; ", absl::StrJoin(names, " and "),
      " may have been created: look with 'ordo show ", names.front(), "'");
  if (!request_id.empty()) {
    absl::StrAppend(&text, ", or repeat the command with --request-id ",
                    request_id, ", which creates nothing twice");
  }
  return interrupted ? absl::DeadlineExceededError(text)
                     : absl::UnavailableError(text);
}

absl::StatusOr<jobs::v1::Job> GetJob(Context& context,
                                     const std::string& name) {
  jobs::v1::GetJobRequest request;
  request.set_name(name);
  return context.client.Call(context.client.jobs(),
                             &jobs::v1::JobsService::Stub::GetJob, request);
}

jobs::v1::JobSpec SpecAgain(const jobs::v1::Job& old) {
  jobs::v1::JobSpec spec = old.spec();
  spec.clear_hold();
  return spec;
}

absl::Status FillEvaluations(const Arguments& arguments,
                             const jobs::v1::Job& trained,
                             jobs::v1::JobSpec* spec) {
  using training::v1::Evaluation;
  for (const std::string& task : arguments.All("task")) {
    spec->add_evaluations()->set_task(task);
  }
  if (!arguments.Has("task")) {
    for (const Evaluation& evaluation : trained.spec().evaluations()) {
      Evaluation* copy = spec->add_evaluations();
      *copy = evaluation;
      copy->clear_at();
      copy->clear_every_steps();
    }
  }
  if (spec->evaluations().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(trained.name(), " has no evaluations of its own; name a ",
                     "task with --task (see 'ordo list tasks')"));
  }
  for (const std::string& param : arguments.All("param")) {
    ORDO_ASSIGN_OR_RETURN(const auto assignment,
                          SplitAssignment("param", param));
    for (Evaluation& evaluation : *spec->mutable_evaluations()) {
      ORDO_RETURN_IF_ERROR(base::SetField("params." + assignment.first,
                                          assignment.second, &evaluation));
    }
  }
  return absl::OkStatus();
}

void SayOfCreated(Context& context, const std::vector<jobs::v1::Job>& jobs) {
  for (const jobs::v1::Job& job : jobs) {
    const std::string name = ShortName(job.name());
    for (const std::string& notice : job.notices()) {
      context.err << name << ": " << notice << std::endl;
    }
    SayHowToFollow(context, job);
    if (job.held_by().empty()) continue;
    context.err << "ordo: " << name
                << " is on hold; to let it start: ordo release " << name
                << std::endl;
  }
}

void PrintCreated(Context& context, const std::vector<jobs::v1::Job>& jobs) {
  SayOfCreated(context, jobs);
  for (const jobs::v1::Job& job : jobs) {
    if (PrintStructured(context, job)) continue;
    context.out << ShortName(job.name()) << "\n";
  }
  context.out << std::flush;
}

}  // namespace ordo::services::cli
