#include "scheduler/store/sqlite_reader.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

// What readers of every store do is in testing/store_conformance.h.

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::HasSubstr;
using testing::JobRecord;

class SqliteReaderTest : public testing::TablesTest {
 protected:
  SqliteReaderTest() {
    Execute("PRAGMA journal_mode = WAL");
    ORDO_EXPECT_OK(PrepareSchema(*database_));
    Write({testing::EndedJobRecord(1, "a"), JobRecord(2, "b")});
  }

  const std::unique_ptr<Reader> reader_ =
      MakeSqliteReader(folder_.Path("db"), {});
};

TEST_F(SqliteReaderTest, AReadDoesNotWaitForATransaction) {
  Execute("BEGIN IMMEDIATE");
  Write({JobRecord(3, "c")});
  ORDO_ASSERT_OK_AND_ASSIGN(const auto b, reader_->FindJob("b"));
  EXPECT_NE(b, nullptr);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto c, reader_->FindJob("c"));
  EXPECT_EQ(c, nullptr);
  Execute("COMMIT");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto again, reader_->FindJob("c"));
  EXPECT_NE(again, nullptr);
}

TEST_F(SqliteReaderTest, ADamagedRowIsNamedAndOthersAreRead) {
  Execute("UPDATE jobs SET crc = 0 WHERE sequence = 2");
  EXPECT_THAT(reader_->FindJob("b"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("sequence 2")));
  EXPECT_THAT(reader_->FindJob("a"), IsOk());
}

TEST_F(SqliteReaderTest, WhatExpiredIsFoundBehindDamage) {
  Write({testing::EndedJobRecord(3, "c"), testing::EndedJobRecord(4, "d"),
         testing::CheckpointRecord("jobs/c/checkpoints/5-1")});
  Execute("UPDATE jobs SET crc = 0 WHERE name = 'a'");
  Execute("UPDATE checkpoints SET crc = 0 WHERE job = 'c'");
  ExpiredQuery query;
  query.keep = 0;
  query.limit = 2;
  // Of c not all can be read.
  ORDO_ASSERT_OK_AND_ASSIGN(ExpiredJobs expired, reader_->FindExpired(query));
  EXPECT_TRUE(expired.jobs.empty());
  EXPECT_THAT(expired.damage,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("sequence 1")));
  ASSERT_TRUE(expired.last.has_value());
  query.after_end_ns = expired.last->end_ns;
  query.after_sequence = expired.last->sequence;
  ORDO_ASSERT_OK_AND_ASSIGN(expired, reader_->FindExpired(query));
  ASSERT_EQ(expired.jobs.size(), 1u);
  EXPECT_EQ(expired.jobs[0].job->id(), "d");
  EXPECT_THAT(expired.damage, IsOk());
}

TEST_F(SqliteReaderTest, AFileThatIsGoneIsAnError) {
  const auto reader = MakeSqliteReader(folder_.Path("none"), {});
  EXPECT_THAT(reader->FindJob("a"),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("none")));
}

}  // namespace
}  // namespace ordo::scheduler::store
