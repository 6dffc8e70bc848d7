#include "services/cli/doctor/finding.h"

#include "gtest/gtest.h"

namespace ordo::services::cli::doctor {
namespace {

TEST(FindingTest, AreAddedUpAndCounted) {
  Findings findings = {{"a", Health::kOk, "well"}};
  Append({{"b", Health::kFail, "broken", "mend it"},
          {"c", Health::kFail, "gone", "find it"},
          {"a", Health::kOk, "well"}},
         &findings);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[2].advice, "find it");
  EXPECT_EQ(Count(findings, Health::kOk), 1);
  EXPECT_EQ(Count(findings, Health::kWarn), 0);
  EXPECT_EQ(Count(findings, Health::kFail), 2);
}

TEST(FindingTest, HealthHasNames) {
  EXPECT_STREQ(HealthName(Health::kOk), "ok");
  EXPECT_STREQ(HealthName(Health::kWarn), "warn");
  EXPECT_STREQ(HealthName(Health::kFail), "fail");
}

}  // namespace
}  // namespace ordo::services::cli::doctor
