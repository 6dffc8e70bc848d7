#include "services/spec/criterion.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Violations = std::vector<base::FieldViolation>;

std::vector<std::string> Wrong(const Violations& violations) {
  std::vector<std::string> texts;
  for (const auto& violation : violations) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST(CriterionTest, ItNamesAScoreAndWhichIsBetter) {
  jobs::v1::EarlyStopping stopping;
  stopping.set_metric("score");
  for (const char* goal : {"max", "min"}) {
    stopping.set_goal(goal);
    Violations violations;
    CheckCriterion("x", stopping, &violations);
    EXPECT_THAT(violations, IsEmpty());
  }
}

TEST(CriterionTest, WhatIsMissingOrUnknownIsNamed) {
  jobs::v1::EarlyStopping stopping;
  Violations violations;
  CheckCriterion("x", stopping, &violations);
  EXPECT_THAT(Wrong(violations),
              ElementsAre("x.metric: required; a score of the evaluation, such "
                          "as score or perplexity, of at most 255 bytes",
                          "x.goal: required; one of max, min"));
  stopping.set_metric("score");
  stopping.set_goal("mix");
  violations.clear();
  CheckCriterion("x", stopping, &violations);
  EXPECT_THAT(Wrong(violations),
              ElementsAre("x.goal: 'mix' is not known; did you mean 'max'?"));
}

}  // namespace
}  // namespace ordo::services::spec
