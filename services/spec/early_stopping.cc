#include "services/spec/early_stopping.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/nearest.h"
#include "model/catalog/fields.h"
#include "services/spec/criterion.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::EarlyStopping;
using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Sweep;
using ordo::training::v1::Evaluation;
using Violations = std::vector<base::FieldViolation>;

constexpr char kPath[] = "sweep.early_stopping";
constexpr double kMaxStep = 1e9;
constexpr double kMaxFactor = 100;
constexpr double kDefaultFactor = 3;
constexpr int kDefaultMinReports = 3;

std::string FieldOf(const char* name) { return absl::StrCat(kPath, ".", name); }

// Null: the run has no evaluation of the name, which is told.
const Evaluation* FindEvaluation(const Part& run, const std::string& name,
                                 Violations* violations) {
  std::vector<std::string> names;
  for (const Evaluation& each : run.spec.evaluations()) {
    if (each.name() == name) return &each;
    names.push_back(each.name());
  }
  violations->push_back(
      {FieldOf("evaluation"),
       absl::StrCat("no evaluation of the run with ", run.label, " is called '",
                    name, "'", base::SuggestName(name, names))});
  return nullptr;
}

// False when something is wrong, which is told.
bool FitRun(const Part& run, const EarlyStopping& stopping,
            Violations* violations) {
  const Evaluation* evaluation =
      FindEvaluation(run, stopping.evaluation(), violations);
  if (evaluation == nullptr) return false;
  const size_t num_wrong = violations->size();
  CheckMetric({FieldOf("metric"), stopping.metric()}, *evaluation,
              run.spec.data(), violations);
  const int64_t steps = run.spec.training().steps();
  const std::string of_run = absl::StrCat(" in the run with ", run.label);
  if (!evaluation->has_every_steps()) {
    violations->push_back(
        {FieldOf("evaluation"),
         absl::StrCat("'", stopping.evaluation(), "' is made at the end alone",
                      of_run, "; give it every_steps")});
  } else if (stopping.from_step() % evaluation->every_steps() != 0) {
    violations->push_back(
        {FieldOf("from_step"),
         absl::StrCat("must be a multiple of every_steps of '",
                      stopping.evaluation(), "', which is ",
                      evaluation->every_steps(), of_run)});
  } else if (stopping.from_step() >= steps) {
    violations->push_back(
        {FieldOf("from_step"),
         absl::StrCat("must be before the last step, which is ", steps, of_run,
                      "; give a smaller one, or evaluate more often")});
  }
  return violations->size() == num_wrong;
}

}  // namespace

void ResolveEarlyStopping(Sweep* sweep, Violations* violations) {
  if (!sweep->has_early_stopping()) return;
  if (sweep->run().kind() != JobSpec::TRAIN) {
    violations->push_back({kPath, "is for runs that train; leave it out"});
    return;
  }
  EarlyStopping& stopping = *sweep->mutable_early_stopping();
  CheckChoice({FieldOf("rule"), stopping.rule(), {"median", "halving"}},
              violations);
  if (stopping.evaluation().empty()) {
    violations->push_back({FieldOf("evaluation"),
                           "required; the name of an evaluation of the runs"});
  }
  CheckCriterion(kPath, stopping, violations);
  if (stopping.has_from_step()) {
    model::catalog::ResolveNumber({"from_step", 1, kMaxStep, {}}, kPath,
                                  &stopping, violations);
  }
  if (stopping.rule() == "halving") {
    model::catalog::ResolveNumber({"factor", 2, kMaxFactor, kDefaultFactor},
                                  kPath, &stopping, violations);
  } else if (stopping.has_factor()) {
    violations->push_back(
        {FieldOf("factor"), "is for rule: halving; leave it out"});
  }
  if (stopping.has_min_reports()) {
    model::catalog::ResolveNumber(
        {"min_reports", 2, static_cast<double>(kMaxParts), {}}, kPath,
        &stopping, violations);
  }
}

void FitEarlyStopping(const std::vector<Part>& runs, EarlyStopping* stopping,
                      Violations* violations) {
  const int num_runs = static_cast<int>(runs.size());
  if (!stopping->has_min_reports()) {
    stopping->set_min_reports(
        std::max(2, std::min(kDefaultMinReports, num_runs)));
  }
  if (stopping->min_reports() > num_runs) {
    violations->push_back(
        {FieldOf("min_reports"),
         absl::StrCat("is ", stopping->min_reports(), ", and there are ",
                      num_runs, " runs; nothing would be stopped")});
    return;
  }
  if (!stopping->has_from_step()) {
    for (const Evaluation& each : runs.front().spec.evaluations()) {
      if (each.name() != stopping->evaluation()) continue;
      stopping->set_from_step(std::max<int64_t>(1, each.every_steps()));
    }
  }
  // What is wrong in one is so in most.
  for (const Part& run : runs) {
    if (!FitRun(run, *stopping, violations)) return;
  }
}

}  // namespace ordo::services::spec
