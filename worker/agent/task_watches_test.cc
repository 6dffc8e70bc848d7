#include "worker/agent/task_watches.h"

#include <memory>
#include <string>

#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

class TaskWatchesTest : public ::testing::Test {
 protected:
  TaskWatchesTest() {
    options_.state_folder = folder_.Path("worker");
    options_.storage_root = folder_.Path("storage");
  }
  void SetUp() override {
    ORDO_ASSERT_OK_AND_ASSIGN(watcher_, Watcher::Create());
    for (const std::string& path : {Folders().task, Folders().attempt}) {
      ORDO_ASSERT_OK(files_.MakeFolders(path));
    }
  }
  TaskFolders Folders() const { return {options_, {"a", 1}}; }
  void Append(const std::string& path) {
    ORDO_ASSERT_OK_AND_ASSIGN(
        auto file, files_.OpenForWrite(path, base::WriteMode::kAppend));
    ORDO_ASSERT_OK(file->Append("x"));
  }
  bool Changed(const TaskWatches& watches) {
    bool lost_some = true;
    return watches.IsIn(watcher_->Take(&lost_some));
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  TaskOptions options_;
  std::unique_ptr<Watcher> watcher_;
};

TEST_F(TaskWatchesTest, FileThatAppearsIsSeenAndFollowedFromThenOn) {
  for (const std::string& path :
       {Folders().task + "/journal", Folders().progress}) {
    TaskWatches watches(*watcher_, Folders());
    EXPECT_FALSE(Changed(watches));
    Append(path);
    EXPECT_TRUE(Changed(watches));
    Append(path);
    EXPECT_FALSE(Changed(watches));
    watches.Extend();
    Append(path);
    EXPECT_TRUE(Changed(watches));
  }
}

TEST_F(TaskWatchesTest, WhereItsFilesAreThereNoOtherWakesIt) {
  Append(Folders().task + "/journal");
  Append(Folders().progress);
  const TaskWatches watches(*watcher_, Folders());
  Append(Folders().task + "/other");
  Append(Folders().attempt + "/rank-0.log");
  bool lost_some = true;
  EXPECT_TRUE(watcher_->Take(&lost_some).empty());
  Append(Folders().progress);
  EXPECT_TRUE(Changed(watches));
  Append(Folders().task + "/journal");
  EXPECT_TRUE(Changed(watches));
}

TEST_F(TaskWatchesTest, OtherTasksAreNotItsOwn) {
  const TaskFolders other(options_, {"b", 1});
  ORDO_ASSERT_OK(files_.MakeFolders(other.task));
  const TaskWatches watches(*watcher_, Folders());
  const TaskWatches others(*watcher_, other);
  Append(other.task + "/journal");
  EXPECT_FALSE(Changed(watches));
}

TEST_F(TaskWatchesTest, EndsWithItsObject) {
  { const TaskWatches watches(*watcher_, Folders()); }
  bool lost_some = true;
  watcher_->Take(&lost_some);
  Append(Folders().progress);
  EXPECT_TRUE(watcher_->Take(&lost_some).empty());
}

}  // namespace
}  // namespace ordo::worker::agent
