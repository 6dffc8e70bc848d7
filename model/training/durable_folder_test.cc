#include "model/training/durable_folder.h"

#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::FileOperation;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DurableFolderTest : public ::testing::Test {
 protected:
  DurableFolderTest() : files_(real_) {}

  // A folder with two files and a manifest; gives the manifest's SHA-256.
  std::string WriteWithManifest(const std::string& name) {
    std::string manifest;
    ORDO_EXPECT_OK(WriteAside(
        files_, temporary_.Path(name), [&](const std::string& aside) {
          ORDO_EXPECT_OK(WriteDurably(files_, aside + "/a", "first"));
          ORDO_EXPECT_OK(WriteDurably(files_, aside + "/b", "second"));
          manifest = ManifestText({InfoOfFile(files_, aside, "a").value(),
                                   InfoOfFile(files_, aside, "b").value()});
          return WriteDurably(files_, aside + "/" + kManifestFile, manifest);
        }));
    return base::Sha256Hex(manifest);
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::testing::TemporaryFolder temporary_;
};

TEST_F(DurableFolderTest, HoldsWhatWasWrittenAndSaysSo) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto infos,
      WriteFolder(files_, temporary_.Path("r/x"), {{"a", "first"}}));
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0].path(), "a");
  EXPECT_EQ(infos[0].size_bytes(), 5);
  EXPECT_EQ(infos[0].sha256(), base::Sha256Hex("first"));
  EXPECT_THAT(real_.List(temporary_.Path("r")), IsOkAndHolds(ElementsAre("x")));
  EXPECT_THAT(base::ReadFile(real_, temporary_.Path("r/x/a"), 10),
              IsOkAndHolds(std::string("first")));
}

TEST_F(DurableFolderTest, ReplacesAnOlderFolderWhole) {
  ORDO_ASSERT_OK(
      WriteFolder(files_, temporary_.Path("x"), {{"a", "1"}, {"b", "2"}}));
  ORDO_ASSERT_OK(WriteFolder(files_, temporary_.Path("x"), {{"c", "3"}}));
  EXPECT_THAT(real_.List(temporary_.Path("x")), IsOkAndHolds(ElementsAre("c")));
}

TEST_F(DurableFolderTest, AnErrorAtAnyPlaceLeavesNothingBehind) {
  for (const FileOperation operation :
       {FileOperation::kMakeFolders, FileOperation::kOpenForWrite,
        FileOperation::kAppend, FileOperation::kSync,
        FileOperation::kSyncFolder, FileOperation::kRename}) {
    files_.Fail(operation, "x", ENOSPC);
    EXPECT_THAT(WriteFolder(files_, temporary_.Path("x"), {{"a", "1"}}),
                StatusIs(absl::StatusCode::kResourceExhausted))
        << static_cast<int>(operation);
    files_.Heal();
    EXPECT_THAT(real_.List(temporary_.path()), IsOkAndHolds(IsEmpty()));
  }
}

// Notes which folders are synced, relative to `root`.
class SyncRecorder : public base::testing::FaultyFilesystem {
 public:
  SyncRecorder(base::Filesystem& real, const std::string& root)
      : FaultyFilesystem(real), root_(root) {}

  absl::Status SyncFolder(const std::string& path) override {
    if (path == root_) {
      synced.push_back(".");
    } else if (path.rfind(root_ + "/", 0) == 0) {
      synced.push_back(path.substr(root_.size() + 1));
    }
    return FaultyFilesystem::SyncFolder(path);
  }

  std::vector<std::string> synced;

 private:
  const std::string root_;
};

TEST_F(DurableFolderTest, TheEntryIsSyncedAfterTheContent) {
  SyncRecorder files(real_, temporary_.path());
  ORDO_ASSERT_OK(WriteFolder(files, temporary_.Path("x"), {{"a", "1"}}));
  EXPECT_THAT(files.synced, ElementsAre(".tmp-x", "."));
}

TEST_F(DurableFolderTest, FoldersMadeOnTheWayAreDurableToo) {
  SyncRecorder files(real_, temporary_.path());
  ORDO_ASSERT_OK(real_.MakeFolders(temporary_.Path("job")));
  ORDO_ASSERT_OK(WriteFolder(files, temporary_.Path("job/r/s/x"), {{"a", ""}}));
  EXPECT_THAT(files.synced,
              ElementsAre("job/r", "job", ".", "job/r/s/.tmp-x", "job/r/s"));
}

TEST_F(DurableFolderTest, WhatIsNotKnownToBeDurableIsTakenBack) {
  files_.Fail(FileOperation::kSyncFolder, temporary_.path(), EIO,
              /*num_passed=*/1);
  EXPECT_THAT(WriteFolder(files_, temporary_.Path("x"), {{"a", "1"}}),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(real_.List(temporary_.path()), IsOkAndHolds(IsEmpty()));
}

TEST_F(DurableFolderTest, AnErrorLeavesTheOlderFolder) {
  ORDO_ASSERT_OK(WriteFolder(real_, temporary_.Path("x"), {{"a", "1"}}));
  // Once the older folder is out of the way, nothing can be renamed.
  files_.Fail(FileOperation::kRename, temporary_.Path("x"), EIO);
  EXPECT_THAT(WriteFolder(files_, temporary_.Path("x"), {{"b", "2"}}),
              StatusIs(absl::StatusCode::kDataLoss));
  files_.Heal();
  ORDO_ASSERT_OK(RemoveTemporaries(real_, temporary_.path()));
  EXPECT_THAT(real_.List(temporary_.Path("x")), IsOkAndHolds(ElementsAre("a")));
  files_.Fail(FileOperation::kSyncFolder, temporary_.path(), EIO,
              /*num_passed=*/1);
  EXPECT_THAT(WriteFolder(files_, temporary_.Path("x"), {{"b", "2"}}),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(real_.List(temporary_.path()), IsOkAndHolds(ElementsAre("x")));
  EXPECT_THAT(real_.List(temporary_.Path("x")), IsOkAndHolds(ElementsAre("a")));
}

TEST_F(DurableFolderTest, AFolderThatWasBeingReplacedComesBack) {
  // A crash between the two renames.
  ORDO_ASSERT_OK(
      WriteFolder(real_, temporary_.Path(".tmp-old-5-1"), {{"a", "1"}}));
  ORDO_ASSERT_OK(RemoveTemporaries(files_, temporary_.path()));
  EXPECT_THAT(real_.List(temporary_.path()), IsOkAndHolds(ElementsAre("5-1")));
  // A crash after them.
  ORDO_ASSERT_OK(
      WriteFolder(real_, temporary_.Path(".tmp-old-5-1"), {{"b", "1"}}));
  ORDO_ASSERT_OK(RemoveTemporaries(files_, temporary_.path()));
  EXPECT_THAT(real_.List(temporary_.path()), IsOkAndHolds(ElementsAre("5-1")));
  EXPECT_THAT(real_.List(temporary_.Path("5-1")),
              IsOkAndHolds(ElementsAre("a")));
}

TEST_F(DurableFolderTest, IsVerifiedByItsManifest) {
  const std::string sha256 = WriteWithManifest("x");
  ORDO_EXPECT_OK(VerifyManifest(files_, temporary_.Path("x"), sha256));
  ORDO_EXPECT_OK(VerifyManifest(files_, temporary_.Path("x"), ""));
}

TEST_F(DurableFolderTest, NamesTheFileThatIsDamaged) {
  const auto expect = [&](const std::string& path, const std::string& what) {
    EXPECT_THAT(VerifyManifest(files_, temporary_.Path("x"), ""),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr(temporary_.Path("x/" + path) +
                                   " is damaged: " + what)));
  };
  const std::string b = temporary_.Path("x/b");
  WriteWithManifest("x");
  ORDO_ASSERT_OK(WriteDurably(real_, b, "seconD"));
  expect("b", "its SHA-256");
  ORDO_ASSERT_OK(WriteDurably(real_, b, "secon"));
  expect("b", "it has 5 bytes, the manifest says 6");
  ORDO_ASSERT_OK(real_.RemoveFile(b));
  expect("b", "it is missing");
  ORDO_ASSERT_OK(
      WriteDurably(real_, temporary_.Path("x/MANIFEST.json"), "{\"files\":"));
  expect("MANIFEST.json", "it is not JSON");
  ORDO_ASSERT_OK(WriteDurably(real_, temporary_.Path("x/MANIFEST.json"),
                              R"({"files":[{"path":3}]})"));
  expect("MANIFEST.json", "");
}

TEST_F(DurableFolderTest, RefusesAManifestWithoutAFileThatIsRead) {
  WriteWithManifest("x");
  ORDO_EXPECT_OK(VerifyManifest(files_, temporary_.Path("x"), "", {"a", "b"}));
  EXPECT_THAT(
      VerifyManifest(files_, temporary_.Path("x"), "", {"a", "c"}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("does not list c")));
}

TEST_F(DurableFolderTest, LooksAtAnOptimizerOnlyWhereItIsRequired) {
  const std::string folder = temporary_.Path("x");
  ORDO_ASSERT_OK(WriteFolder(files_, folder,
                             {{"a", "first"}, {kOptimizerFile, "moments"}}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto first, InfoOfFile(files_, folder, "a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto moments,
                            InfoOfFile(files_, folder, kOptimizerFile));
  ORDO_ASSERT_OK(WriteDurably(files_, folder + "/" + kManifestFile,
                              ManifestText({first, moments})));
  ORDO_EXPECT_OK(VerifyManifest(files_, folder, "", {"a", kOptimizerFile}));
  ORDO_ASSERT_OK(real_.RemoveFile(folder + "/" + kOptimizerFile));
  ORDO_EXPECT_OK(VerifyManifest(files_, folder, "", {"a"}));
  EXPECT_THAT(VerifyManifest(files_, folder, "", {"a", kOptimizerFile}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("thinned")));
}

TEST_F(DurableFolderTest, RefusesAnotherManifestThanTheRegisteredOne) {
  WriteWithManifest("x");
  EXPECT_THAT(VerifyManifest(files_, temporary_.Path("x"), base::Sha256Hex("")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("registered")));
}

TEST_F(DurableFolderTest, RefusesAManifestThatLeadsOutOfTheFolder) {
  ORDO_ASSERT_OK(WriteFolder(
      files_, temporary_.Path("x"),
      {{kManifestFile,
        R"({"files":[{"path":"../y","size_bytes":1,"sha256":""}]})"}}));
  EXPECT_THAT(VerifyManifest(files_, temporary_.Path("x"), ""),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(DurableFolderTest, RefusesSizesThatAreNone) {
  for (const char* size : {"1e30", "1000000000000000000000", "-1", "1.5"}) {
    const std::string folder = temporary_.Path(size);
    ORDO_ASSERT_OK(WriteFolder(
        files_, folder,
        {{kManifestFile, absl::StrCat(R"({"files":[{"path":"y","size_bytes":)",
                                      size, R"(,"sha256":""}]})")}}));
    EXPECT_THAT(VerifyManifest(files_, folder, ""),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("size_bytes")))
        << size;
  }
}

TEST_F(DurableFolderTest, WithoutAManifestIsNotFound) {
  EXPECT_THAT(VerifyManifest(files_, temporary_.Path("none"), ""),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DurableFolderTest, LeftOversAreRemovedAndNothingElse) {
  ORDO_ASSERT_OK(WriteFolder(files_, temporary_.Path("5-1"), {{"a", "1"}}));
  ORDO_ASSERT_OK(WriteFolder(files_, temporary_.Path(".tmp-6-1"), {{"a", ""}}));
  ORDO_ASSERT_OK(RemoveTemporaries(files_, temporary_.path()));
  EXPECT_THAT(real_.List(temporary_.path()), IsOkAndHolds(ElementsAre("5-1")));
  ORDO_EXPECT_OK(RemoveTemporaries(files_, temporary_.Path("none")));
}

}  // namespace
}  // namespace ordo::model::training
