#include "services/cli/commands/submission.h"

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using SubmissionTest = testing::CliTest;

TEST(RequestIdTest, IsNeverTheSame) {
  EXPECT_EQ(RandomRequestId().size(), 32u);
  EXPECT_NE(RandomRequestId(), RandomRequestId());
}

TEST(ApplySettingsTest, SetsFieldsInOrder) {
  jobs::v1::JobSpec spec;
  ORDO_EXPECT_OK(
      ApplySettings({"name=a", "training.steps=5", "name=b"}, &spec));
  EXPECT_EQ(spec.name(), "b");
  EXPECT_EQ(spec.training().steps(), 5);
  EXPECT_THAT(ApplySettings({"training.stps=5"}, &spec),
              base::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("steps")));
}

TEST(ApplySettingsTest, NamesEverythingThatCannotBeSet) {
  jobs::v1::JobSpec spec;
  const absl::Status status =
      ApplySettings({"training.stps=5", "name=a", "steps", "kind=x"}, &spec);
  EXPECT_EQ(base::FieldViolations(status).size(), 3u) << status;
  EXPECT_EQ(spec.name(), "a");
}

TEST_F(SubmissionTest, LongNamesAreCutForTheirNumber) {
  const std::string name(63, 'x');
  scheduler_.SetJob(name, Job::SUCCEEDED);
  EXPECT_EQ(Run({"rerun", name}), 0);
  EXPECT_EQ(out(), std::string(61, 'x') + "-2\n");
}

}  // namespace
}  // namespace ordo::services::cli
