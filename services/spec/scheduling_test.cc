#include "services/spec/scheduling.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Outcome {
  JobSpec spec;
  // That are wrong.
  std::vector<std::string> fields;
};

Outcome Resolve(const std::string& text) {
  Outcome outcome;
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(text, &outcome.spec));
  std::vector<base::FieldViolation> violations;
  ResolveScheduling(&outcome.spec, &violations);
  for (const auto& violation : violations) {
    outcome.fields.push_back(violation.field);
  }
  return outcome;
}

std::vector<std::string> WrongFields(const std::string& text) {
  return Resolve(text).fields;
}

TEST(SchedulingTest, DefaultsAreFilledIn) {
  const Outcome outcome = Resolve("");
  EXPECT_THAT(outcome.fields, IsEmpty());
  EXPECT_EQ(outcome.spec.queue(), "default");
  EXPECT_TRUE(outcome.spec.has_priority());
  EXPECT_EQ(outcome.spec.priority(), 0);
  EXPECT_TRUE(outcome.spec.has_hold());
  EXPECT_FALSE(outcome.spec.hold());
  EXPECT_EQ(outcome.spec.retry().max_attempts(), 3);
  EXPECT_EQ(outcome.spec.retry().max_interruptions(), kDefaultInterruptions);
  EXPECT_EQ(outcome.spec.retry().step_timeout().seconds(), 600);
  // Without one a job waits and runs for ever, or as long as its queue lets it.
  EXPECT_FALSE(outcome.spec.has_queue_time_limit());
  EXPECT_FALSE(outcome.spec.has_run_time_limit());
}

TEST(SchedulingTest, BothEndsOfEachRangeAreValid) {
  EXPECT_THAT(WrongFields("priority: -1000 queue_time_limit { seconds: 1 } "
                          "run_time_limit { seconds: 1 } "
                          "retry { max_attempts: 1 max_interruptions: 1 "
                          "step_timeout { seconds: 1 } }"),
              IsEmpty());
  EXPECT_THAT(WrongFields("priority: 1000 "
                          "queue_time_limit { seconds: 31622400 } "
                          "run_time_limit { seconds: 31622400 } "
                          "retry { max_attempts: 100 max_interruptions: 10000 "
                          "step_timeout { seconds: 86400 } }"),
              IsEmpty());
}

TEST(SchedulingTest, WhatIsBeyondARangeIsNamed) {
  EXPECT_THAT(WrongFields("priority: 1001"), ElementsAre("priority"));
  EXPECT_THAT(WrongFields("priority: -1001"), ElementsAre("priority"));
  EXPECT_THAT(WrongFields("queue_time_limit { seconds: 0 }"),
              ElementsAre("queue_time_limit"));
  EXPECT_THAT(WrongFields("run_time_limit { seconds: 31622401 }"),
              ElementsAre("run_time_limit"));
  EXPECT_THAT(WrongFields("retry { max_attempts: 0 }"),
              ElementsAre("retry.max_attempts"));
  EXPECT_THAT(WrongFields("retry { max_interruptions: 10001 }"),
              ElementsAre("retry.max_interruptions"));
  EXPECT_THAT(WrongFields("retry { step_timeout { seconds: 86401 } }"),
              ElementsAre("retry.step_timeout"));
}

TEST(SchedulingTest, NeedsComeOutInOneForm) {
  const Outcome outcome = Resolve(
      "name: 'c' needs { job: 'a' } needs { job: 'jobs/b' condition: ENDED }");
  EXPECT_THAT(outcome.fields, IsEmpty());
  EXPECT_EQ(outcome.spec.needs(0).job(), "jobs/a");
  EXPECT_EQ(outcome.spec.needs(0).condition(), Need::SUCCEEDED);
  EXPECT_EQ(outcome.spec.needs(1).job(), "jobs/b");
  EXPECT_EQ(outcome.spec.needs(1).condition(), Need::ENDED);
}

TEST(SchedulingTest, NeedsThatNameNoOtherJobAreRefused) {
  EXPECT_THAT(WrongFields("name: 'c' needs { job: 'jobs/A' } needs { } "
                          "needs { job: 'jobs/a/checkpoints/1-1' }"),
              ElementsAre("needs[0].job", "needs[1].job", "needs[2].job"));
  EXPECT_THAT(WrongFields("name: 'c' needs { job: 'c' }"),
              ElementsAre("needs[0].job"));
  EXPECT_THAT(WrongFields("name: 'c' needs { job: 'a' } needs { job: 'jobs/a' "
                          "condition: ENDED }"),
              ElementsAre("needs[1].job"));
}

TEST(SchedulingTest, UnknownConditionIsRefused) {
  JobSpec spec;
  spec.add_needs()->set_job("a");
  spec.mutable_needs(0)->set_condition(static_cast<Need::Condition>(9));
  std::vector<base::FieldViolation> violations;
  ResolveScheduling(&spec, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "needs[0].condition");
}

TEST(SchedulingTest, NeedsAreLimited) {
  std::string text;
  for (int i = 0; i < kMaxNeeds; ++i) {
    absl::StrAppend(&text, "needs { job: 'a", i, "' } ");
  }
  EXPECT_THAT(WrongFields(text), IsEmpty());
  EXPECT_THAT(WrongFields(text + "needs { job: 'b' }"), ElementsAre("needs"));
}

TEST(SchedulingTest, ResolvedOnceMoreNothingChanges) {
  Outcome outcome = Resolve("name: 'c' needs { job: 'a' } priority: 3");
  const std::string once = outcome.spec.SerializeAsString();
  std::vector<base::FieldViolation> violations;
  ResolveScheduling(&outcome.spec, &violations);
  EXPECT_TRUE(violations.empty());
  EXPECT_EQ(outcome.spec.SerializeAsString(), once);
}

}  // namespace
}  // namespace ordo::services::spec
