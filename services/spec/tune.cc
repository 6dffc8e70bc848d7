#include "services/spec/tune.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "services/spec/criterion.h"
#include "services/spec/expand_kinds.h"
#include "services/spec/tuned_by.h"

namespace ordo::services::spec {
namespace {

using google::protobuf::Value;
using ordo::jobs::v1::Compare;
using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ordo::jobs::v1::Tune;
using ordo::jobs::v1::TunedBy;
using ordo::training::v1::Evaluation;
using Violations = std::vector<base::FieldViolation>;

constexpr int kMinValues = 2;
constexpr char kDefaultName[] = "tuning";
constexpr char kPath[] = "compare.tune";
constexpr char kRate[] = "training.learning_rate";

std::string FieldOf(const char* name) { return absl::StrCat(kPath, ".", name); }

std::string TrialName(const JobSpec& parent, const std::string& arm,
                      int number) {
  return absl::StrCat(parent.name(), "-", arm, "-t", number);
}

void CheckRates(const Tune& tune, Violations* violations) {
  const int number = tune.learning_rate_size();
  if (number < kMinValues || number > kMaxTrials) {
    violations->push_back({FieldOf("learning_rate"),
                           absl::StrCat("must have ", kMinValues, "..",
                                        kMaxTrials, " values, has ", number)});
  }
  std::set<double> seen;
  for (int i = 0; i < number; ++i) {
    const double rate = tune.learning_rate(i);
    const std::string field =
        absl::StrCat(FieldOf("learning_rate"), "[", i, "]");
    if (!(rate > 0 && rate <= kMaxLearningRate)) {
      violations->push_back(
          {field, absl::StrCat("must be above 0 and at most ", kMaxLearningRate,
                               ", is ", rate)});
    } else if (!seen.insert(rate).second) {
      violations->push_back(
          {field, absl::StrCat(rate, " is there twice; leave one out")});
    }
  }
}

void ResolveSeed(Compare* compare, Violations* violations) {
  Tune& tune = *compare->mutable_tune();
  const std::set<uint64_t> seeds(compare->seeds().begin(),
                                 compare->seeds().end());
  if (!tune.has_seed()) {
    uint64_t free = 1;
    while (seeds.count(free) > 0) ++free;
    tune.set_seed(free);
  } else if (seeds.count(tune.seed()) > 0) {
    violations->push_back(
        {FieldOf("seed"),
         absl::StrCat(tune.seed(),
                      " is one of compare.seeds, whose runs are "
                      "compared and not chosen by; give another")});
  }
}

// What the evaluation reads: files and folders; none of a generated one.
std::set<std::string> SourcesOf(
    const google::protobuf::Map<std::string, Value>& params) {
  std::set<std::string> sources;
  for (const char* name : {"data", "path"}) {
    const auto param = params.find(name);
    if (param == params.end()) continue;
    const Value& value = param->second;
    if (!value.string_value().empty()) sources.insert(value.string_value());
    for (const Value& item : value.list_value().values()) {
      sources.insert(item.string_value());
    }
  }
  return sources;
}

// The first that both read, as a file or below a folder; empty: none.
std::string Shared(const std::set<std::string>& a,
                   const std::set<std::string>& b) {
  for (const std::string& one : a) {
    for (const std::string& other : b) {
      if (one == other || absl::StartsWith(one, other + "/") ||
          absl::StartsWith(other, one + "/")) {
        return one;
      }
    }
  }
  return "";
}

// Samples are a function of task and seed.
bool IsGenerated(const Evaluation& evaluation) {
  const auto* task = model::catalog::Find(model::catalog::Kind::kEvaluationTask,
                                          evaluation.task());
  return task != nullptr &&
         model::catalog::FindParam(*task, "samples") != nullptr;
}

// Whether a trial is chosen by what the run is asked.
void CheckAsked(const Evaluation& tuning, const Evaluation& asked,
                Violations* violations) {
  if (IsGenerated(tuning)) {
    if (asked.task() != tuning.task() || asked.seed() != tuning.seed()) return;
    violations->push_back(
        {FieldOf("evaluation.seed"),
         absl::StrCat("is ", tuning.seed(), ", as that of the evaluation '",
                      asked.name(),
                      "' of the same task, so that trials would "
                      "be chosen by what runs are asked; give another")});
    return;
  }
  const std::string shared =
      Shared(SourcesOf(tuning.params()), SourcesOf(asked.params()));
  if (shared.empty()) return;
  violations->push_back(
      {FieldOf("evaluation"),
       absl::StrCat("reads ", shared, ", as the evaluation '", asked.name(),
                    "' does, so that trials would be chosen by what runs are "
                    "asked; give one of them other data")});
}

}  // namespace

void ResolveTune(Compare* compare, Violations* violations) {
  if (!compare->has_tune()) return;
  Tune& tune = *compare->mutable_tune();
  CheckRates(tune, violations);
  ResolveSeed(compare, violations);
  if (!tune.has_evaluation()) {
    violations->push_back(
        {FieldOf("evaluation"), "required; what trials are chosen by"});
  } else if (tune.evaluation().has_every_steps()) {
    violations->push_back({FieldOf("evaluation.every_steps"),
                           "trials are evaluated at their end; leave it out"});
  }
  if (tune.evaluation().name().empty()) {
    tune.mutable_evaluation()->set_name(kDefaultName);
  }
  CheckCriterion(kPath, tune, violations);
}

void MakeTrial(const JobSpec& parent, int number, Part* part,
               PartViolations* violations) {
  const Tune& tune = parent.compare().tune();
  const double rate = tune.learning_rate(number);
  const std::string arm = part->label;
  part->spec.set_name(TrialName(parent, arm, number));
  part->label = absl::StrCat(arm, ", learning rate ", rate);
  part->differs = absl::StrCat(part->differs, part->differs.empty() ? "" : ", ",
                               kRate, "=", rate);
  part->spec.mutable_training()->set_learning_rate(rate);
  part->sources[kRate] =
      absl::StrCat(FieldOf("learning_rate"), "[", number, "]");
  part->spec.clear_evaluations();
  *part->spec.add_evaluations() = tune.evaluation();
  part->sources["evaluations[0]"] = FieldOf("evaluation");
  for (const char* seed : {"training.seed", "data.seed"}) {
    SetSeed({seed, tune.seed(), FieldOf("seed")}, part, violations);
  }
}

void FollowTrials(const JobSpec& parent, Part* part) {
  const Tune& tune = parent.compare().tune();
  TunedBy& tuned_by = *part->spec.mutable_tuned_by();
  tuned_by.set_evaluation(tune.evaluation().name());
  tuned_by.set_metric(tune.metric());
  tuned_by.set_goal(tune.goal());
  for (int i = 0; i < tune.learning_rate_size(); ++i) {
    const std::string job =
        absl::StrCat("jobs/", TrialName(parent, part->label, i));
    TunedBy::Trial& trial = *tuned_by.add_trials();
    trial.set_job(job);
    trial.set_learning_rate(tune.learning_rate(i));
    Need& need = *part->spec.add_needs();
    need.set_job(job);
    need.set_condition(Need::ENDED);
  }
  part->sources["tuned_by"] = kPath;
}

void CheckTuning(const Part& trial, const Part& run, Violations* violations) {
  const Evaluation& tuning = trial.spec.evaluations(0);
  CheckMetric({FieldOf("metric"), run.spec.tuned_by().metric()}, tuning,
              trial.spec.data(), violations);
  for (const Evaluation& asked : run.spec.evaluations()) {
    const size_t num_wrong = violations->size();
    CheckAsked(tuning, asked, violations);
    if (violations->size() > num_wrong) return;
  }
  const auto split = tuning.params().find("split");
  const bool reads_trained = split != tuning.params().end() &&
                             split->second.string_value() != "held_out";
  const std::string shared =
      Shared(SourcesOf(tuning.params()), SourcesOf(trial.spec.data().params()));
  if (!reads_trained || shared.empty()) return;
  violations->push_back(
      {FieldOf("evaluation.params.split"),
       absl::StrCat("is ", split->second.string_value(), " of ", shared,
                    ", which is trained on; set split: held_out, or give it "
                    "other data")});
}

}  // namespace ordo::services::spec
