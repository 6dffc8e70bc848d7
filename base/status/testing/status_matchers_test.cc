#include "base/status/testing/status_matchers.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base::testing {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatusMatchersTest, IsOkTellsSuccessFromError) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(3), IsOk());
  EXPECT_THAT(absl::AbortedError("a"), Not(IsOk()));
  EXPECT_THAT(absl::StatusOr<int>(absl::AbortedError("a")), Not(IsOk()));
}

TEST(StatusMatchersTest, IsOkAndHoldsLooksAtTheValue) {
  const absl::StatusOr<std::string> text = std::string("abc");
  EXPECT_THAT(text, IsOkAndHolds("abc"));
  EXPECT_THAT(text, Not(IsOkAndHolds("abd")));
  EXPECT_THAT(absl::StatusOr<int>(3), IsOkAndHolds(Gt(2)));
  EXPECT_THAT(absl::StatusOr<int>(absl::AbortedError("a")),
              Not(IsOkAndHolds(3)));
}

TEST(StatusMatchersTest, StatusIsLooksAtCodeAndMessage) {
  const absl::Status status = absl::NotFoundError("no job a");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("job")));
  EXPECT_THAT(status, Not(StatusIs(absl::StatusCode::kAborted)));
  EXPECT_THAT(status, Not(StatusIs(absl::StatusCode::kNotFound, "no job b")));
  EXPECT_THAT(absl::OkStatus(), Not(StatusIs(absl::StatusCode::kNotFound)));
}

TEST(StatusMatchersTest, AssertOkAndAssignGivesTheValue) {
  ORDO_ASSERT_OK_AND_ASSIGN(const int value, absl::StatusOr<int>(5));
  EXPECT_EQ(value, 5);
}

}  // namespace
}  // namespace ordo::base::testing
