#include "scheduler/store/row_decoder.h"

#include <string>

#include "gmock/gmock.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::JobRecord;

class RowDecoderTest : public testing::TablesTest {
 protected:
  RowDecoderTest() { ORDO_EXPECT_OK(PrepareSchema(*database_)); }
};

// How to damage one row, and what the error names.
struct DamageCase {
  const char* name;
  const char* sql;
  const char* named;
};

class DamagedRowTest : public testing::TablesTest,
                       public ::testing::WithParamInterface<DamageCase> {
 protected:
  // Something in every table.
  DamagedRowTest() {
    ORDO_EXPECT_OK(PrepareSchema(*database_));
    Write({JobRecord(1, "a"), JobRecord(2, "b"), JobRecord(4, "d"),
           testing::CheckpointRecord("jobs/a/checkpoints/5-1"),
           testing::ReportRecord("jobs/a/reports/r-5", 5),
           testing::RowRecord(core::Row::Kind::kQueue, "default", "w")});
  }
};

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
        DamageCase{"Request",
                   "UPDATE jobs SET request_id = 'x' WHERE sequence = 2",
                   "table jobs, sequence 2"},
        DamageCase{"State", "UPDATE jobs SET state = 5 WHERE sequence = 2",
                   "table jobs, sequence 2"},
        DamageCase{"Owner", "UPDATE jobs SET owner = 'x' WHERE sequence = 2",
                   "table jobs, sequence 2"},
        DamageCase{"SpecOfAJob", "UPDATE jobs SET spec = 2 WHERE sequence = 1",
                   "table jobs, sequence 1"},
        DamageCase{"Spec", "UPDATE specs SET body = x'' WHERE id = 1",
                   "table specs, id 1"},
        DamageCase{"KeyOfASpec", "UPDATE specs SET id = 9 WHERE id = 1",
                   "table jobs, sequence 1"},
        DamageCase{"Checkpoint", "UPDATE checkpoints SET crc = crc + 1",
                   "table checkpoints, name jobs/a/checkpoints/5-1"},
        DamageCase{"Report", "UPDATE reports SET name = 'jobs/a/reports/q'",
                   "table reports, name jobs/a/reports/q"},
        DamageCase{"Other", "UPDATE other SET kind = 2",
                   "table other, kind 2 key default"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(RowDecoderTest, DamageIsTakenOnce) {
  Write({JobRecord(1, "a")});
  Execute("UPDATE jobs SET crc = 0");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto decoder, RowDecoder::Make(*database_));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto row,
                            database_->Prepare(Select(kJobs, "")));
  ASSERT_THAT(row->Step(), base::testing::IsOkAndHolds(true));
  EXPECT_FALSE(decoder->Check(kJobs, *row));
  EXPECT_THAT(decoder->TakeDamage(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(decoder->TakeDamage(), base::testing::IsOk());
}

}  // namespace
}  // namespace ordo::scheduler::store
