#include "scheduler/store/sqlite_store.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/meta.h"
#include "scheduler/store/sqlite.h"
#include "scheduler/store/testing/faulty_vfs.h"
#include "scheduler/store/testing/old_tables.h"
#include "scheduler/store/testing/store_conformance.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using base::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

using testing::Faults;
using testing::FaultyVfs;

// In a child process, whose reports come through a pipe.
class SqliteUnderTest : public testing::StoreUnderTest {
 public:
  absl::StatusOr<std::unique_ptr<Store>> Open() override {
    FaultyVfs();
    return OpenSqliteStore({path(), "faulty"});
  }

  std::string path() const { return folder_.Path("new/ordo.db"); }

  Outcome RunAndDie(const History& history,
                    const testing::Death& death) override {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      Faults& faults = FaultyVfs();
      faults = {};
      faults.die_at = death.at_write;
      faults.machine_dies = death.of_machine;
      const auto tell = [&ends](char what) {
        if (write(ends[1], &what, 1) != 1) std::abort();
      };
      history([this] { return Open(); }, [&tell] { tell('a'); });
      tell('f');
      std::_Exit(0);
    }
    close(ends[1]);
    Outcome outcome;
    char what = 0;
    while (read(ends[0], &what, 1) == 1) {
      outcome.finished = what == 'f';
      outcome.num_acknowledged += what == 'a';
    }
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(outcome.finished, WIFEXITED(status));
    EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0,
              outcome.finished ? 0 : SIGKILL);
    return outcome;
  }

  void SetFull(bool full) override { FaultyVfs().full = full; }

 private:
  // In memory where there is such a folder: hundreds of lives each sync often,
  // and what a disk would lose is up to the VFS.
  static std::string Parent() {
    if (::access("/dev/shm", W_OK) == 0) return "/dev/shm";
    const char* folder = std::getenv("TEST_TMPDIR");
    return folder == nullptr ? "/tmp" : folder;
  }

  const TemporaryFolder folder_{Parent()};
};

std::unique_ptr<testing::StoreUnderTest> MakeSqliteStore() {
  return std::make_unique<SqliteUnderTest>();
}

}  // namespace

namespace testing {
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreConformanceTest,
                         ::testing::Values(&MakeSqliteStore));
}  // namespace testing

namespace {

// Stores of earlier schemas.
class OldStoreTest : public ::testing::TestWithParam<int> {
 protected:
  // As a release of that schema left its file.
  static void Make(const std::string& path) {
    return GetParam() == 1 ? MakeVersion1(path) : MakeVersion2(path);
  }
  static void MakeVersion1(const std::string& path) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path));
    ORDO_ASSERT_OK(database->Execute(testing::kMakeVersion1));
    ORDO_ASSERT_OK_AND_ASSIGN(
        auto put,
        database->Prepare("INSERT INTO jobs VALUES (?, ?, ?, ?, 'f', 'w', 5)"));
    for (int64_t sequence = 1; sequence <= 40; ++sequence) {
      const std::string id = absl::StrCat("job-", sequence);
      core::StoredJob stored = testing::MakeStoredJob(sequence, id);
      stored.job.set_name(core::JobName(id));
      if (sequence % 2 == 0) {
        stored.job.set_state(jobs::v1::Job::SUCCEEDED);
        stored.job.mutable_end_time()->set_seconds(sequence);
        (*stored.job.mutable_spec()->mutable_labels())["k"] = "v";
      }
      put->BindInt(1, sequence);
      put->BindText(2, stored.job.name());
      put->BindBlob(3, stored.job.SerializeAsString());
      put->BindText(4, stored.request_id);
      ORDO_ASSERT_OK(put->Run());
    }
    ORDO_ASSERT_OK_AND_ASSIGN(
        put, database->Prepare("INSERT INTO checkpoints VALUES (?, ?)"));
    checkpoints::v1::Checkpoint checkpoint;
    checkpoint.set_name("jobs/job-1/checkpoints/5-1");
    put->BindText(1, checkpoint.name());
    put->BindBlob(2, checkpoint.SerializeAsString());
    ORDO_ASSERT_OK(put->Run());
  }
  static void MakeVersion2(const std::string& path) {
    {
      ORDO_ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStore({path}));
      ORDO_ASSERT_OK(store->Load());
      for (const testing::Step& step : testing::ScriptedHistory()) {
        ORDO_ASSERT_OK(testing::Do(step, store.get()));
      }
    }
    ORDO_ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(path));
    ORDO_ASSERT_OK(database->Execute(testing::kBackToVersion2));
  }

  // Copies the file, has its migration die as told, and looks at what is left.
  void CheckDeath(const std::string& bytes,
                  const std::vector<std::string>& expected,
                  const testing::Death& death, bool* finished) {
    base::PosixFilesystem files;
    SqliteUnderTest under_test;
    ORDO_ASSERT_OK(files.MakeFolders(base::FolderOf(under_test.path())));
    ORDO_ASSERT_OK(base::AtomicWrite(files, under_test.path(), bytes));
    const auto outcome = under_test.RunAndDie(
        [](const testing::OpenStore& open,
           const std::function<void()>& acknowledge) {
          const auto store = open();
          if (store.ok()) acknowledge();
        },
        death);
    *finished = outcome.finished;
    EXPECT_GE(outcome.num_acknowledged, outcome.finished ? 1 : 0);

    auto store = under_test.Open();
    ORDO_ASSERT_OK(store);
    ASSERT_EQ(testing::TellAll(store->get()).lines, expected);
    // And business goes on.
    ORDO_ASSERT_OK((*store)->Commit({testing::JobRecord(999, "next")}));
    store->reset();
    store = under_test.Open();
    ORDO_ASSERT_OK(store);
    EXPECT_EQ(testing::TellAll(store->get()).lines.size(), expected.size() + 1);
  }
};

TEST_P(OldStoreTest, NoDeathLosesOrHalvesAMigration) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("ordo.db");
  Make(path);
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                            base::ReadFile(files, path, 1 << 20));
  std::vector<std::string> expected;
  {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStore({path}));
    expected = testing::TellAll(store.get()).lines;
  }
  ASSERT_GT(expected.size(), 40u);
  for (const bool of_machine : {false, true}) {
    bool finished = false;
    int write = 1;
    for (; !finished && !HasFatalFailure(); ++write) {
      SCOPED_TRACE(absl::StrCat("dies in write ", write));
      CheckDeath(bytes, expected, {write, of_machine}, &finished);
    }
    ASSERT_FALSE(HasFatalFailure());
    // It did die, and more often than to open a file.
    EXPECT_GT(write, 5);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, OldStoreTest, ::testing::Values(1, 2));

class SqliteStoreTest : public ::testing::Test {
 protected:
  void Fill() {
    ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore({path_}));
    ORDO_ASSERT_OK(store->Load());
    ORDO_ASSERT_OK(store->Commit(
        {testing::JobRecord(1, "a"), testing::JobRecord(2, "b")}));
  }
  void Execute(const std::string& sql) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
    ORDO_ASSERT_OK(database->Execute(sql));
  }
  int64_t Number(const std::string& sql) {
    auto database = Database::Open(path_);
    EXPECT_THAT(database, IsOk());
    auto query = (*database)->Prepare(sql);
    EXPECT_THAT(query, IsOk());
    EXPECT_THAT((*query)->Step(), base::testing::IsOkAndHolds(true));
    return (*query)->Int(0);
  }
  absl::Status Load() {
    auto store = OpenSqliteStore({path_});
    if (!store.ok()) return store.status();
    return (*store)->Load().status();
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.Path("ordo.db");
};

TEST_F(SqliteStoreTest, ASecondSchedulerIsRefusedByTheNameOfTheFile) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto first, OpenSqliteStore({path_}));
  EXPECT_THAT(
      OpenSqliteStore({path_}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("another scheduler"), HasSubstr(path_))));
  first.reset();
  EXPECT_THAT(OpenSqliteStore({path_}), IsOk());
}

TEST_F(SqliteStoreTest, SaysWhatItTakesOfItsDisk) {
  Fill();
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore({path_}));
  ORDO_ASSERT_OK(store->Load());
  ORDO_ASSERT_OK(store->Commit({testing::JobRecord(3, "c")}));
  const StoreSize size = store->Size();
  EXPECT_GT(size.database_bytes, 0);
  EXPECT_GT(size.wal_bytes, 0);
  EXPECT_GT(size.free_bytes, 0);
}

TEST_F(SqliteStoreTest, TheEpochGrowsEvenWhenTheStoreIsRestored) {
  int64_t before = 0;
  for (int life = 0; life < 3; ++life) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore({path_}));
    ORDO_ASSERT_OK_AND_ASSIGN(const Contents contents, store->Load());
    before = contents.epoch;
  }
  {
    // What an old copy of the file says.
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
    ORDO_ASSERT_OK(WriteMeta(*database, kEpochKey, 1));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore({path_}));
  ORDO_ASSERT_OK_AND_ASSIGN(const Contents contents, store->Load());
  EXPECT_GT(contents.epoch, before);
}

TEST_F(SqliteStoreTest, AFileThatIsNoStoreIsDataLoss) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(base::AtomicWrite(files, path_, std::string(8192, 'x')));
  EXPECT_THAT(OpenSqliteStore({path_}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)));
}

TEST_F(SqliteStoreTest, AnEmptyFileBesideItsLogIsRefusedAndBothAreLeft) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(base::AtomicWrite(files, path_, ""));
  ORDO_ASSERT_OK(base::AtomicWrite(files, path_ + "-wal", "what came last"));
  EXPECT_THAT(
      OpenSqliteStore({path_}),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("store " + path_ + " is damaged"),
                     HasSubstr(path_ + "-wal"), HasSubstr("restore FILE"))));
  EXPECT_THAT(base::ReadFile(files, path_, 100),
              base::testing::IsOkAndHolds(""));
  EXPECT_THAT(base::ReadFile(files, path_ + "-wal", 100),
              base::testing::IsOkAndHolds("what came last"));
}

TEST_F(SqliteStoreTest, ALogWithoutItsFileIsRefusedAndLeft) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(base::AtomicWrite(files, path_ + "-wal", "what came last"));
  EXPECT_THAT(
      OpenSqliteStore({path_}),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("store " + path_ + " is damaged: it is gone"),
                     HasSubstr(path_ + "-wal"), HasSubstr("restore FILE"))));
  EXPECT_FALSE(base::Exists(files, path_));
  EXPECT_THAT(base::ReadFile(files, path_ + "-wal", 100),
              base::testing::IsOkAndHolds("what came last"));
}

TEST_F(SqliteStoreTest, AnEmptyFileAloneBecomesAStoreWithAWarning) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(base::AtomicWrite(files, path_, ""));
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(Load(), IsOk());
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      HasSubstr("the store " + path_ + " was empty; starting without jobs"));
}

TEST_F(SqliteStoreTest, AStoreThatIsThereOrMadeGivesNoWarning) {
  ::testing::internal::CaptureStderr();
  Fill();
  EXPECT_THAT(Load(), IsOk());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(SqliteStoreTest, AStoreWithADamagedRowIsLeftAsItIs) {
  Fill();
  Execute("UPDATE jobs SET name = 'c' WHERE sequence = 2");
  const int64_t epoch = Number("SELECT value FROM meta WHERE key = 'epoch'");
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kDataLoss,
                               AllOf(HasSubstr(path_),
                                     HasSubstr("table jobs, sequence 2"))));
  EXPECT_EQ(Number("SELECT value FROM meta WHERE key = 'epoch'"), epoch);
}

TEST_F(SqliteStoreTest, AStoreWithADamagedEpochIsLeftAsItIs) {
  Fill();
  Execute("UPDATE meta SET value = 7 WHERE key = 'epoch'");
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("table meta, key epoch")));
  EXPECT_EQ(Number("SELECT value FROM meta WHERE key = 'epoch'"), 7);
}

TEST_F(SqliteStoreTest, AFileWhosePagesAreDamagedIsNotWrittenTo) {
  Fill();
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(std::string bytes,
                            base::ReadFile(files, path_, 1 << 20));
  // A page in the middle.
  bytes.replace(bytes.size() / 4096 / 2 * 4096, 4096, 4096, 'x');
  ORDO_ASSERT_OK(base::AtomicWrite(files, path_, bytes));
  EXPECT_THAT(OpenSqliteStore({path_}),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(path_), HasSubstr("restore"))));
  EXPECT_THAT(base::ReadFile(files, path_, 1 << 20),
              base::testing::IsOkAndHolds(bytes));
}

TEST_F(SqliteStoreTest, ACommitIsOnTheDiskBeforeItReturns) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore({path_}));
  ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
  const auto pragma = [&](const std::string& name) {
    auto query = database->Prepare("PRAGMA " + name);
    EXPECT_THAT(query, IsOk());
    EXPECT_TRUE(*(*query)->Step());
    return (*query)->Bytes(0);
  };
  EXPECT_EQ(pragma("journal_mode"), "wal");
}

TEST_F(SqliteStoreTest, JobsThatHaveEndedAreKnownInMemoryAndNewNamesAreNot) {
  for (int life = 0; life < 2; ++life) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore({path_}));
    ORDO_ASSERT_OK(store->Load());
    const auto name = [life](const std::string& job) {
      return job + std::to_string(life);
    };
    // Not before it has looked.
    EXPECT_TRUE(store->MayBePast("never"));
    ORDO_ASSERT_OK(
        store->Commit({testing::JobRecord(10 * life + 1, name("a")),
                       testing::JobRecord(10 * life + 2, name("b")),
                       testing::JobRecord(10 * life + 3, name("c"))}));
    EXPECT_FALSE(store->MayBePast("never"));
    EXPECT_FALSE(store->MayHaveMadePast("request-never"));
    ORDO_ASSERT_OK(
        store->Commit({testing::EndedJobRecord(10 * life + 1, name("a")),
                       testing::EndedJobRecord(10 * life + 2, name("b"))}));
    ORDO_ASSERT_OK(store->Retire({name("b")}, {}));
    for (int before = 0; before <= life; ++before) {
      for (const char* job : {"a", "b"}) {
        const std::string past = job + std::to_string(before);
        EXPECT_TRUE(store->MayBePast(past)) << past;
        EXPECT_TRUE(store->MayHaveMadePast("request-" + past)) << past;
      }
    }
  }
}

TEST_F(SqliteStoreTest, OtherProgramsReadWhileAStoreIsOpen) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto store, OpenSqliteStore({path_}));
  ORDO_ASSERT_OK(store->Load());
  ORDO_ASSERT_OK(store->Commit({testing::JobRecord(1, "a")}));
  ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path_));
  ORDO_ASSERT_OK_AND_ASSIGN(auto query,
                            database->Prepare("SELECT name FROM jobs"));
  ORDO_ASSERT_OK_AND_ASSIGN(const bool found, query->Step());
  ASSERT_TRUE(found);
  EXPECT_EQ(query->Bytes(0), "a");
}

}  // namespace
}  // namespace ordo::scheduler::store
