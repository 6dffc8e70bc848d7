#include "base/files/testing/temporary_folder.h"

#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "gtest/gtest.h"

namespace ordo::base::testing {
namespace {

TEST(TemporaryFolderTest, IsThereForItsScopeOnly) {
  PosixFilesystem files;
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    EXPECT_TRUE(Exists(files, path));
    EXPECT_TRUE(AtomicWrite(files, folder.Path("a"), "content").ok());
    EXPECT_NE(TemporaryFolder().path(), path);
  }
  EXPECT_FALSE(Exists(files, path));
}

TEST(TemporaryFolderTest, LiesWhereItIsTold) {
  const TemporaryFolder parent;
  const TemporaryFolder child(parent.path());
  EXPECT_EQ(FolderOf(child.path()), parent.path());
}

}  // namespace
}  // namespace ordo::base::testing
