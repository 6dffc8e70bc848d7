#include "base/files/file_util.h"

#include <cerrno>
#include <string>

#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::FaultyFilesystem;
using ::ordo::base::testing::FileOperation;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::ordo::base::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class FileUtilTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  PosixFilesystem real_;
  FaultyFilesystem files_{real_};
};

TEST_F(FileUtilTest, AtomicWriteIsReadBackAndLeavesNothingAside) {
  const std::string path = folder_.Path("a");
  ORDO_ASSERT_OK(AtomicWrite(files_, path, "one"));
  ORDO_ASSERT_OK(AtomicWrite(files_, path, "two"));
  EXPECT_THAT(ReadFile(files_, path, 100), IsOkAndHolds("two"));
  EXPECT_THAT(files_.List(folder_.path()), IsOkAndHolds(ElementsAre("a")));
}

TEST_F(FileUtilTest, AtomicWriteThatFailsKeepsTheOldContentAndCleansUp) {
  const std::string path = folder_.Path("a");
  ORDO_ASSERT_OK(AtomicWrite(files_, path, "old"));
  for (const FileOperation operation :
       {FileOperation::kOpenForWrite, FileOperation::kAppend,
        FileOperation::kSync, FileOperation::kRename}) {
    files_.Fail(operation, "/a", ENOSPC);
    EXPECT_THAT(AtomicWrite(files_, path, "new"),
                StatusIs(absl::StatusCode::kResourceExhausted));
    files_.Heal();
    EXPECT_THAT(ReadFile(files_, path, 100), IsOkAndHolds("old"));
    EXPECT_THAT(files_.List(folder_.path()), IsOkAndHolds(ElementsAre("a")));
  }
}

TEST_F(FileUtilTest, AFileAsideThatIsLeftIsKnownByItsName) {
  files_.Fail(FileOperation::kRename, "/a", EIO);
  files_.Fail(FileOperation::kRemove, "/a", EIO);
  EXPECT_FALSE(AtomicWrite(files_, folder_.Path("a"), "new").ok());
  ORDO_ASSERT_OK_AND_ASSIGN(const auto names, files_.List(folder_.path()));
  ASSERT_THAT(names, SizeIs(1));
  EXPECT_TRUE(IsAside(names[0]));
  EXPECT_FALSE(IsAside("a"));
}

TEST_F(FileUtilTest, ReplaceFileReplacesWithoutWaitingForTheDisk) {
  const std::string path = folder_.Path("a");
  files_.Fail(FileOperation::kSync, "", EIO);
  files_.Fail(FileOperation::kSyncFolder, "", EIO);
  ORDO_ASSERT_OK(ReplaceFile(files_, path, "one"));
  ORDO_ASSERT_OK(ReplaceFile(files_, path, "two"));
  EXPECT_THAT(ReadFile(files_, path, 100), IsOkAndHolds("two"));
  files_.Fail(FileOperation::kRename, "", EIO);
  EXPECT_FALSE(ReplaceFile(files_, path, "three").ok());
  EXPECT_THAT(files_.List(folder_.path()), IsOkAndHolds(SizeIs(1)));
}

TEST_F(FileUtilTest, AtomicWriteSaysWhenTheFolderIsNotDurable) {
  files_.Fail(FileOperation::kSyncFolder, folder_.path(), EIO);
  EXPECT_THAT(AtomicWrite(files_, folder_.Path("a"), "new"),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(FileUtilTest, ReadFileRefusesWhatIsTooLong) {
  ORDO_ASSERT_OK(AtomicWrite(files_, folder_.Path("a"), "0123456789"));
  EXPECT_THAT(ReadFile(files_, folder_.Path("a"), 10),
              IsOkAndHolds("0123456789"));
  EXPECT_THAT(ReadFile(files_, folder_.Path("a"), 9),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(FileUtilTest, ExistsTellsWhatIsThere) {
  EXPECT_TRUE(Exists(files_, folder_.path()));
  EXPECT_FALSE(Exists(files_, folder_.Path("a")));
  files_.Fail(FileOperation::kStat, "/a", EACCES);
  EXPECT_TRUE(Exists(files_, folder_.Path("a")));
}

TEST(PathTest, JoinsAndTakesApart) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(FolderOf("a/b/c"), "a/b");
  EXPECT_EQ(FolderOf("c"), ".");
  EXPECT_EQ(FolderOf("/c"), "/");
  EXPECT_EQ(NameOf("a/b/c.txt"), "c.txt");
  EXPECT_EQ(NameOf("c.txt"), "c.txt");
}

TEST(JoinUnderTest, TakesPathsBelowTheRoot) {
  EXPECT_THAT(JoinUnder("/root", "a/b..c/.d"), IsOkAndHolds("/root/a/b..c/.d"));
}

TEST(JoinUnderTest, RefusesWhatCouldLeadOut) {
  for (const std::string& path :
       {std::string(), std::string("/etc/passwd"), std::string(".."),
        std::string("a/../../b"), std::string("a/.."), std::string("./a"),
        std::string("a//b"), std::string("a/"), std::string("a\0b", 3)}) {
    EXPECT_THAT(JoinUnder("/root", path),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << path;
  }
}

}  // namespace
}  // namespace ordo::base
