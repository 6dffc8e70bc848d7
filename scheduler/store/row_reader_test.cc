#include "scheduler/store/row_reader.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "scheduler/store/stored_specs.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::AllOf;
using testing::CheckpointRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::JobRecord;
using ::testing::SizeIs;

class RowReaderTest : public testing::TablesTest {
 protected:
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

TEST_F(RowReaderTest, WhatJobsHaveComesByItsName) {
  Write({JobRecord(5, "B"), CheckpointRecord("jobs/B/checkpoints/5-1"),
         CheckpointRecord("jobs/a/checkpoints/4-1"),
         testing::ReportRecord("jobs/B/reports/r-5", 5)});
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_));
  std::vector<std::string> names;
  for (const auto& each : records.checkpoints) names.push_back(each->name());
  EXPECT_THAT(names,
              ElementsAre("jobs/B/checkpoints/5-1", "jobs/a/checkpoints/4-1",
                          "jobs/a/checkpoints/5-1"));
  EXPECT_EQ(records.reports.size(), 2u);
}

// So many, each with a spec of its own, that two connections share the work.
class ManyJobsTest : public testing::TablesTest {
 protected:
  ManyJobsTest() : ManyJobsTest(kManyJobs) {}
  explicit ManyJobsTest(int64_t num_jobs) {
    ORDO_EXPECT_OK(PrepareSchema(*database_));
    std::vector<core::Record> records;
    for (int64_t i = 1; i <= num_jobs; ++i) {
      core::StoredJob stored = testing::MakeStoredJob(i, absl::StrCat("j", i));
      stored.job.mutable_spec()->mutable_training()->set_steps(i);
      records.push_back(testing::RecordOf(std::move(stored)));
    }
    records.push_back(CheckpointRecord("jobs/j7/checkpoints/5-1"));
    records.push_back(
        CheckpointRecord(absl::StrCat("jobs/j", num_jobs, "/checkpoints/5-1")));
    Execute("PRAGMA journal_mode = WAL");
    Execute("BEGIN");
    Write(records);
    Execute("COMMIT");
    DatabaseOptions options;
    options.read_only = true;
    other_ = Database::Open(folder_.Path("db"), options).value();
  }
  absl::StatusOr<core::Records> ReadWithBoth() {
    return ReadRecords(*database_, nullptr, specs_, other_.get());
  }

  std::unique_ptr<Database> other_;
  // Closed: it gives none.
  const std::shared_ptr<StoredSpecs> specs_ = std::make_shared<StoredSpecs>();
};

TEST_F(ManyJobsTest, TwoConnectionsReadWhatOneReads) {
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records one, ReadRecords(*database_));
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records two, ReadWithBoth());
  ASSERT_EQ(one.jobs.size(), static_cast<size_t>(kManyJobs));
  ASSERT_EQ(two.jobs.size(), one.jobs.size());
  for (size_t i = 0; i < one.jobs.size(); ++i) {
    ASSERT_EQ(two.jobs[i]->id(), one.jobs[i]->id());
    EXPECT_EQ(two.jobs[i]->facts->spec->IdIn(specs_.get()), i + 1);
    EXPECT_EQ((*one.jobs[i]->facts->spec->Get())->training().steps(), i + 1);
  }
  EXPECT_EQ(two.checkpoints.size(), 2u);
}

TEST_F(ManyJobsTest, DamageThatEitherMeetsIsTold) {
  Execute("UPDATE jobs SET crc = 0 WHERE sequence IN (3, 1999)");
  EXPECT_THAT(ReadWithBoth(), StatusIs(absl::StatusCode::kDataLoss,
                                       AllOf(HasSubstr("wrong rows: 2"),
                                             HasSubstr("sequence 3"),
                                             HasSubstr("sequence 1999"))));
}

TEST_F(ManyJobsTest, TheOtherReadsTheSecondHalf) {
  // It has a transaction of its own, from before the damage.
  ORDO_ASSERT_OK(other_->Execute("BEGIN; SELECT * FROM meta"));
  Execute("UPDATE jobs SET crc = 0 WHERE sequence > 1500");
  EXPECT_THAT(ReadWithBoth(), base::testing::IsOk());
  Execute("UPDATE jobs SET crc = 0 WHERE sequence = 900");
  EXPECT_THAT(ReadWithBoth(), StatusIs(absl::StatusCode::kDataLoss));
}

class FewJobsTest : public ManyJobsTest {
 protected:
  FewJobsTest() : ManyJobsTest(kManyJobs - 1) {}
};

TEST_F(FewJobsTest, OneConnectionReadsAll) {
  ORDO_ASSERT_OK(other_->Execute("BEGIN; SELECT * FROM meta"));
  Execute("UPDATE jobs SET crc = 0 WHERE sequence > 1500");
  EXPECT_THAT(ReadWithBoth(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RowReaderTest, JobsWithOneSpecShareIt) {
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_));
  EXPECT_EQ(records.jobs[0]->facts->spec, records.jobs[2]->facts->spec);
  EXPECT_NE(records.jobs[0]->facts->spec, records.jobs[1]->facts->spec);
}

TEST_F(RowReaderTest, SpecsDoNotStayInMemoryThatCanBeReadAgain) {
  Write({testing::EndedJobRecord(5, "e"),
         testing::NamingJobRecord(6, "names-e", "jobs/e/checkpoints/1-1")});
  // It cannot read any: so none is in memory.
  const auto closed = std::make_shared<StoredSpecs>();
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_, nullptr, closed));
  ASSERT_EQ(records.jobs.size(), 5u);
  for (const core::JobPtr& job : records.jobs) {
    EXPECT_THAT(job->facts->spec->Get(),
                StatusIs(absl::StatusCode::kUnavailable))
        << job->id();
  }
  // By number they are what they were.
  EXPECT_EQ(records.jobs[1]->facts->spec->IdIn(closed.get()),
            Number("SELECT spec FROM jobs WHERE name = 'b'"));
}

TEST_F(RowReaderTest, EndedJobsAreReadOnlyWhereLiveOnesNameThem) {
  Write({testing::EndedJobRecord(5, "e"), testing::EndedJobRecord(6, "f"),
         CheckpointRecord("jobs/e/checkpoints/1-1"),
         CheckpointRecord("jobs/f/checkpoints/1-1"),
         testing::NamingJobRecord(3, "names-e", "jobs/e/checkpoints/1-1")});
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_));
  std::vector<std::string> jobs;
  for (const auto& job : records.jobs) jobs.push_back(job->id());
  EXPECT_THAT(jobs, ElementsAre("a", "b", "names-e", "d", "e"));
  ASSERT_EQ(records.checkpoints.size(), 2u);
  EXPECT_EQ(records.checkpoints[1]->name(), "jobs/e/checkpoints/1-1");
  EXPECT_EQ(records.last_sequence, 6);
}

TEST_F(RowReaderTest, ADamagedRowThatIsNotNeededStopsNobody) {
  Write({testing::EndedJobRecord(5, "e")});
  Execute("UPDATE jobs SET crc = 0 WHERE sequence = 5");
  EXPECT_THAT(ReadRecords(*database_), base::testing::IsOk());
  EXPECT_THAT(FindDamagedRows(*database_),
              IsOkAndHolds(ElementsAre("table jobs, sequence 5")));
}

TEST_F(RowReaderTest, AllDamagedRowsAreNamedAtOnce) {
  Execute("UPDATE jobs SET crc = 0; UPDATE checkpoints SET crc = 0");
  EXPECT_THAT(
      ReadRecords(*database_),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("wrong rows: 4"), HasSubstr("sequence 1;"),
                     HasSubstr("sequence 2;"), HasSubstr("sequence 4;"),
                     HasSubstr("jobs/a/checkpoints/5-1"))));
}

TEST_F(RowReaderTest, ADamagedUseOfAQueueIsLeftOutToldAndWrittenAnew) {
  const auto write = [this] {
    Write({testing::RowRecord(core::Row::Kind::kQueueUse, "q/cpu", "u"),
           testing::RowRecord(core::Row::Kind::kQueueUse, "q/cuda", "v")});
  };
  write();
  Execute("UPDATE other SET body = x'00' WHERE key = 'q/cpu'");
  std::vector<absl::Status> left_out;
  ORDO_ASSERT_OK_AND_ASSIGN(core::Records records,
                            ReadRecords(*database_, &left_out));
  // That of the queue itself, and of its use of the other kind.
  EXPECT_EQ(records.rows.size(), 2u);
  EXPECT_THAT(left_out, ElementsAre(StatusIs(
                            absl::StatusCode::kDataLoss,
                            HasSubstr("table other, kind 6 key q/cpu"))));
  write();
  ORDO_ASSERT_OK_AND_ASSIGN(records, ReadRecords(*database_, &left_out));
  EXPECT_EQ(records.rows.size(), 3u);
  EXPECT_THAT(left_out, ElementsAre());
}

TEST_F(RowReaderTest, ADamagedResultIsLeftOutAndTold) {
  const std::string key(64, 'a');
  Write({testing::RowRecord(core::Row::Kind::kResult, key, "r"),
         testing::RowRecord(core::Row::Kind::kResult, std::string(64, 'b'),
                            "s")});
  Execute("UPDATE other SET body = x'00' WHERE key = '" + key + "'");
  std::vector<absl::Status> left_out;
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_, &left_out));
  // That of the queue, and of the other result.
  EXPECT_EQ(records.rows.size(), 2u);
  EXPECT_THAT(left_out, ElementsAre(StatusIs(
                            absl::StatusCode::kDataLoss,
                            HasSubstr("table other, kind 10 key " + key))));
}

TEST_F(RowReaderTest, AnotherRowIsNotTakenForTheUseOfAQueue) {
  Execute("UPDATE other SET kind = 6");
  EXPECT_THAT(ReadRecords(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("table other, kind 6 key default")));
}

TEST_F(RowReaderTest, NorIsAPin) {
  Write({testing::RowRecord(core::Row::Kind::kPin, "jobs/a/checkpoints/5-1",
                            "")});
  Execute("UPDATE other SET kind = 6 WHERE kind = 9");
  EXPECT_THAT(ReadRecords(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("kind 6 key jobs/a/checkpoints/5-1")));
}

TEST_F(RowReaderTest, ACheckOfAllRowsLooksAtTheSmallOnesToo) {
  EXPECT_THAT(FindDamagedRows(*database_), IsOkAndHolds(ElementsAre()));
  Write({testing::RowRecord(core::Row::Kind::kUsage, "1", "who")});
  Execute("UPDATE other SET body = x'00' WHERE kind = 4");
  EXPECT_THAT(FindDamagedRows(*database_),
              IsOkAndHolds(ElementsAre("table other, kind 4 key 1")));
}

TEST_F(RowReaderTest, EveryDamagedRowIsFound) {
  for (int i = 10; i < 40; ++i) {
    Write({testing::EndedJobRecord(i, "j" + std::to_string(i))});
  }
  Execute("UPDATE jobs SET crc = 0 WHERE sequence >= 10");
  EXPECT_THAT(FindDamagedRows(*database_), IsOkAndHolds(SizeIs(30)));
}

TEST_F(RowReaderTest, AJobWithoutItsSpecIsDamaged) {
  Execute("DELETE FROM specs WHERE id = 2");
  EXPECT_THAT(ReadRecords(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("table jobs, sequence 2")));
}

}  // namespace
}  // namespace ordo::scheduler::store
