#include "services/request/names.h"

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::request {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::HasSubstr;

std::string FieldOf(const absl::Status& status) {
  const auto violations = base::FieldViolations(status);
  return violations.size() == 1 ? violations[0].field : "";
}

TEST(NamesTest, TakesTheIdOutOfAName) {
  EXPECT_THAT(ParseName("name", "jobs", "jobs/addition-rope"),
              IsOkAndHolds(std::string("addition-rope")));
}

TEST(NamesTest, TakesJobAndIdOutOfAChildName) {
  const auto name =
      ParseChildName("reports", "jobs/addition-rope/reports/addition_grid-20");
  ORDO_ASSERT_OK(name);
  EXPECT_EQ(name->job, "addition-rope");
  EXPECT_EQ(name->id, "addition_grid-20");
}

TEST(NamesTest, RefusesNamesThatAreNotOfTheForm) {
  for (const char* name :
       {"a", "jobs/", "jobs", "/a", "workers/a", "jobs/a/b", "jobs/A",
        "jobs/..", "jobs/-", "jobs/a b", "jobs//a", "jobs/a\n"}) {
    const auto id = ParseName("name", "jobs", name);
    EXPECT_THAT(id, StatusIs(absl::StatusCode::kInvalidArgument,
                             HasSubstr("jobs/{job}")))
        << name;
    EXPECT_EQ(FieldOf(id.status()), "name") << name;
  }
}

TEST(NamesTest, SaysThatAMissingNameIsRequired) {
  EXPECT_THAT(
      ParseName("name", "workers", ""),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("name: required; of the form workers/{worker}")));
}

TEST(NamesTest, RefusesChildNamesThatAreNotOfTheForm) {
  for (const char* name :
       {"", "jobs/a", "jobs/a/checkpoints", "jobs/a/checkpoints/",
        "jobs/a/reports/b", "jobs/a/checkpoints/../b", "jobs/-/checkpoints/1",
        "x/a/checkpoints/1-1"}) {
    const auto parsed = ParseChildName("checkpoints", name);
    EXPECT_THAT(parsed, StatusIs(absl::StatusCode::kInvalidArgument)) << name;
    EXPECT_EQ(FieldOf(parsed.status()), "name") << name;
  }
}

TEST(NamesTest, ParentNamesOneJobOrAll) {
  EXPECT_THAT(ParseParent("jobs/a"), IsOkAndHolds(std::string("a")));
  EXPECT_THAT(ParseParent("jobs/-"), IsOkAndHolds(std::string()));
  const auto bad = ParseParent("a");
  EXPECT_THAT(bad, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(FieldOf(bad.status()), "parent");
}

TEST(NamesTest, RepeatsOnlyTheStartOfALongName) {
  const auto bad = ParseName("name", "jobs", std::string(10000, 'x'));
  EXPECT_LT(bad.status().message().size(), 500u);
}

}  // namespace
}  // namespace ordo::services::request
