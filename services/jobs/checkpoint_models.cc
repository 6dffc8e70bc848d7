#include "services/jobs/checkpoint_models.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "google/protobuf/descriptor.h"
#include "model/catalog/catalog.h"
#include "model/catalog/kernel_choice.h"
#include "model/catalog/lengths.h"
#include "model/catalog/resolve_evaluations.h"
#include "model/catalog/resolve_model.h"
#include "model/catalog/tokens.h"
#include "scheduler/scheduler.h"
#include "services/jobs/job_state.h"
#include "services/spec/gate_job.h"
#include "services/spec/model_from.h"
#include "services/spec/references.h"

namespace ordo::services::jobs {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using ordo::reports::v1::Report;
using ordo::training::v1::Component;
using ordo::training::v1::Model;
using Violations = std::vector<base::FieldViolation>;

// The job in jobs/{job} and jobs/{job}/checkpoints/{checkpoint}; empty for an
// alias, which names none.
std::string JobOf(const std::string& reference) {
  const std::vector<std::string> parts = absl::StrSplit(reference, '/');
  return parts.size() > 1 && parts[0] == "jobs" ? parts[1] : "";
}

// The violation's text when there is no such checkpoint.
absl::StatusOr<Checkpoint> FindCheckpoint(const scheduler::Scheduler& scheduler,
                                          const Job& job,
                                          const std::string& reference) {
  const std::vector<std::string> parts = absl::StrSplit(reference, '/');
  const bool is_job = parts.size() == 2;
  auto checkpoint =
      scheduler.GetCheckpoint(parts[1], is_job ? "latest" : parts[3]);
  if (!checkpoint.ok()) {
    if (!is_job) {
      return absl::NotFoundError(
          absl::StrCat("there is no checkpoint ", reference,
                       "; see: ordo list checkpoints ", parts[1]));
    }
    return absl::NotFoundError(
        HasEnded(job)
            ? absl::StrCat("job ", parts[1],
                           " has no checkpoint; name another: ordo list "
                           "checkpoints")
            : absl::StrCat("job ", parts[1],
                           " has no checkpoint yet; wait for it: ordo wait ",
                           parts[1], ", or name it in needs"));
  }
  if (checkpoint->state() != Checkpoint::AVAILABLE) {
    return absl::NotFoundError(
        absl::StrCat(checkpoint->name(),
                     " was removed, by retention (checkpoint.keep of its job) "
                     "or a person; see: ordo list checkpoints ",
                     parts[1]));
  }
  return checkpoint;
}

// Adds the names of the components that have parameters themselves.
void NameHolders(const Component& encoding,
                 const model::catalog::ModelShape& shape,
                 std::multiset<std::string>* names) {
  int64_t own = model::catalog::CountParameters(encoding, shape);
  for (const Component& other : encoding.with()) {
    own -= model::catalog::CountParameters(other, shape);
    NameHolders(other, shape, names);
  }
  if (own != 0) names->insert(encoding.name());
}

// A checkpoint has the parameters of its own encoding and no others.
void CheckOverride(const JobSpec& trained, const Component& encoding,
                   Violations* violations) {
  const auto shape = model::catalog::ShapeOf(trained.model());
  const int64_t count = model::catalog::CountParameters(encoding, shape);
  const int64_t held_count =
      model::catalog::CountParameters(trained.encoding(), shape);
  std::multiset<std::string> asked, held;
  NameHolders(encoding, shape, &asked);
  NameHolders(trained.encoding(), shape, &held);
  if (asked == held && count == held_count) return;
  const std::string what =
      count == 0 ? absl::StrCat("the checkpoint has ", held_count,
                                " parameters of ", absl::StrJoin(held, " and "),
                                ", which ", encoding.name(), " has not")
                 : absl::StrCat(encoding.name(), " has ", count,
                                " parameters, which the checkpoint has not");
  violations->push_back(
      {"encoding.name", what + "; train it first: model: {from: ...}"});
}

// Lengths that are multiples of a trained one, of a model of which nobody knows
// what it was trained on.
void RefuseMultiples(const google::protobuf::RepeatedPtrField<
                         ordo::training::v1::Evaluation>& evaluations,
                     Violations* violations) {
  for (int i = 0; i < evaluations.size(); ++i) {
    const auto* task = model::catalog::Find(
        model::catalog::Kind::kEvaluationTask, evaluations[i].task());
    if (task == nullptr) continue;
    model::catalog::RefuseMultiples(*task, absl::StrCat("evaluations[", i, "]"),
                                    evaluations[i].params(), violations);
  }
}

// A run that goes on from a checkpoint takes all of its parameters over.
void CheckStart(const Job& trained, const JobSpec& spec,
                Violations* violations) {
  const Model& before = trained.spec().model();
  const Model& model = spec.model();
  if (!trained.spec().has_model()) {
    violations->push_back(
        {"start_from",
         absl::StrCat(trained.name(),
                      " leaves no checkpoint; name a job of kind: train")});
    return;
  }
  for (const char* name :
       {"layers", "width", "heads", "mlp_width", "vocabulary_size",
        "key_value_heads", "head_width"}) {
    const auto* field = model.GetDescriptor()->FindFieldByName(name);
    const auto* reflection = model.GetReflection();
    if (!reflection->HasField(model, field) ||
        !reflection->HasField(before, field)) {
      continue;
    }
    const int32_t here = reflection->GetInt32(model, field);
    const int32_t there = reflection->GetInt32(before, field);
    if (here == there) continue;
    violations->push_back(
        {absl::StrCat("model.", name),
         absl::StrCat("is ", here, ", and ", there, " in ", trained.name(),
                      ", whose checkpoint start_from names; give it that")});
  }
}

// A reference of a spec, and its field.
using Reference = std::pair<std::string, std::string>;

// What a spec evaluates: an evaluation its checkpoints, a gate what it
// compares.
std::vector<Reference> EvaluatedBy(const JobSpec& spec) {
  std::vector<Reference> references;
  if (spec.kind() == JobSpec::GATE) return spec::SubjectsOf(spec);
  if (spec.kind() != JobSpec::EVALUATE) return references;
  for (int i = 0; i < spec.checkpoints_size(); ++i) {
    references.emplace_back(absl::StrCat("checkpoints[", i, "]"),
                            spec.checkpoints(i));
  }
  return references;
}

// What is wrong with a report of the task that a gate asks, or nothing: one of
// another version has other questions, or other scores. Of one that does not
// say, the gate finds out.
std::string VersionProblem(const Report& report) {
  const auto* task = model::catalog::Find(model::catalog::Kind::kEvaluationTask,
                                          report.task());
  if (task == nullptr || report.task_version() == 0 ||
      report.task_version() == task->evaluation.version) {
    return "";
  }
  return absl::StrCat(
      report.name(), " is of version ", report.task_version(), " of ",
      report.task(), ", the gate asks version ", task->evaluation.version,
      ", which has other questions or scores; name the checkpoint ",
      report.checkpoint(), " in its place, which is evaluated then");
}

// Whether a report that a gate compares with is of what it asks. One that is
// not there is for the scheduler to refuse.
void CheckReport(const KnownJobs& known, const Reference& reference,
                 const JobSpec& spec, Violations* violations) {
  const std::vector<std::string> parts = absl::StrSplit(reference.second, '/');
  const auto report = known.scheduler.GetReport(parts[1], parts[3]);
  if (!report.ok()) return;
  const std::string& asked = spec.evaluations(0).task();
  if (report->kind() != Report::EVALUATION) {
    violations->push_back(
        {reference.first,
         absl::StrCat(reference.second,
                      " is no evaluation; name one, or a checkpoint: ordo list "
                      "reports ",
                      parts[1])});
  } else if (report->task() != asked) {
    violations->push_back(
        {reference.first,
         absl::StrCat(reference.second, " is of ", report->task(),
                      ", the gate asks ", asked,
                      "; name another report, or ask ", report->task())});
  } else if (std::string problem = VersionProblem(*report); !problem.empty()) {
    violations->push_back({reference.first, std::move(problem)});
  }
}

// A best is one by evaluations in the job itself.
void CheckBest(const KnownJobs& known, const JobSpec& spec,
               Violations* violations) {
  std::vector<Reference> references = EvaluatedBy(spec);
  references.emplace_back("start_from", spec.start_from());
  references.emplace_back("model.from", spec.model().from());
  for (const auto& [field, reference] : references) {
    if (!spec::NamesBest(reference)) continue;
    const auto job = FindJob(known, JobOf(reference));
    if (!job.ok() || !job->spec().evaluations().empty()) continue;
    violations->push_back(
        {field, absl::StrCat(job->name(),
                             " has no evaluations of its own, by which one of "
                             "its checkpoints is best; give it some with "
                             "every_steps, or name its newest, ",
                             job->name())});
  }
}

// The name of the checkpoint that a reference stands for, as far as it is
// known: the newest of a job that has ended.
std::string FullName(const KnownJobs& known, const std::string& reference) {
  const std::string id = JobOf(reference);
  if (reference != absl::StrCat("jobs/", id)) return reference;
  const auto job = FindJob(known, id);
  if (!job.ok() || !HasEnded(*job)) return reference;
  const auto newest = known.scheduler.GetCheckpoint(id, "latest");
  return newest.ok() ? newest->name() : reference;
}

// A gate whose candidate is what it is compared with shows nothing.
void AddSameNotices(const KnownJobs& known, const JobSpec& spec,
                    std::vector<std::string>* notices) {
  if (spec.kind() != JobSpec::GATE) return;
  const std::string candidate = FullName(known, spec.gate().candidate());
  for (const auto& [field, reference] : spec::SubjectsOf(spec)) {
    if (field == "gate.candidate" || FullName(known, reference) != candidate) {
      continue;
    }
    notices->push_back(absl::StrCat("gate.candidate and ", field, " are both ",
                                    candidate,
                                    ": the gate compares it with itself"));
  }
}

// Whether encoding and evaluations of the spec fit the model of the job.
void CheckEvaluations(const Job& job, const JobSpec& spec,
                      std::vector<std::string>* notices, Violations* found) {
  const Model& model = job.spec().model();
  model::catalog::EvaluationsContext context;
  context.in_training = false;
  context.vocabulary_size = model.vocabulary_size();
  context.causal = !model.has_causal() || model.causal();
  if (job.spec().has_data()) context.trained_on = &job.spec().data();
  auto encoding = spec.has_encoding() ? spec.encoding() : job.spec().encoding();
  if (spec.has_encoding()) {
    model::catalog::ResolveEncoding("encoding", model, &encoding, found);
    if (found->empty()) CheckOverride(job.spec(), encoding, found);
  }
  const bool fits = found->empty();
  if (fits) context.max_length = model::catalog::MaxLength(encoding);
  auto evaluations = spec.evaluations();
  model::catalog::ResolveEvaluations(context, &evaluations, found);
  if (!job.spec().has_data()) {
    RefuseMultiples(evaluations, found);
  } else {
    model::catalog::AddTokenizerNotices(evaluations, job.spec().data(),
                                        notices);
  }
  if (!fits) return;
  const model::catalog::KernelContext kernels = {&model, &encoding,
                                                 spec.resources().device()};
  model::catalog::CheckEvaluationKernels(kernels, evaluations, found);
  model::catalog::AddEvaluationNotices(kernels, evaluations, notices);
}

// The tokenizer that the models of a job were trained with; empty: it is not
// known, or they were trained on no text.
std::string TrainedTokenizer(const KnownJobs& known,
                             const std::string& reference) {
  constexpr char kTokenizer[] = "tokenizer";
  const auto job = FindJob(known, JobOf(reference));
  if (!job.ok()) return "";
  const auto& params = job->spec().data().params();
  const auto found = params.find(kTokenizer);
  return found == params.end() ? "" : found->second.string_value();
}

// Whether an evaluation takes the tokenizer of each model's training.
bool AsksAsTrained(const JobSpec& spec) {
  return std::any_of(
      spec.evaluations().begin(), spec.evaluations().end(),
      [](const auto& evaluation) {
        const auto* task = model::catalog::Find(
            model::catalog::Kind::kEvaluationTask, evaluation.task());
        return task != nullptr &&
               model::catalog::TokensOf(*task, evaluation.params()).empty();
      });
}

// A gate compares items of the same tokens. Two files may hold one tokenizer:
// of those the gate finds out.
void CheckTokenizers(const KnownJobs& known, const JobSpec& spec,
                     Violations* violations) {
  if (spec.kind() != JobSpec::GATE || !AsksAsTrained(spec)) return;
  const std::string candidate =
      TrainedTokenizer(known, spec.gate().candidate());
  for (const auto& [field, reference] : EvaluatedBy(spec)) {
    const std::string other = TrainedTokenizer(known, reference);
    const bool is_one_bytes = other == model::catalog::kByteTokenizer ||
                              candidate == model::catalog::kByteTokenizer;
    if (candidate.empty() || other.empty() || other == candidate ||
        !is_one_bytes) {
      continue;
    }
    violations->push_back(
        {field,
         absl::StrCat("was trained with tokenizer ", other,
                      ", the candidate with ", candidate,
                      ": a gate compares the same tokens; name one of "
                      "the candidate's tokenizer, or compare bits per "
                      "byte: ordo report ",
                      JobOf(reference), " ", JobOf(spec.gate().candidate()))});
  }
}

}  // namespace

bool NamesAModel(const JobSpec& spec) {
  return spec.kind() == JobSpec::TRAIN && !spec.model().from().empty();
}

void FillModel(const KnownJobs& known, JobSpec* spec, Violations* violations) {
  const Model given = spec->model();
  std::string reference = given.from();
  if (!NamesAModel(*spec)) return;
  Violations bad_form;
  spec::ResolveModelFrom(&reference, &bad_form);
  // Told when the spec is resolved, or bound.
  if (!bad_form.empty() || spec::NamesAlias(reference)) return;
  // Unless all of it is filled in below, it is not checked.
  spec->mutable_model()->clear_from_sha256();
  const std::string id = JobOf(reference);
  const bool is_best = spec::NamesBest(reference);
  // FillBest has told that there is none.
  if (is_best && !Needs(*spec, id)) return;
  const auto job = FindJob(known, id);
  if (!job.ok()) {
    violations->push_back({"model.from", std::string(job.status().message())});
    return;
  }
  if (!job->spec().has_model()) {
    violations->push_back(
        {"model.from", absl::StrCat(job->name(),
                                    " is not one that has a model "
                                    "of its own")});
    return;
  }
  const bool names_job = reference == absl::StrCat("jobs/", id);
  if ((names_job || is_best) && !HasEnded(*job) && Needs(*spec, id)) {
    spec::TakeModel(job->spec(), job->name(), spec, violations);
    spec->mutable_model()->set_from(reference);
    return;
  }
  if (is_best) return;
  const auto checkpoint = FindCheckpoint(known.scheduler, *job, reference);
  if (!checkpoint.ok()) {
    violations->push_back(
        {"model.from", std::string(checkpoint.status().message())});
    return;
  }
  if (!given.from_sha256().empty() &&
      given.from_sha256() != checkpoint->manifest_sha256()) {
    violations->push_back(
        {"model.from_sha256",
         absl::StrCat(checkpoint->name(), " has ",
                      checkpoint->manifest_sha256(), "; leave it out")});
  }
  spec::TakeModel(job->spec(), checkpoint->name(), spec, violations);
  spec->mutable_model()->set_from(checkpoint->name());
  spec->mutable_model()->set_from_sha256(checkpoint->manifest_sha256());
}

void CheckModels(const KnownJobs& known, const JobSpec& spec,
                 std::vector<std::string>* notices, Violations* violations) {
  CheckBest(known, spec, violations);
  CheckTokenizers(known, spec, violations);
  AddSameNotices(known, spec, notices);
  if (spec.kind() == JobSpec::TRAIN && !spec.start_from().empty()) {
    const auto job = FindJob(known, JobOf(spec.start_from()));
    if (job.ok()) CheckStart(*job, spec, violations);
  }
  std::set<std::string> seen;
  for (const auto& [field, reference] : EvaluatedBy(spec)) {
    if (spec::FormOf(reference) == spec::ReferenceForm::kReport) {
      CheckReport(known, {field, reference}, spec, violations);
      continue;
    }
    const std::string name = JobOf(reference);
    if (!seen.insert(name).second) continue;
    const auto job = FindJob(known, name);
    if (!job.ok() || !job->spec().has_model()) continue;
    Violations found;
    CheckEvaluations(*job, spec, notices, &found);
    for (const auto& violation : found) {
      violations->push_back(
          {violation.field,
           absl::StrCat(violation.description, " (for ", reference, ")")});
    }
  }
}

}  // namespace ordo::services::jobs
