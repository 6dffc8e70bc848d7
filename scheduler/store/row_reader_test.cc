#include "scheduler/store/row_reader.h"

#include <string>

#include "gmock/gmock.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::StatusIs;
using ::testing::AllOf;
using testing::CheckpointRecord;
using ::testing::HasSubstr;
using testing::JobRecord;

class RowReaderTest : public testing::TablesTest {
 protected:
  // Something in every table.
  RowReaderTest() {
    ORDO_EXPECT_OK(PrepareSchema(*database_));
    Write({JobRecord(1, "a"), JobRecord(2, "b"), JobRecord(4, "d"),
           CheckpointRecord("jobs/a/checkpoints/5-1"),
           testing::ReportRecord("jobs/a/reports/r-5", 5),
           testing::RowRecord(core::Row::Kind::kQueue, "default", "w")});
  }
};

TEST_F(RowReaderTest, WhatWasWrittenComesBack) {
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_));
  EXPECT_EQ(records.jobs.size(), 3u);
  EXPECT_EQ(records.checkpoints.size(), 1u);
  EXPECT_EQ(records.reports.size(), 1u);
  EXPECT_EQ(records.rows.size(), 1u);
}

TEST_F(RowReaderTest, JobsWithOneSpecShareIt) {
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_));
  EXPECT_EQ(records.jobs[0]->facts->spec, records.jobs[2]->facts->spec);
  EXPECT_NE(records.jobs[0]->facts->spec, records.jobs[1]->facts->spec);
}

// How to damage one row, and what the error names.
struct DamageCase {
  const char* name;
  const char* sql;
  const char* named;
};

class DamagedRowTest : public RowReaderTest,
                       public ::testing::WithParamInterface<DamageCase> {};

TEST_P(DamagedRowTest, IsNamedByTableAndKey) {
  Execute(GetParam().sql);
  EXPECT_THAT(ReadRecords(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(folder_.Path("db")),
                             HasSubstr(GetParam().named))));
}

INSTANTIATE_TEST_SUITE_P(
    Tables, DamagedRowTest,
    ::testing::Values(
        DamageCase{"Body",
                   "UPDATE jobs SET body = substr(body, 2) WHERE sequence = 2",
                   "table jobs, sequence 2"},
        DamageCase{"Name", "UPDATE jobs SET name = 'c' WHERE sequence = 2",
                   "table jobs, sequence 2"},
        DamageCase{"Key", "UPDATE jobs SET sequence = 3 WHERE sequence = 2",
                   "table jobs, sequence 3"},
        DamageCase{"SpecOfAJob", "UPDATE jobs SET spec = 2 WHERE sequence = 1",
                   "table jobs, sequence 1"},
        DamageCase{"Spec", "UPDATE specs SET body = x'' WHERE id = 1",
                   "table specs, id 1"},
        DamageCase{"KeyOfASpec", "UPDATE specs SET id = 9 WHERE id = 1",
                   "table specs, id 9"},
        DamageCase{"Checkpoint", "UPDATE checkpoints SET crc = crc + 1",
                   "table checkpoints, name jobs/a/checkpoints/5-1"},
        DamageCase{"Report", "UPDATE reports SET name = 'jobs/a/reports/q'",
                   "table reports, name jobs/a/reports/q"},
        DamageCase{"Other", "UPDATE other SET kind = 2",
                   "table other, kind 2 key default"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(RowReaderTest, AllDamagedRowsAreNamedAtOnce) {
  Execute("UPDATE jobs SET crc = 0; UPDATE checkpoints SET crc = 0");
  EXPECT_THAT(
      ReadRecords(*database_),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("wrong rows: 4"), HasSubstr("sequence 1;"),
                     HasSubstr("sequence 2;"), HasSubstr("sequence 4;"),
                     HasSubstr("jobs/a/checkpoints/5-1"))));
}

TEST_F(RowReaderTest, ACheckOfAllRowsFindsWhatALoadDoesNotRead) {
  EXPECT_THAT(CheckRows(*database_), base::testing::IsOk());
  Write({testing::RowRecord(core::Row::Kind::kAudit, "1", "who")});
  Execute("UPDATE other SET body = x'00' WHERE kind = 5");
  EXPECT_THAT(ReadRecords(*database_), base::testing::IsOk());
  EXPECT_THAT(CheckRows(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("table other, kind 5 key 1")));
}

TEST_F(RowReaderTest, AJobWithoutItsSpecIsDamaged) {
  Execute("DELETE FROM specs WHERE id = 2");
  EXPECT_THAT(ReadRecords(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("table jobs, sequence 2")));
}

}  // namespace
}  // namespace ordo::scheduler::store
