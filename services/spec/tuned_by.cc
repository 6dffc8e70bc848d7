#include "services/spec/tuned_by.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/spec/criterion.h"

namespace ordo::services::spec {

namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ordo::jobs::v1::PacedBy;
using ordo::jobs::v1::TunedBy;
using Violations = std::vector<base::FieldViolation>;

bool IsNeeded(const JobSpec& spec, const std::string& job) {
  return std::any_of(spec.needs().begin(), spec.needs().end(),
                     [&job](const Need& need) { return need.job() == job; });
}

}  // namespace

void CheckTunedBy(const JobSpec& spec, Violations* violations) {
  if (!spec.has_tuned_by()) return;
  const TunedBy& tuned_by = spec.tuned_by();
  if (tuned_by.trials().empty() || tuned_by.trials_size() > kMaxTrials) {
    violations->push_back(
        {"tuned_by.trials",
         absl::StrCat("must have 1..", kMaxTrials, " entries, has ",
                      tuned_by.trials_size())});
  }
  if (tuned_by.evaluation().empty()) {
    violations->push_back(
        {"tuned_by.evaluation",
         "required; the name of an evaluation of the trials"});
  }
  CheckCriterion("tuned_by", tuned_by, violations);
  for (int i = 0; i < tuned_by.trials_size(); ++i) {
    const TunedBy::Trial& trial = tuned_by.trials(i);
    const std::string path = absl::StrCat("tuned_by.trials[", i, "]");
    if (!IsNeeded(spec, trial.job())) {
      violations->push_back(
          {path + ".job",
           absl::StrCat("'", trial.job(),
                        "' is not needed; add {job: ..., condition: ENDED} to "
                        "needs")});
    }
    if (!(trial.learning_rate() > 0 &&
          trial.learning_rate() <= kMaxLearningRate)) {
      violations->push_back(
          {path + ".learning_rate",
           absl::StrCat("must be above 0 and at most ", kMaxLearningRate)});
    }
  }
}

void CheckPacedBy(const JobSpec& spec, Violations* violations) {
  if (!spec.has_paced_by()) return;
  const PacedBy& paced_by = spec.paced_by();
  for (const auto& [field, job] :
       {std::pair("paced_by.own", paced_by.own()),
        std::pair("paced_by.baseline", paced_by.baseline())}) {
    if (IsNeeded(spec, job)) continue;
    violations->push_back(
        {field, absl::StrCat("'", job, "' is not needed; add it to needs")});
  }
}

}  // namespace ordo::services::spec
