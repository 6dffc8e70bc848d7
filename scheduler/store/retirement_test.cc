#include "scheduler/store/retirement.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using testing::EndedJobRecord;
using testing::JobRecord;

class RetirementTest : public testing::TablesTest {
 protected:
  // Jobs b and e ask for the same.
  RetirementTest() {
    ORDO_EXPECT_OK(PrepareSchema(*database_));
    Write({EndedJobRecord(1, "a",
                          {jobs::v1::Job::FAILED, "ada", "q", {{"k", "v"}}}),
           EndedJobRecord(2, "b"), JobRecord(3, "c"), EndedJobRecord(5, "e"),
           testing::CheckpointRecord("jobs/a/checkpoints/5-1"),
           testing::CheckpointRecord("jobs/b/checkpoints/5-1"),
           testing::ReportRecord("jobs/a/reports/r", 5)});
  }
  void Remove(const std::vector<std::string>& jobs) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto retirement,
                              Retirement::Make(*database_));
    ORDO_ASSERT_OK(retirement->Remove(jobs));
  }
};

TEST_F(RetirementTest, AJobLeavesWithAllThatBelongsToIt) {
  Remove({"a"});
  EXPECT_EQ(Number("SELECT count(*) FROM jobs"), 3);
  EXPECT_EQ(Number("SELECT count(*) FROM checkpoints"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM reports"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM ended_labels"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM retired WHERE name = 'a' AND "
                   "request_id = 'request-a' AND state = 6"),
            1);
  EXPECT_THAT(FindDamagedRows(*database_),
              base::testing::IsOkAndHolds(::testing::IsEmpty()));
}

TEST_F(RetirementTest, ASpecGoesWithItsLastJob) {
  ASSERT_EQ(Number("SELECT count(*) FROM specs"), 3);
  Remove({"a"});
  EXPECT_EQ(Number("SELECT count(*) FROM specs"), 2);
  Remove({"b"});
  EXPECT_EQ(Number("SELECT count(*) FROM specs"), 2);
  Remove({"e"});
  EXPECT_EQ(Number("SELECT count(*) FROM specs"), 1);
}

TEST_F(RetirementTest, AJobThatHasNotEndedStays) {
  Remove({"c", "none"});
  EXPECT_EQ(Number("SELECT count(*) FROM jobs"), 4);
  EXPECT_EQ(Number("SELECT count(*) FROM retired"), 0);
}

TEST_F(RetirementTest, TheLargestSequenceIsRemembered) {
  Remove({"e"});
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_));
  EXPECT_EQ(records.last_sequence, 5);
}

}  // namespace
}  // namespace ordo::scheduler::store
