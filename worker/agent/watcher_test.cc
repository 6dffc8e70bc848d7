#include "worker/agent/watcher.h"

#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WatcherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK_AND_ASSIGN(watcher_, Watcher::Create());
  }
  void Append(const std::string& name) {
    ORDO_ASSERT_OK_AND_ASSIGN(
        auto file,
        files_.OpenForWrite(folder_.Path(name), base::WriteMode::kAppend));
    ORDO_ASSERT_OK(file->Append("x"));
  }
  std::set<int> Take() {
    bool lost_some = true;
    const auto changed = watcher_->Take(&lost_some);
    EXPECT_FALSE(lost_some);
    return changed;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  std::unique_ptr<Watcher> watcher_;
};

TEST_F(WatcherTest, FolderTellsOfNewFilesOnly) {
  ORDO_ASSERT_OK_AND_ASSIGN(const int watch,
                            watcher_->WatchFolder(folder_.path()));
  EXPECT_THAT(Take(), IsEmpty());
  Append("a");
  EXPECT_THAT(Take(), ElementsAre(watch));
  Append("a");
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(WatcherTest, FileTellsOfWrites) {
  Append("a");
  ORDO_ASSERT_OK_AND_ASSIGN(const int watch,
                            watcher_->WatchFile(folder_.Path("a")));
  Append("a");
  EXPECT_THAT(Take(), ElementsAre(watch));
  watcher_->Unwatch(watch);
  Take();
  Append("a");
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(WatcherTest, MissingFileIsNotFound) {
  EXPECT_THAT(watcher_->WatchFile(folder_.Path("a")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::worker::agent
