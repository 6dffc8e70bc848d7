#include "worker/agent/spare_folders.h"

#include <cerrno>

#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::FaultyFilesystem;
using ::ordo::base::testing::FileOperation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SpareFoldersTest : public ::testing::Test {
 protected:
  // A task's folder with a file in it.
  std::string MadeBy(SpareFolders& spares, const std::string& name) {
    const std::string path = folder_.Path("tasks/" + name);
    ORDO_EXPECT_OK(spares.Make(path));
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, path + "/journal", "what " + name + " did"));
    return path;
  }
  std::vector<std::string> Entries(const std::string& folder) {
    return files_.List(folder_.Path(folder))
        .value_or(std::vector<std::string>{});
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem real_;
  FaultyFilesystem files_{real_};
};

TEST_F(SpareFoldersTest, TheNextTaskHasTheFolderOfTheLastWithItsFilesEmpty) {
  SpareFolders spares(files_, folder_.Path("spare"), 4);
  const std::string first = MadeBy(spares, "a.1");
  ORDO_ASSERT_OK(spares.Remove(first));
  EXPECT_THAT(Entries("tasks"), IsEmpty());
  EXPECT_THAT(Entries("spare"), SizeIs(1));

  ORDO_ASSERT_OK(spares.Make(folder_.Path("tasks/b.1")));

  EXPECT_THAT(Entries("tasks"), ElementsAre("b.1"));
  EXPECT_THAT(Entries("spare"), IsEmpty());
  EXPECT_THAT(base::ReadFile(files_, folder_.Path("tasks/b.1/journal"), 100),
              base::testing::IsOkAndHolds(std::string()));
}

TEST_F(SpareFoldersTest, FilesAsideGoToNoOtherTask) {
  SpareFolders spares(files_, folder_.Path("spare"), 4);
  const std::string first = MadeBy(spares, "a.1");
  // As a worker leaves one that dies before its rename.
  files_.Fail(FileOperation::kRename, "journal", EIO);
  files_.Fail(FileOperation::kRemove, "journal", EIO);
  EXPECT_FALSE(base::AtomicWrite(files_, first + "/journal", "anew").ok());
  files_.Heal();
  ASSERT_THAT(Entries("tasks/a.1"), SizeIs(2));
  ORDO_ASSERT_OK(spares.Remove(first));
  ORDO_ASSERT_OK(spares.Make(folder_.Path("tasks/b.1")));
  EXPECT_THAT(Entries("tasks/b.1"), ElementsAre("journal"));
}

TEST_F(SpareFoldersTest, NoMoreAreKeptThanTheLimit) {
  SpareFolders spares(files_, folder_.Path("spare"), 1);
  const std::string first = MadeBy(spares, "a.1");
  const std::string second = MadeBy(spares, "b.1");
  ORDO_ASSERT_OK(spares.Remove(first));
  ORDO_ASSERT_OK(spares.Remove(second));
  EXPECT_THAT(Entries("tasks"), IsEmpty());
  EXPECT_THAT(Entries("spare"), SizeIs(1));
}

TEST_F(SpareFoldersTest, WhatAnEarlierProcessLeftIsRemoved) {
  {
    SpareFolders spares(files_, folder_.Path("spare"), 4);
    ORDO_ASSERT_OK(spares.Remove(MadeBy(spares, "a.1")));
  }
  SpareFolders spares(files_, folder_.Path("spare"), 4);
  EXPECT_THAT(Entries("spare"), IsEmpty());
  ORDO_ASSERT_OK(spares.Remove(MadeBy(spares, "b.1")));
  EXPECT_THAT(Entries("spare"), SizeIs(1));
}

TEST_F(SpareFoldersTest, WhereOneCannotBeKeptItIsRemoved) {
  SpareFolders spares(files_, folder_.Path("spare"), 4);
  const std::string first = MadeBy(spares, "a.1");
  const std::string second = MadeBy(spares, "b.1");
  files_.Fail(FileOperation::kRename, "spare", EACCES);
  ORDO_ASSERT_OK(spares.Remove(first));
  files_.Heal();
  files_.Fail(FileOperation::kOpenForWrite, "spare", EIO);
  ORDO_ASSERT_OK(spares.Remove(second));
  EXPECT_EQ(files_.num_failed(), 2);
  EXPECT_THAT(Entries("tasks"), IsEmpty());
  EXPECT_THAT(Entries("spare"), IsEmpty());
}

TEST_F(SpareFoldersTest, WhereOneCannotBeTakenAnotherIsMade) {
  SpareFolders spares(files_, folder_.Path("spare"), 4);
  ORDO_ASSERT_OK(spares.Remove(MadeBy(spares, "a.1")));
  files_.Fail(FileOperation::kRename, "b.1", EACCES);
  ORDO_ASSERT_OK(spares.Make(folder_.Path("tasks/b.1")));
  EXPECT_EQ(files_.num_failed(), 1);
  EXPECT_THAT(Entries("tasks"), ElementsAre("b.1"));
  EXPECT_THAT(Entries("tasks/b.1"), IsEmpty());
}

TEST_F(SpareFoldersTest, AFolderThatIsNotThereIsGone) {
  SpareFolders spares(files_, folder_.Path("spare"), 4);
  ORDO_EXPECT_OK(spares.Remove(folder_.Path("tasks/a.1")));
}

}  // namespace
}  // namespace ordo::worker::agent
