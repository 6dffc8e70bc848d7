#include "scheduler/store/sqlite_store.h"

#include <memory>
#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/present.h"
#include "scheduler/store/sqlite.h"
#include "scheduler/store/testing/store_conformance.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using base::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

testing::OpenStore MakeSqliteStore() {
  auto folder = std::make_shared<TemporaryFolder>();
  return [folder] { return OpenSqliteStore(folder->Path("new/ordo.db")); };
}

}  // namespace

namespace testing {
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreConformanceTest,
                         ::testing::Values(&MakeSqliteStore));
}  // namespace testing

namespace {

class SqliteStoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_.Path("ordo.db");
};

TEST_F(SqliteStoreTest, ASecondSchedulerIsRefusedByTheNameOfTheFile) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto first, OpenSqliteStore(path_));
  EXPECT_THAT(
      OpenSqliteStore(path_),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("another scheduler"), HasSubstr(path_))));
  first.reset();
  EXPECT_THAT(OpenSqliteStore(path_), IsOk());
}

TEST_F(SqliteStoreTest, TheEpochGrowsEvenWhenTheStoreIsRestored) {
  int64_t before = 0;
  for (int life = 0; life < 3; ++life) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore(path_));
    ORDO_ASSERT_OK_AND_ASSIGN(const Contents contents, store->Load());
    before = contents.epoch;
  }
  {
    // What an old copy of the file says.
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
    ORDO_ASSERT_OK(
        database->Execute("UPDATE meta SET value = 1 WHERE key = 'epoch'"));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore(path_));
  ORDO_ASSERT_OK_AND_ASSIGN(const Contents contents, store->Load());
  EXPECT_GT(contents.epoch, before);
}

TEST_F(SqliteStoreTest, AFileOfAnotherSchemaVersionIsRefused) {
  ORDO_ASSERT_OK(OpenSqliteStore(path_));
  {
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
    ORDO_ASSERT_OK(database->Execute(
        "UPDATE meta SET value = 99 WHERE key = 'schema_version'"));
  }
  EXPECT_THAT(OpenSqliteStore(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("99"), HasSubstr(path_))));
}

TEST_F(SqliteStoreTest, AFileThatIsNoStoreIsDataLoss) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(base::AtomicWrite(files, path_, std::string(8192, 'x')));
  EXPECT_THAT(OpenSqliteStore(path_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)));
}

TEST_F(SqliteStoreTest, AJobThatCannotBeReadIsDataLoss) {
  ORDO_ASSERT_OK(OpenSqliteStore(path_));
  {
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
    ORDO_ASSERT_OK(database->Execute(
        "INSERT INTO jobs VALUES (7, 'jobs/a', x'ff', '', '', '', 0)"));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore(path_));
  EXPECT_THAT(store->Load(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("sequence 7")));
}

TEST_F(SqliteStoreTest, ACommitIsOnTheDiskBeforeItReturns) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore(path_));
  ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
  const auto pragma = [&](const std::string& name) {
    auto query = database->Prepare("PRAGMA " + name);
    EXPECT_THAT(query, IsOk());
    EXPECT_TRUE(*(*query)->Step());
    return (*query)->Bytes(0);
  };
  EXPECT_EQ(pragma("journal_mode"), "wal");
}

TEST_F(SqliteStoreTest, OtherProgramsReadWhileAStoreIsOpen) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore(path_));
  ORDO_ASSERT_OK(store->Load());
  core::StoredJob stored;
  stored.job.set_sequence(1);
  stored.job.mutable_spec()->set_name("a");
  core::SpecTable specs;
  ORDO_ASSERT_OK(store->Commit({core::Record{core::RecordOf(stored, &specs)}}));
  ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
  ORDO_ASSERT_OK_AND_ASSIGN(auto query,
                            database->Prepare("SELECT name FROM jobs"));
  ORDO_ASSERT_OK_AND_ASSIGN(const bool found, query->Step());
  ASSERT_TRUE(found);
  EXPECT_EQ(query->Bytes(0), "jobs/a");
}

}  // namespace
}  // namespace ordo::scheduler::store
