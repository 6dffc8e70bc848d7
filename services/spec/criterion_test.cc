#include "services/spec/criterion.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

TEST(CriterionTest, AScoreIsOneOfTheEvaluation) {
  training::v1::Evaluation evaluation;
  evaluation.set_name("held");
  evaluation.set_task("flip_flop");
  auto& lengths =
      *(*evaluation.mutable_params())["lengths"].mutable_list_value();
  for (const double length : {16, 64}) {
    lengths.add_values()->set_number_value(length);
  }
  training::v1::Data trained_on;
  trained_on.set_task("flip_flop");
  (*trained_on.mutable_params())["pairs"].set_number_value(32);
  const auto wrong = [&](const char* metric) {
    Violations violations;
    CheckMetric({"x.metric", metric}, evaluation, trained_on, &violations);
    return Wrong(violations);
  };
  EXPECT_THAT(wrong("error"), IsEmpty());
  EXPECT_THAT(wrong("error_64"), IsEmpty());
  EXPECT_THAT(wrong("eror"),
              ElementsAre("x.metric: the evaluation 'held' of flip_flop has no "
                          "score 'eror'; did you mean 'error'?"));
  EXPECT_THAT(wrong("loss"),
              ElementsAre("x.metric: the evaluation 'held' of flip_flop has no "
                          "score 'loss'; valid: error, error_longer, error_16, "
                          "error_64, wrong_rows_16, wrong_rows_64"));
  EXPECT_THAT(wrong("error_longer"), IsEmpty());
  (*trained_on.mutable_params())["pairs"].set_number_value(64);
  EXPECT_THAT(wrong("error_longer"),
              ElementsAre(HasSubstr("has no score 'error_longer'")));
}

}  // namespace
}  // namespace ordo::services::spec
