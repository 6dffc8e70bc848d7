#include "services/spec/tuned_by.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/spec/criterion.h"

namespace ordo::services::spec {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ordo::jobs::v1::TunedBy;
using Violations = std::vector<base::FieldViolation>;

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
    const bool is_needed = std::any_of(
        spec.needs().begin(), spec.needs().end(),
        [&trial](const Need& need) { return need.job() == trial.job(); });
    if (!is_needed) {
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

}  // namespace ordo::services::spec
