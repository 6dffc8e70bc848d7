#include "services/spec/tuned_by.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ordo::jobs::v1::JobSpec Tuned() {
  ordo::jobs::v1::JobSpec spec;
  spec.add_needs()->set_job("jobs/t");
  auto& tuned_by = *spec.mutable_tuned_by();
  tuned_by.set_evaluation("tuning");
  tuned_by.set_metric("score");
  tuned_by.set_goal("max");
  auto& trial = *tuned_by.add_trials();
  trial.set_job("jobs/t");
  trial.set_learning_rate(0.01);
  return spec;
}

std::vector<std::string> Wrong(const ordo::jobs::v1::JobSpec& spec) {
  std::vector<base::FieldViolation> violations;
  CheckTunedBy(spec, &violations);
  std::vector<std::string> texts;
  for (const auto& violation : violations) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST(TunedByTest, TrialsThatAreNeededAreGood) {
  EXPECT_THAT(Wrong(Tuned()), IsEmpty());
  EXPECT_THAT(Wrong({}), IsEmpty());
}

TEST(TunedByTest, ATrialThatIsNotNeededIsRefused) {
  auto spec = Tuned();
  spec.clear_needs();
  EXPECT_THAT(Wrong(spec),
              ElementsAre(HasSubstr("tuned_by.trials[0].job: 'jobs/t' is not "
                                    "needed; add")));
}

TEST(TunedByTest, WhatIsMissingIsNamed) {
  auto spec = Tuned();
  spec.mutable_tuned_by()->clear_trials();
  spec.mutable_tuned_by()->clear_evaluation();
  spec.mutable_tuned_by()->clear_goal();
  EXPECT_THAT(Wrong(spec), ElementsAre(HasSubstr("tuned_by.trials: must have "),
                                       HasSubstr("tuned_by.evaluation: "),
                                       HasSubstr("tuned_by.goal: ")));
  spec = Tuned();
  spec.mutable_tuned_by()->mutable_trials(0)->set_learning_rate(0);
  EXPECT_THAT(Wrong(spec),
              ElementsAre(HasSubstr("tuned_by.trials[0].learning_rate: must")));
}

TEST(PacedByTest, BothJobsMustBeNeeded) {
  ordo::jobs::v1::JobSpec spec;
  spec.add_needs()->set_job("jobs/a");
  spec.mutable_paced_by()->set_own("jobs/a");
  spec.mutable_paced_by()->set_baseline("jobs/b");
  std::vector<base::FieldViolation> violations;
  CheckPacedBy(spec, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "paced_by.baseline");
  EXPECT_THAT(violations[0].description, HasSubstr("'jobs/b' is not needed"));
  spec.add_needs()->set_job("jobs/b");
  violations.clear();
  CheckPacedBy(spec, &violations);
  EXPECT_THAT(violations, IsEmpty());
}

}  // namespace
}  // namespace ordo::services::spec
