#include "scheduler/server/folder_remover.h"

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::FaultyFilesystem;
using base::testing::FileOperation;
using base::testing::TemporaryFolder;

class FolderRemoverTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  base::PosixFilesystem real_;
  FaultyFilesystem files_{real_};
  std::vector<absl::Status> errors_;
};

TEST_F(FolderRemoverTest, AFolderGoesWithAllInIt) {
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("a/b")));
  FolderRemover remover(files_, folder_.path(), [this](const absl::Status& s) {
    errors_.push_back(s);
  });
  remover.Remove("a");
  remover.Remove("not-there");
  remover.Wait();
  EXPECT_FALSE(base::Exists(real_, folder_.Path("a")));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(FolderRemoverTest, ASweepEndsWhenThereIsNoMore) {
  // One of them has nothing to remove.
  std::vector<std::vector<std::string>> pages = {{"a", "b"}, {}, {"c"}};
  for (const auto& page : pages) {
    for (const auto& path : page) {
      ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path(path)));
    }
  }
  FolderRemover remover(files_, folder_.path(), [this](const absl::Status& s) {
    errors_.push_back(s);
  });
  size_t num_asked = 0;
  remover.Sweep([&]() -> std::optional<std::vector<std::string>> {
    const size_t page = num_asked++;
    if (page == pages.size()) return std::nullopt;
    return pages[page];
  });
  remover.Wait();
  EXPECT_EQ(num_asked, pages.size() + 1);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_FALSE(base::Exists(real_, folder_.Path(name))) << name;
  }
  EXPECT_TRUE(errors_.empty());
}

TEST_F(FolderRemoverTest, AFolderThatATrainerMadeALinkLeadsNowhere) {
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("b/checkpoints/1-1")));
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("a")));
  ORDO_ASSERT_OK(
      real_.ReplaceLink("../b/checkpoints", folder_.Path("a/checkpoints")));
  FolderRemover remover(files_, folder_.path(), [this](const absl::Status& s) {
    errors_.push_back(s);
  });
  remover.Remove("a/checkpoints/1-1");
  remover.Wait();
  EXPECT_EQ(errors_.size(), 1u);
  EXPECT_TRUE(base::Exists(real_, folder_.Path("b/checkpoints/1-1")));
}

TEST_F(FolderRemoverTest, AnErrorIsToldAndTheNextFolderStillGoes) {
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("bad")));
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("good")));
  files_.Fail(FileOperation::kRemove, "bad", EACCES);
  FolderRemover remover(files_, folder_.path(), [this](const absl::Status& s) {
    errors_.push_back(s);
  });
  remover.Remove("bad");
  remover.Remove("good");
  remover.Wait();
  EXPECT_EQ(errors_.size(), 1u);
  EXPECT_TRUE(base::Exists(real_, folder_.Path("bad")));
  EXPECT_FALSE(base::Exists(real_, folder_.Path("good")));
}

}  // namespace
}  // namespace ordo::scheduler::server
