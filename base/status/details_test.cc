#include "base/status/details.h"

#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(InvalidFieldTest, NamesTheFieldInMessageAndDetail) {
  const absl::Status status = InvalidField("training.steps", "must be set");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               "training.steps: must be set"));
  EXPECT_THAT(FieldViolations(status),
              ElementsAre(FieldViolation{"training.steps", "must be set"}));
}

TEST(InvalidFieldsTest, ReportsAllAtOnce) {
  const absl::Status status = InvalidFields({{"a", "is bad"}, {"", "is odd"}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               "a: is bad; is odd"));
  EXPECT_THAT(FieldViolations(status), SizeIs(2));
}

TEST(InvalidFieldsTest, IsOkWhenThereAreNone) {
  EXPECT_THAT(InvalidFields({}), IsOk());
}

TEST(InvalidFieldsTest, CountsWhatIsBeyondTheLimit) {
  const std::vector<FieldViolation> many(kMaxViolations + 7, {"a", "is bad"});
  const auto kept = FieldViolations(InvalidFields(many));
  EXPECT_THAT(kept, SizeIs(kMaxViolations + 1));
  EXPECT_EQ(kept.back(), (FieldViolation{"", "7 more"}));
}

TEST(FieldViolationsTest, SurviveContext) {
  const absl::Status status = AddContext(InvalidField("a", "b"), "submit");
  EXPECT_THAT(FieldViolations(status), SizeIs(1));
}

TEST(FieldViolationsTest, AreEmptyForOtherErrors) {
  EXPECT_THAT(FieldViolations(absl::NotFoundError("a")), IsEmpty());
  EXPECT_THAT(FieldViolations(absl::OkStatus()), IsEmpty());
}

TEST(ErrorInfoTest, ComesBackAsGiven) {
  ErrorInfo info;
  info.reason = "QUOTA";
  info.metadata["queue"] = "default";
  const absl::Status status =
      WithErrorInfo(absl::ResourceExhaustedError("full"), info);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  const auto read = GetErrorInfo(status);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->reason, "QUOTA");
  EXPECT_EQ(read->domain, "ordo");
  EXPECT_THAT(read->metadata, ElementsAre(Pair("queue", "default")));
}

TEST(ErrorInfoTest, IsNotPutOnSuccess) {
  EXPECT_THAT(WithErrorInfo(absl::OkStatus(), {}), IsOk());
  EXPECT_FALSE(GetErrorInfo(absl::AbortedError("a")).has_value());
}

}  // namespace
}  // namespace ordo::base
