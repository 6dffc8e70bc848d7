#include "scheduler/store/copy.h"

#include <cstdint>
#include <memory>
#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/meta.h"
#include "scheduler/store/sqlite.h"
#include "scheduler/store/sqlite_store.h"
#include "scheduler/store/testing/records.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::JobRecord;
using ::testing::Not;

// Of rows that are whole.
MATCHER_P(Warns, warning, "warns") {
  return arg.damaged_rows.empty() &&
         ::testing::ExplainMatchResult(warning, arg.warning, result_listener);
}

class CopyTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> Open() {
    auto store = OpenSqliteStore({store_});
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }
  // With jobs of these numbers.
  void Make(int first, int last) {
    const auto store = Open();
    ORDO_ASSERT_OK(store->Load());
    for (int i = first; i <= last; ++i) {
      ORDO_ASSERT_OK(store->Commit({JobRecord(i, "job-" + std::to_string(i))}));
    }
  }
  static size_t NumJobs(Store& store) {
    const auto contents = store.Load();
    EXPECT_THAT(contents, IsOk());
    return contents->records.jobs.size();
  }
  void Execute(const std::string& path, const std::string& sql) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path));
    ORDO_ASSERT_OK(database->Execute(sql));
  }
  static int64_t Number(const std::string& path, const std::string& sql) {
    const auto database = Database::Open(path);
    EXPECT_THAT(database, IsOk());
    const auto query = (*database)->Prepare(sql);
    EXPECT_THAT(query, IsOk());
    EXPECT_THAT((*query)->Step(), IsOkAndHolds(true));
    return (*query)->Int(0);
  }

  const base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  const std::string store_ = folder_.Path("ordo.db");
  const std::string copy_ = folder_.Path("copy.db");
  const std::string kept_ = store_ + ".before-restore";
};

TEST_F(CopyTest, AStoreInUseIsBackedUpAndRestored) {
  {
    const auto store = Open();
    ORDO_ASSERT_OK(store->Load());
    ORDO_ASSERT_OK(store->Commit({JobRecord(1, "a"), JobRecord(2, "b")}));
    ORDO_ASSERT_OK(BackUp(store_, copy_));
    ORDO_ASSERT_OK(store->Commit({JobRecord(3, "c")}));
  }
  ORDO_ASSERT_OK(Restore(copy_, store_));
  EXPECT_EQ(NumJobs(*Open()), 2u);
}

TEST_F(CopyTest, ACopyIsOneFile) {
  Make(1, 3);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  EXPECT_FALSE(base::Exists(files_, copy_ + "-wal"));
  EXPECT_FALSE(base::Exists(files_, copy_ + ".new"));
}

TEST_F(CopyTest, WhatTheStoreHeldBeforeIsKept) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  Make(3, 5);
  ORDO_ASSERT_OK(Restore(copy_, store_));
  ORDO_ASSERT_OK_AND_ASSIGN(auto kept, OpenSqliteStore({kept_}));
  EXPECT_EQ(NumJobs(*kept), 5u);
  // And not written over by the next one.
  EXPECT_THAT(Restore(copy_, store_),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(kept_)));
}

TEST_F(CopyTest, AStoreThatIsLostIsRestored) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  ORDO_ASSERT_OK(files_.RemoveFile(store_));
  ORDO_ASSERT_OK(Restore(copy_, store_));
  EXPECT_EQ(NumJobs(*Open()), 2u);
}

TEST_F(CopyTest, AStoreThatIsDamagedIsRestoredAndKept) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, store_, std::string(8192, 'x')));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, store_ + "-wal", "y"));
  ORDO_ASSERT_OK(Restore(copy_, store_));
  EXPECT_EQ(NumJobs(*Open()), 2u);
  EXPECT_THAT(base::ReadFile(files_, kept_, 1 << 20),
              IsOkAndHolds(std::string(8192, 'x')));
}

TEST_F(CopyTest, TheLogOfAStoreThatIsEmptyIsKept) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, store_, ""));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, store_ + "-wal", "y"));
  EXPECT_THAT(
      BackUp(store_, copy_ + "2"),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr(store_ + "-wal")));
  ORDO_ASSERT_OK(Restore(copy_, store_));
  EXPECT_THAT(base::ReadFile(files_, kept_ + "-wal", 100), IsOkAndHolds("y"));
  EXPECT_EQ(NumJobs(*Open()), 2u);
}

TEST_F(CopyTest, TheLogOfAStoreThatIsGoneIsKept) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  ORDO_ASSERT_OK(files_.RemoveFile(store_));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, store_ + "-wal", "y"));
  EXPECT_THAT(
      BackUp(store_, copy_ + "2"),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr(store_ + "-wal")));
  ORDO_ASSERT_OK(Restore(copy_, store_));
  EXPECT_THAT(base::ReadFile(files_, kept_ + "-wal", 100), IsOkAndHolds("y"));
  EXPECT_EQ(NumJobs(*Open()), 2u);
  // And not written over by the next one.
  EXPECT_THAT(Restore(copy_, store_), StatusIs(absl::StatusCode::kAlreadyExists,
                                               HasSubstr(kept_ + "-wal")));
}

TEST_F(CopyTest, AStoreInUseIsNotReplaced) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  const auto store = Open();
  EXPECT_THAT(Restore(copy_, store_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(store_), HasSubstr("ordo down"))));
  EXPECT_EQ(NumJobs(*store), 2u);
}

TEST_F(CopyTest, AFileThatIsThereIsNotWrittenOver) {
  Make(1, 2);
  ORDO_ASSERT_OK(base::AtomicWrite(files_, copy_, "mine"));
  EXPECT_THAT(BackUp(store_, copy_),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(copy_)));
  EXPECT_THAT(base::ReadFile(files_, copy_, 100), IsOkAndHolds("mine"));
}

TEST_F(CopyTest, WhatIsNotThereIsNamed) {
  EXPECT_THAT(BackUp(store_, copy_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(store_)));
  EXPECT_THAT(Restore(copy_, store_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(copy_)));
}

TEST_F(CopyTest, AStoreWithDamagedRowsIsBackedUpAndTheyAreTold) {
  Make(1, 2);
  Execute(store_, "UPDATE jobs SET crc = 0 WHERE sequence = 2");
  ORDO_ASSERT_OK_AND_ASSIGN(const CopyResult result, BackUp(store_, copy_));
  EXPECT_THAT(result.damaged_rows, ElementsAre("table jobs, sequence 2"));
  EXPECT_FALSE(base::Exists(files_, copy_ + ".new"));
  // And the row is there, as it was.
  ORDO_ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(copy_));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto query,
      database->Prepare("SELECT name FROM jobs WHERE sequence = 2"));
  EXPECT_THAT(query->Step(), IsOkAndHolds(true));
  EXPECT_EQ(query->Bytes(0), "job-2");
}

TEST_F(CopyTest, ADamagedCopyIsRestoredOnlyWhenToldSo) {
  {
    const auto store = Open();
    ORDO_ASSERT_OK(store->Load());
    ORDO_ASSERT_OK(
        store->Commit({JobRecord(1, "a"), testing::EndedJobRecord(2, "b")}));
  }
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  Execute(copy_, "UPDATE jobs SET crc = 0 WHERE sequence = 2");
  Make(3, 3);
  EXPECT_THAT(Restore(copy_, store_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("copy " + copy_),
                             HasSubstr("sequence 2"), HasSubstr("--damaged"))));
  EXPECT_EQ(NumJobs(*Open()), 2u);
  RestoreOptions options;
  options.take_damaged = true;
  ORDO_ASSERT_OK_AND_ASSIGN(const CopyResult result,
                            Restore(copy_, store_, options));
  EXPECT_THAT(result.damaged_rows, ElementsAre("table jobs, sequence 2"));
  const auto store = Open();
  EXPECT_EQ(NumJobs(*store), 1u);
  EXPECT_THAT(store->reader().FindJob("b"),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(CopyTest, AJobWhoseSpecIsGoneIsTold) {
  {
    const auto store = Open();
    ORDO_ASSERT_OK(store->Load());
    ORDO_ASSERT_OK(store->Commit({testing::EndedJobRecord(1, "a")}));
  }
  Execute(store_, "DELETE FROM specs");
  ORDO_ASSERT_OK_AND_ASSIGN(const CopyResult result, BackUp(store_, copy_));
  EXPECT_THAT(result.damaged_rows, ElementsAre("table jobs, sequence 1"));
}

TEST_F(CopyTest, LabelsOfAJobThatCannotBeReadAreKept) {
  testing::EndedJob labelled;
  labelled.labels = {{"k", "v"}};
  {
    const auto store = Open();
    ORDO_ASSERT_OK(store->Load());
    ORDO_ASSERT_OK(store->Commit({testing::EndedJobRecord(1, "a", labelled),
                                  testing::EndedJobRecord(2, "b", labelled)}));
  }
  Execute(store_,
          "UPDATE jobs SET crc = 0 WHERE sequence = 2; "
          "DELETE FROM ended_labels WHERE sequence = 1");
  ORDO_ASSERT_OK_AND_ASSIGN(const CopyResult kept, BackUp(store_, copy_));
  EXPECT_THAT(kept.warning, AllOf(HasSubstr("as they were"),
                                  HasSubstr("label k=v sequence 1")));
  EXPECT_EQ(Number(copy_, "SELECT count(*) FROM ended_labels"), 1);
  EXPECT_EQ(Number(copy_, "SELECT sequence FROM ended_labels"), 2);
  // With none of its to lose, those of the others are made.
  Execute(store_, "DELETE FROM ended_labels");
  ORDO_ASSERT_OK_AND_ASSIGN(const CopyResult made, BackUp(store_, copy_ + "2"));
  EXPECT_THAT(made.warning, HasSubstr("made anew"));
  EXPECT_EQ(Number(copy_ + "2", "SELECT sequence FROM ended_labels"), 1);
}

TEST_F(CopyTest, LabelsThatAreNotThoseOfTheJobsAreMadeAnewWithAWarning) {
  testing::EndedJob labelled;
  labelled.labels = {{"k", "v"}};
  {
    const auto store = Open();
    ORDO_ASSERT_OK(store->Load());
    ORDO_ASSERT_OK(store->Commit({testing::EndedJobRecord(1, "a", labelled)}));
  }
  EXPECT_THAT(BackUp(store_, copy_), IsOkAndHolds(Warns("")));
  Execute(copy_, "UPDATE ended_labels SET label = 'k=w'");
  const auto warning =
      AllOf(HasSubstr("made anew"), HasSubstr("label k=v sequence 1"));
  EXPECT_THAT(Restore(copy_, store_), IsOkAndHolds(Warns(warning)));
  EndedQuery query;
  query.before = 100;
  query.limit = 1;
  query.labels = {{"k", "v"}};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto found,
                            Open()->reader().ListEnded(query));
  EXPECT_EQ(found.items.size(), 1u);
  Execute(store_, "DELETE FROM ended_labels");
  EXPECT_THAT(BackUp(store_, copy_ + "2"), IsOkAndHolds(Warns(warning)));
}

TEST_F(CopyTest, ACopyOfTheReleaseBeforeIsRestoredAndItsStoreNotBackedUp) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  for (const std::string& path : {copy_, store_}) {
    Execute(path,
            "ALTER TABLE meta DROP COLUMN crc; "
            "UPDATE meta SET value = 2 WHERE key = 'schema_version'");
  }
  EXPECT_THAT(BackUp(store_, copy_ + "2"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Restore(copy_, store_), IsOkAndHolds(Warns("")));
  EXPECT_EQ(NumJobs(*Open()), 2u);
}

TEST_F(CopyTest, ACopyWithADamagedEpochIsNotRestored) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  Execute(copy_, "UPDATE meta SET value = 9 WHERE key = 'epoch'");
  EXPECT_THAT(Restore(copy_, store_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("key epoch")));
}

TEST_F(CopyTest, ACopyThatIsCutOffIsCalledOne) {
  Make(1, 40);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  ORDO_ASSERT_OK(files_.Truncate(copy_, 12'000));
  EXPECT_THAT(Restore(copy_, store_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("copy " + copy_ + " is damaged"),
                             HasSubstr("take another copy"),
                             Not(HasSubstr("move it away")))));
  EXPECT_EQ(NumJobs(*Open()), 40u);
}

TEST_F(CopyTest, ACopyOfALaterReleaseIsNotRestored) {
  Make(1, 2);
  ORDO_ASSERT_OK(BackUp(store_, copy_));
  {
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(copy_));
    ORDO_ASSERT_OK(WriteMeta(*database, kSchemaVersionKey, 9));
  }
  EXPECT_THAT(
      Restore(copy_, store_),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(copy_)));
}

}  // namespace
}  // namespace ordo::scheduler::store
