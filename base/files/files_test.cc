#include "base/files/files.h"

#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::ordo::base::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PosixFilesystemTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, std::string_view data,
             WriteMode mode = WriteMode::kTruncate) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto file,
                              files_.OpenForWrite(folder_.Path(name), mode));
    ORDO_ASSERT_OK(file->Append(data));
    ORDO_ASSERT_OK(file->Sync());
    ORDO_ASSERT_OK(file->Close());
  }

  absl::StatusOr<std::string> Read(const std::string& name) {
    auto file = files_.OpenForRead(folder_.Path(name));
    if (!file.ok()) return file.status();
    return (*file)->ReadAt(0, 1 << 20);
  }

  TemporaryFolder folder_;
  PosixFilesystem files_;
};

TEST_F(PosixFilesystemTest, TruncateReplacesAndAppendGoesOn) {
  Write("a", "one");
  Write("a", "two", WriteMode::kAppend);
  EXPECT_THAT(Read("a"), IsOkAndHolds("onetwo"));
  Write("a", "three");
  EXPECT_THAT(Read("a"), IsOkAndHolds("three"));
}

TEST_F(PosixFilesystemTest, CreateNewRefusesAnExistingFile) {
  Write("a", "one");
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("a"), WriteMode::kCreateNew),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("/a")));
}

TEST_F(PosixFilesystemTest, WhatIsOnlyOpenedMustBeThere) {
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("a"), WriteMode::kExisting),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(files_.Stat(folder_.Path("a")),
              StatusIs(absl::StatusCode::kNotFound));
  Write("a", "one");
  Write("a", "two", WriteMode::kExisting);
  EXPECT_THAT(Read("a"), IsOkAndHolds("onetwo"));
}

TEST_F(PosixFilesystemTest, ReadsFromAnOffsetAndStopsAtTheEnd) {
  Write("a", "0123456789");
  ORDO_ASSERT_OK_AND_ASSIGN(auto file, files_.OpenForRead(folder_.Path("a")));
  EXPECT_THAT(file->ReadAt(3, 4), IsOkAndHolds("3456"));
  EXPECT_THAT(file->ReadAt(8, 100), IsOkAndHolds("89"));
  EXPECT_THAT(file->ReadAt(50, 100), IsOkAndHolds(""));
  EXPECT_THAT(file->Size(), IsOkAndHolds(10u));
}

TEST_F(PosixFilesystemTest, FilesThatDoNotTellTheirSizeAreReadToTheirEnd) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto file, files_.OpenForRead("/proc/self/status"));
  EXPECT_THAT(file->Size(), IsOkAndHolds(0u));
  EXPECT_THAT(file->ReadAt(0, 1 << 20), IsOkAndHolds(HasSubstr("\nThreads:")));
  EXPECT_THAT(file->ReadAt(0, 5), IsOkAndHolds("Name:"));
}

TEST_F(PosixFilesystemTest, AnOpenReaderSeesWhatIsAppended) {
  Write("a", "one");
  ORDO_ASSERT_OK_AND_ASSIGN(auto file, files_.OpenForRead(folder_.Path("a")));
  Write("a", "two", WriteMode::kAppend);
  EXPECT_THAT(file->ReadAt(3, 10), IsOkAndHolds("two"));
}

TEST_F(PosixFilesystemTest, AnOpenFileTellsWhereItReallyLies) {
  Write("a", "text");
  const std::string link = folder_.Path("link");
  ORDO_ASSERT_OK(files_.ReplaceLink("a", link));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto file, files_.OpenForRead(link));
  ORDO_ASSERT_OK(files_.ReplaceLink("none", link));
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string path, file->RealPath());
  EXPECT_EQ(path.substr(path.rfind('/')), "/a");
}

TEST_F(PosixFilesystemTest, APipeIsNotWaitedFor) {
  const std::string path = folder_.Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(files_.OpenForRead(path),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(PosixFilesystemTest, MissingFilesAreNotFoundAndNamed) {
  const std::string path = folder_.Path("none");
  const auto not_found =
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none"));
  EXPECT_THAT(files_.OpenForRead(path), not_found);
  EXPECT_THAT(files_.List(path), not_found);
  EXPECT_THAT(files_.RemoveFile(path), not_found);
  EXPECT_THAT(files_.Stat(path), not_found);
  EXPECT_THAT(files_.SyncFolder(path), not_found);
  EXPECT_THAT(files_.Truncate(path, 0), not_found);
  EXPECT_THAT(files_.Rename(path, path + "2"), not_found);
  EXPECT_THAT(files_.FreeBytes(path), not_found);
}

TEST_F(PosixFilesystemTest, MakesAndListsAndRemovesTrees) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("x/y/z")));
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("x/y/z")));
  Write("x/b", "");
  Write("x/a", "");
  Write("keep", "kept");
  ASSERT_EQ(
      ::symlink(folder_.Path("keep").c_str(), folder_.Path("x/link").c_str()),
      0);
  EXPECT_THAT(files_.List(folder_.Path("x")),
              IsOkAndHolds(ElementsAre("a", "b", "link", "y")));
  ORDO_ASSERT_OK(files_.SyncFolder(folder_.Path("x")));
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("x")));
  EXPECT_THAT(files_.List(folder_.path()), IsOkAndHolds(ElementsAre("keep")));
  EXPECT_THAT(Read("keep"), IsOkAndHolds("kept"));
  EXPECT_THAT(files_.RemoveTree(folder_.Path("x")), IsOk());
}

TEST_F(PosixFilesystemTest, WhatATreeThatIsRemovedLinksToStays) {
  for (const char* name : {"keep", "x"}) {
    ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path(name)));
  }
  Write("keep/kept", "kept");
  Write("x/a", "");
  ASSERT_EQ(
      ::symlink(folder_.Path("keep").c_str(), folder_.Path("x/link").c_str()),
      0);
  ORDO_ASSERT_OK(files_.ReplaceLink(folder_.Path("x"), folder_.Path("y")));
  // A link itself, and not the folder that it leads to.
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("y")));
  EXPECT_TRUE(files_.Stat(folder_.Path("x/a")).ok());
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("x")));
  EXPECT_THAT(Read("keep/kept"), IsOkAndHolds("kept"));
}

TEST_F(PosixFilesystemTest, FoldersThatLieTooDeepInEachOtherAreNotRemoved) {
  constexpr int kDepth = 150;
  std::string path = folder_.Path("d");
  std::string middle;
  for (int i = 0; i < kDepth; ++i) {
    path += "/d";
    if (i == kDepth / 2) middle = path;
  }
  ORDO_ASSERT_OK(files_.MakeFolders(path));
  EXPECT_THAT(
      files_.RemoveTree(folder_.Path("d")),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("by hand")));
  ORDO_EXPECT_OK(files_.RemoveTree(middle));
  ORDO_EXPECT_OK(files_.RemoveTree(folder_.Path("d")));
}

TEST_F(PosixFilesystemTest,
       TheMaskSaysWhetherAGroupMayRemoveWhatLiesInFolders) {
  for (const mode_t mask : {0002, 0022, 0027}) {
    const std::string path = folder_.Path(std::to_string(mask) + "/below");
    const mode_t own = umask(mask);
    ORDO_EXPECT_OK(files_.MakeFolders(path));
    umask(own);
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0775U & ~mask);
  }
}

TEST_F(PosixFilesystemTest, WhatIsRemovedBelowARootLiesThere) {
  for (const char* name : {"root/a/b/c", "elsewhere/c"}) {
    ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path(name)));
  }
  Write("elsewhere/c/kept", "kept");
  const std::string root = folder_.Path("root");
  ORDO_EXPECT_OK(files_.RemoveUnder(root, "a/b"));
  EXPECT_THAT(files_.List(folder_.Path("root/a")),
              IsOkAndHolds(::testing::IsEmpty()));
  ORDO_EXPECT_OK(files_.RemoveUnder(root, "a/b"));
  ORDO_EXPECT_OK(files_.RemoveUnder(root, "not/there"));
  ORDO_EXPECT_OK(files_.RemoveUnder(folder_.Path("none"), "a"));
  for (const char* path : {"", ".", "..", "../elsewhere", "a/../../elsewhere",
                           "/elsewhere", "a//b"}) {
    EXPECT_THAT(files_.RemoveUnder(root, path),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << path;
  }
  // A link on the way, and one at its end.
  ORDO_ASSERT_OK(
      files_.ReplaceLink(folder_.Path("elsewhere"), root + "/a/link"));
  EXPECT_THAT(files_.RemoveUnder(root, "a/link/c"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ORDO_EXPECT_OK(files_.RemoveUnder(root, "a/link"));
  EXPECT_THAT(Read("elsewhere/c/kept"), IsOkAndHolds("kept"));
}

TEST_F(PosixFilesystemTest, AFileInTheWayOfAFolderIsAnError) {
  Write("a", "");
  EXPECT_THAT(files_.MakeFolders(folder_.Path("a")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(files_.MakeFolders(folder_.Path("a/b")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(PosixFilesystemTest, RenameReplacesAFile) {
  Write("a", "new");
  Write("b", "old");
  ORDO_ASSERT_OK(files_.Rename(folder_.Path("a"), folder_.Path("b")));
  EXPECT_THAT(Read("b"), IsOkAndHolds("new"));
  EXPECT_THAT(Read("a"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PosixFilesystemTest, TruncateCuts) {
  Write("a", "0123");
  ORDO_ASSERT_OK(files_.Truncate(folder_.Path("a"), 2));
  EXPECT_THAT(Read("a"), IsOkAndHolds("01"));
}

TEST_F(PosixFilesystemTest, StatTellsKindAndSize) {
  Write("a", "0123");
  ORDO_ASSERT_OK_AND_ASSIGN(const FileInfo file,
                            files_.Stat(folder_.Path("a")));
  EXPECT_FALSE(file.is_folder);
  EXPECT_EQ(file.size_bytes, 4u);
  EXPECT_GT(file.modified, absl::FromUnixSeconds(1'600'000'000));
  ORDO_ASSERT_OK_AND_ASSIGN(const FileInfo folder, files_.Stat(folder_.path()));
  EXPECT_TRUE(folder.is_folder);
}

TEST_F(PosixFilesystemTest, FreeSpaceIsThatOfTheDisk) {
  ORDO_ASSERT_OK_AND_ASSIGN(const uint64_t free_bytes,
                            files_.FreeBytes(folder_.path()));
  EXPECT_GT(free_bytes, 0u);
}

TEST_F(PosixFilesystemTest, AFullDiskIsResourceExhausted) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      auto file, files_.OpenForWrite("/dev/full", WriteMode::kAppend));
  EXPECT_THAT(file->Append("a"), StatusIs(absl::StatusCode::kResourceExhausted,
                                          HasSubstr("/dev/full")));
}

TEST_F(PosixFilesystemTest, ALinkIsReplacedInOneStepAndReadAsItIs) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("one")));
  Write("one/a", "text");
  ORDO_ASSERT_OK(files_.ReplaceLink("one", folder_.Path("now")));
  EXPECT_THAT(files_.ReadLink(folder_.Path("now")), IsOkAndHolds("one"));
  EXPECT_THAT(Read("now/a"), IsOkAndHolds("text"));
  // Where it leads need not be there.
  ORDO_ASSERT_OK(files_.ReplaceLink("two", folder_.Path("now")));
  EXPECT_THAT(files_.ReadLink(folder_.Path("now")), IsOkAndHolds("two"));
  EXPECT_THAT(files_.Stat(folder_.Path("now")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(files_.List(folder_.path()),
              IsOkAndHolds(ElementsAre("now", "one")));
}

TEST_F(PosixFilesystemTest, AFolderIsNoLinkAndIsNotReplacedByOne) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("one")));
  EXPECT_THAT(files_.ReadLink(folder_.Path("one")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(files_.ReadLink(folder_.Path("none")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(files_.ReplaceLink("two", folder_.Path("one")).ok());
  EXPECT_THAT(files_.List(folder_.path()), IsOkAndHolds(ElementsAre("one")));
}

}  // namespace
}  // namespace ordo::base
