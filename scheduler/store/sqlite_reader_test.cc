#include "scheduler/store/sqlite_reader.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

// What readers of every store do is in testing/store_conformance.h.

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobRecord;

// An error that names this row.
auto IsDamage(const std::string& row) {
  return StatusIs(absl::StatusCode::kDataLoss, HasSubstr(row));
}

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
  EXPECT_THAT(expired.damage, ElementsAre(IsDamage("table jobs, sequence 1"),
                                          IsDamage("table checkpoints")));
  ASSERT_TRUE(expired.last.has_value());
  query.after_end_ns = expired.last->end_ns;
  query.after_sequence = expired.last->sequence;
  ORDO_ASSERT_OK_AND_ASSIGN(expired, reader_->FindExpired(query));
  ASSERT_EQ(expired.jobs.size(), 1u);
  EXPECT_EQ(expired.jobs[0].job->id(), "d");
  EXPECT_THAT(expired.damage, IsEmpty());
}

TEST_F(SqliteReaderTest, EndedJobsAreListedBehindDamage) {
  Write({testing::EndedJobRecord(3, "c"), testing::EndedJobRecord(4, "d")});
  Execute("UPDATE jobs SET crc = 0 WHERE name = 'd'");
  Execute(
      "UPDATE specs SET crc = 0 WHERE id = "
      "(SELECT spec FROM jobs WHERE name = 'c')");
  EndedQuery query;
  query.before = 100;
  query.limit = 1;
  // A page is as long as without damage.
  ORDO_ASSERT_OK_AND_ASSIGN(const auto ended, reader_->ListEnded(query));
  ASSERT_EQ(ended.items.size(), 1u);
  EXPECT_EQ(ended.items[0]->id(), "a");
  EXPECT_THAT(ended.damage, ElementsAre(IsDamage("table jobs, sequence 4"),
                                        IsDamage("table specs"),
                                        IsDamage("table jobs, sequence 3")));
}

TEST_F(SqliteReaderTest, ASpecIsReadByItsNumber) {
  const int64_t id = Number("SELECT spec FROM jobs WHERE name = 'b'");
  ORDO_ASSERT_OK_AND_ASSIGN(const core::SpecPtr spec, reader_->FindSpec(id));
  EXPECT_EQ(spec->training().steps(), 2);
  EXPECT_EQ(spec->name(), "");
}

TEST_F(SqliteReaderTest, ASpecThatIsDamagedOrGoneIsNamed) {
  const int64_t id = Number("SELECT spec FROM jobs WHERE name = 'b'");
  const std::string row = absl::StrCat("table specs, id ", id);
  for (const char* damage : {"crc = crc + 1", "body = x'00'", "id = 99"}) {
    Execute(absl::StrCat("UPDATE specs SET ", damage, " WHERE id = ", id));
    EXPECT_THAT(reader_->FindSpec(id), IsDamage(row)) << damage;
  }
  // Others are read.
  EXPECT_THAT(
      reader_->FindSpec(Number("SELECT spec FROM jobs WHERE name = 'a'")),
      IsOk());
}

class LabelledJobsTest : public SqliteReaderTest {
 protected:
  LabelledJobsTest() {
    testing::EndedJob labelled;
    labelled.labels = {{"k", "v"}, {"team", "x"}};
    Write({testing::EndedJobRecord(3, "c", labelled),
           testing::EndedJobRecord(4, "d", labelled)});
  }
  // Those that have these labels; and what damage is told.
  std::vector<std::string> List(
      const std::map<std::string, std::string>& labels) {
    EndedQuery query;
    query.labels = labels;
    query.before = 100;
    query.limit = 9;
    const auto found = reader_->ListEnded(query);
    EXPECT_THAT(found, IsOk());
    damage_ = found->damage;
    std::vector<std::string> ids;
    for (const core::JobPtr& job : found->items) ids.push_back(job->id());
    return ids;
  }

  std::vector<absl::Status> damage_;
};

TEST_F(LabelledJobsTest, AJobWithoutALabelIsNotListedByIt) {
  // Of a, which has none; of b, which has not ended; of no job.
  Execute("INSERT INTO ended_labels VALUES ('k=v', 1), ('k=v', 2), ('k=v', 7)");
  EXPECT_THAT(List({{"k", "v"}}), ElementsAre("d", "c"));
  EXPECT_THAT(
      damage_,
      ElementsAre(IsDamage("table ended_labels, label k=v sequence 7"),
                  IsDamage("table ended_labels, label k=v sequence 2"),
                  IsDamage("table ended_labels, label k=v sequence 1")));
  EXPECT_THAT(List({}), ElementsAre("d", "c", "a"));
  EXPECT_THAT(damage_, IsEmpty());
}

TEST_F(LabelledJobsTest, NoneOfSeveralLabelsIsTakenForAJobsOwn) {
  Execute("INSERT INTO ended_labels VALUES ('k=v', 1), ('team=y', 4)");
  EXPECT_THAT(List({{"k", "v"}, {"team", "y"}}), IsEmpty());
  EXPECT_THAT(damage_, ElementsAre(IsDamage("label team=y sequence 4")));
  EXPECT_THAT(List({{"k", "v"}, {"team", "x"}}), ElementsAre("d", "c"));
  EXPECT_THAT(damage_, IsEmpty());
}

TEST_F(LabelledJobsTest, OfALabelThatBecameAnotherNothingWrongIsListed) {
  Execute(
      "UPDATE ended_labels SET label = 'k=w' WHERE label = 'k=v' AND "
      "sequence = 4");
  EXPECT_THAT(List({{"k", "w"}}), IsEmpty());
  EXPECT_THAT(damage_, ElementsAre(IsDamage("label k=w sequence 4")));
  // That one is missing a backup finds.
  EXPECT_THAT(List({{"k", "v"}}), ElementsAre("c"));
}

TEST_F(SqliteReaderTest, DamageIsToldTheSameWhereverAListingBegins) {
  Write({testing::EndedJobRecord(4, "d")});
  Execute("UPDATE specs SET crc = 0");
  EndedQuery query;
  query.limit = 9;
  query.before = 100;
  // Of jobs 4 and 1, which share their spec.
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, reader_->ListEnded(query));
  ASSERT_EQ(all.damage.size(), 3u);
  query.before = 4;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto some, reader_->ListEnded(query));
  EXPECT_THAT(some.damage, ElementsAre(all.damage[0], all.damage[2]));
}

TEST_F(SqliteReaderTest, AListingEndsBehindMuchDamageAndGoesOnFromThere) {
  Execute("BEGIN");
  for (int i = 3; i <= 2 * kMaxDamagedItems; ++i) {
    Write(
        {testing::EndedJobRecord(i, absl::StrCat("job-", i)),
         testing::CheckpointRecord(absl::StrCat("jobs/a/checkpoints/", i, "-1"),
                                   checkpoints::v1::Checkpoint::AVAILABLE, i)});
  }
  Execute("UPDATE specs SET crc = 0");
  Execute("UPDATE checkpoints SET crc = 0");
  Execute("COMMIT");
  EndedQuery query;
  query.before = 10 * kMaxDamagedItems;
  query.limit = 1;
  ORDO_ASSERT_OK_AND_ASSIGN(auto jobs, reader_->ListEnded(query));
  EXPECT_EQ(jobs.next, kMaxDamagedItems + 1);
  query.before = *jobs.next;
  ORDO_ASSERT_OK_AND_ASSIGN(jobs, reader_->ListEnded(query));
  // One less, as b has not ended, and the specs.
  EXPECT_GE(jobs.damage.size(), size_t{kMaxDamagedItems - 1});
  EXPECT_EQ(jobs.next, std::nullopt);

  ORDO_ASSERT_OK_AND_ASSIGN(auto found, reader_->ListCheckpoints({"a", "", 1}));
  EXPECT_EQ(found.damage.size(), size_t{kMaxDamagedItems});
  ASSERT_TRUE(found.next.has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(found,
                            reader_->ListCheckpoints({"a", *found.next, 1}));
  EXPECT_EQ(found.damage.size(), size_t{kMaxDamagedItems - 2});
  EXPECT_EQ(found.next, std::nullopt);
}

TEST_F(SqliteReaderTest, ArtifactsAreListedBehindDamage) {
  using checkpoints::v1::Checkpoint;
  Write({testing::CheckpointRecord("jobs/a/checkpoints/1-1",
                                   Checkpoint::AVAILABLE, 1),
         testing::CheckpointRecord("jobs/a/checkpoints/2-1",
                                   Checkpoint::AVAILABLE, 2),
         testing::CheckpointRecord("jobs/a/checkpoints/3-1",
                                   Checkpoint::AVAILABLE, 3)});
  Execute("UPDATE checkpoints SET crc = 0 WHERE create_ns = 3000000000");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto found,
                            reader_->ListCheckpoints({"a", "", 1}));
  ASSERT_EQ(found.items.size(), 1u);
  EXPECT_EQ(found.items[0]->name(), "jobs/a/checkpoints/2-1");
  EXPECT_THAT(found.damage,
              ElementsAre(IsDamage("name jobs/a/checkpoints/3-1")));
}

TEST_F(SqliteReaderTest, ADamagedMarkOfACheckpointRemovesNothing) {
  using checkpoints::v1::Checkpoint;
  Write({testing::CheckpointRecord("jobs/a/checkpoints/1-1",
                                   Checkpoint::AVAILABLE, 1),
         testing::CheckpointRecord("jobs/a/checkpoints/2-1",
                                   Checkpoint::DELETED, 2)});
  Execute("UPDATE checkpoints SET deleted = 1 WHERE create_ns = 1000000000");
  EXPECT_THAT(
      reader_->DeletedCheckpoints("", 10),
      base::testing::IsOkAndHolds(ElementsAre("jobs/a/checkpoints/2-1")));
}

TEST_F(SqliteReaderTest, AFileThatIsGoneIsAnError) {
  const auto reader = MakeSqliteReader(folder_.Path("none"), {});
  EXPECT_THAT(reader->FindJob("a"),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("none")));
}

}  // namespace
}  // namespace ordo::scheduler::store
