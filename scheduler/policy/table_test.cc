#include "scheduler/policy/table.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::policy {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(PolicyTableTest, FindsEachPolicyByName) {
  for (const Policy& policy : Policies()) {
    EXPECT_THAT(FindPolicy(std::string(policy.name)), IsOk());
  }
  EXPECT_THAT(FindPolicy(kDefaultPolicy), IsOk());
}

TEST(PolicyTableTest, AnUnknownNameIsRefusedWithThoseThereAre) {
  EXPECT_THAT(FindPolicy("lottery"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("fair")));
}

TEST(PolicyTableTest, EveryPolicyLeavesAnEmptyBoardAlone) {
  for (const Policy& policy : Policies()) {
    EXPECT_TRUE(policy.place(Board(), absl::Seconds(1)).empty()) << policy.name;
  }
}

}  // namespace
}  // namespace ordo::scheduler::policy
