#include "scheduler/store/row_decoder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
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

// Specs 1 to 5, of so many steps.
class SpecRowsTest : public RowDecoderTest {
 protected:
  SpecRowsTest() {
    for (int i = 1; i <= 5; ++i) {
      core::StoredJob stored = testing::MakeStoredJob(i, absl::StrCat("j", i));
      stored.job.mutable_spec()->mutable_training()->set_steps(100 + i);
      Write({testing::RecordOf(std::move(stored))});
    }
    decoder_ = RowDecoder::Make(*database_).value();
  }
  // Null where there is none or it is damaged.
  core::SpecPtr Read(int64_t id) { return decoder_->Spec(id).value(); }
  std::vector<int64_t> StepsOf(const std::vector<int64_t>& ids) {
    std::vector<int64_t> steps;
    for (const int64_t id : ids) {
      const core::SpecPtr spec = Read(id);
      steps.push_back(spec == nullptr ? 0 : spec->training().steps());
    }
    return steps;
  }

  std::unique_ptr<RowDecoder> decoder_;
};

TEST_F(SpecRowsTest, AreReadInAnyOrder) {
  EXPECT_THAT(StepsOf({1, 2, 2, 5, 3, 4, 1}),
              ElementsAre(101, 102, 102, 105, 103, 104, 101));
  // Behind the last, and from the first on again.
  EXPECT_THAT(StepsOf({5, 6, 7, 1}), ElementsAre(105, 0, 0, 101));
}

TEST_F(SpecRowsTest, ThatAreMissingOrDamagedHoldUpNoOther) {
  Execute("DELETE FROM specs WHERE id = 3");
  Execute("UPDATE specs SET body = x'00' WHERE id = 5");
  EXPECT_THAT(StepsOf({2, 3, 4, 5, 4}), ElementsAre(102, 0, 104, 0, 104));
  EXPECT_THAT(decoder_->TakeDamage(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("specs, id 5")));
}

TEST_F(SpecRowsTest, AreReadAnewAfterAChangeOnceTheyAreForgotten) {
  EXPECT_THAT(StepsOf({1}), ElementsAre(101));
  decoder_->ForgetSpecs();
  Execute("DELETE FROM specs");
  EXPECT_THAT(StepsOf({1, 2}), ElementsAre(0, 0));
}

}  // namespace
}  // namespace ordo::scheduler::store
