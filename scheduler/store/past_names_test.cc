#include "scheduler/store/past_names.h"

#include "absl/strings/str_cat.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/schema.h"

namespace ordo::scheduler::store {
namespace {

using Kind = PastNames::Kind;

TEST(PastNamesTest, AllMayBePastUntilItIsComplete) {
  PastNames names;
  EXPECT_TRUE(names.MayHave(Kind::kJob, "a"));
  names.SetComplete();
  EXPECT_FALSE(names.MayHave(Kind::kJob, "a"));
}

TEST(PastNamesTest, WhatWasAddedMayBePastAndHardlyAnythingElse) {
  PastNames names;
  for (int i = 0; i < 1000; ++i) names.Add(Kind::kJob, absl::StrCat("a-", i));
  names.SetComplete();
  int num_others = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(names.MayHave(Kind::kJob, absl::StrCat("a-", i)));
    num_others += names.MayHave(Kind::kJob, absl::StrCat("b-", i)) ? 1 : 0;
    num_others += names.MayHave(Kind::kRequest, absl::StrCat("a-", i)) ? 1 : 0;
  }
  EXPECT_LE(num_others, 1);
}

TEST(PastNamesTest, AfterGivingUpAllMayBePast) {
  PastNames names;
  names.SetComplete();
  names.GiveUp();
  EXPECT_TRUE(names.MayHave(Kind::kJob, "a"));
  names.Add(Kind::kJob, "b");
  EXPECT_TRUE(names.MayHave(Kind::kJob, "a"));
}

class PastNamesScanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK_AND_ASSIGN(database_,
                              Database::Open(folder_.Path("ordo.db")));
    ORDO_ASSERT_OK(PrepareSchema(*database_));
    ORDO_ASSERT_OK_AND_ASSIGN(scan_, PastNamesScan::Make(*database_, names_));
  }
  // "<prefix>-0" and so on, with requests of the same names.
  void AddJobs(const std::string& prefix, int count) {
    ORDO_ASSERT_OK(database_->Execute(absl::StrCat(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < ",
        count - 1, ") INSERT INTO jobs SELECT NULL, '", prefix, "-' || i, '",
        prefix, "-' || i, 1, '', '', 1, 1, x'', 0 FROM n")));
  }
  void MoveToRetired(const std::string& name) {
    ORDO_ASSERT_OK(database_->Execute(
        absl::StrCat("INSERT INTO retired SELECT name, request_id, 1, 0 FROM "
                     "jobs WHERE name = '",
                     name, "'; DELETE FROM jobs WHERE name = '", name, "'")));
  }
  // To the end.
  void StepOn() {
    for (int i = 0; names_.MayHave(Kind::kJob, "never"); ++i) {
      ASSERT_LT(i, 100);
      scan_->Step();
    }
  }
  bool Has(const std::string& name) const {
    return names_.MayHave(Kind::kJob, name) &&
           names_.MayHave(Kind::kRequest, name);
  }

  base::testing::TemporaryFolder folder_;
  std::unique_ptr<Database> database_;
  PastNames names_;
  std::unique_ptr<PastNamesScan> scan_;
};

TEST_F(PastNamesScanTest, AnEmptyStoreIsReadAtOnce) {
  scan_->Step();
  EXPECT_FALSE(names_.MayHave(Kind::kJob, "never"));
}

TEST_F(PastNamesScanTest, EveryNameOfTheFileIsFoundOverSeveralSteps) {
  const int count = PastNamesScan::kStepNames + 10;
  AddJobs("a", count);
  AddJobs("b", 3);
  MoveToRetired("b-1");
  scan_->Step();
  EXPECT_TRUE(names_.MayHave(Kind::kJob, "never"));
  StepOn();
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(Has(absl::StrCat("a-", i))) << i;
  }
  EXPECT_TRUE(Has("b-0"));
  EXPECT_TRUE(Has("b-1"));
  EXPECT_FALSE(names_.MayHave(Kind::kRequest, "never"));
}

TEST_F(PastNamesScanTest, AJobThatLeavesForTheArchiveMeanwhileIsFound) {
  AddJobs("b", PastNamesScan::kStepNames);
  AddJobs("z", 1);
  AddJobs("a", 1);
  // Behind what is read by then, and before it.
  scan_->Step();
  MoveToRetired("z-0");
  MoveToRetired("a-0");
  StepOn();
  EXPECT_TRUE(Has("z-0"));
  EXPECT_TRUE(Has("a-0"));
}

TEST_F(PastNamesScanTest, WhatCannotBeReadIsGivenUp) {
  AddJobs("a", 1);
  ORDO_ASSERT_OK(database_->Execute("DROP TABLE retired"));
  scan_->Step();
  scan_->Step();
  EXPECT_TRUE(names_.MayHave(Kind::kJob, "never"));
}

}  // namespace
}  // namespace ordo::scheduler::store
