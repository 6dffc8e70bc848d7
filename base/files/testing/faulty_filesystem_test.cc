#include "base/files/testing/faulty_filesystem.h"

#include <cerrno>
#include <string>

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base::testing {
namespace {

using ::testing::ElementsAre;

class FaultyFilesystemTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  PosixFilesystem real_;
  FaultyFilesystem files_{real_};
};

TEST_F(FaultyFilesystemTest, PassesCallsOnWithoutAFault) {
  const std::string path = folder_.Path("x/a");
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("x")));
  ORDO_ASSERT_OK_AND_ASSIGN(auto writer,
                            files_.OpenForWrite(path, WriteMode::kCreateNew));
  ORDO_ASSERT_OK(writer->Append("abc"));
  ORDO_ASSERT_OK(writer->Sync());
  ORDO_ASSERT_OK(writer->Close());
  ORDO_ASSERT_OK(files_.Truncate(path, 2));
  ORDO_ASSERT_OK_AND_ASSIGN(auto reader, files_.OpenForRead(path));
  EXPECT_THAT(reader->ReadAt(0, 9), IsOkAndHolds("ab"));
  EXPECT_THAT(reader->Size(), IsOkAndHolds(2u));
  ORDO_ASSERT_OK(files_.Rename(path, folder_.Path("x/b")));
  EXPECT_THAT(files_.List(folder_.Path("x")), IsOkAndHolds(ElementsAre("b")));
  ORDO_ASSERT_OK(files_.SyncFolder(folder_.Path("x")));
  EXPECT_THAT(files_.FreeBytes(folder_.path()), IsOk());
  ORDO_ASSERT_OK(files_.RemoveFile(folder_.Path("x/b")));
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("x")));
  EXPECT_THAT(files_.Stat(path), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FaultyFilesystemTest, FailsTheNamedOperationOnTheNamedPaths) {
  files_.Fail(FileOperation::kOpenForWrite, "/bad", EACCES);
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("bad"), WriteMode::kTruncate),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("good"), WriteMode::kTruncate),
              IsOk());
  files_.Heal();
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("bad"), WriteMode::kTruncate),
              IsOk());
}

TEST_F(FaultyFilesystemTest, FailsOnlyAfterThoseThatPass) {
  files_.Fail(FileOperation::kAppend, "/a", EIO, /*num_passed=*/2);
  ORDO_ASSERT_OK_AND_ASSIGN(
      auto file, files_.OpenForWrite(folder_.Path("a"), WriteMode::kTruncate));
  EXPECT_THAT(file->Append("1"), IsOk());
  EXPECT_THAT(file->Append("2"), IsOk());
  EXPECT_THAT(file->Append("3"), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(file->Append("4"), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(FaultyFilesystemTest, WaitsBeforeTheNamedOperationOnTheNamedPaths) {
  int num_waits = 0;
  files_.Delay(FileOperation::kOpenForWrite, "/slow", [&] {
    ++num_waits;
    EXPECT_THAT(real_.Stat(folder_.Path("slow")),
                StatusIs(absl::StatusCode::kNotFound));
  });
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("fast"), WriteMode::kTruncate),
              IsOk());
  EXPECT_EQ(num_waits, 0);
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("slow"), WriteMode::kTruncate),
              IsOk());
  EXPECT_EQ(num_waits, 1);
  files_.Heal();
  EXPECT_THAT(files_.OpenForWrite(folder_.Path("slow"), WriteMode::kTruncate),
              IsOk());
  EXPECT_EQ(num_waits, 1);
}

TEST_F(FaultyFilesystemTest, AFullDiskTakesTheFirstBytes) {
  files_.LimitDisk(4);
  ORDO_ASSERT_OK_AND_ASSIGN(
      auto file, files_.OpenForWrite(folder_.Path("a"), WriteMode::kTruncate));
  EXPECT_THAT(file->Append("012"), IsOk());
  EXPECT_THAT(files_.FreeBytes(folder_.path()), IsOkAndHolds(1u));
  EXPECT_THAT(file->Append("345"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  ORDO_ASSERT_OK_AND_ASSIGN(auto reader, files_.OpenForRead(folder_.Path("a")));
  EXPECT_THAT(reader->ReadAt(0, 9), IsOkAndHolds("0123"));
}

TEST_F(FaultyFilesystemTest, LinksFailOnDemandToo) {
  const std::string path = folder_.Path("link");
  files_.Fail(FileOperation::kReplaceLink, "link", EIO);
  EXPECT_THAT(files_.ReplaceLink("to", path),
              StatusIs(absl::StatusCode::kDataLoss));
  files_.Heal();
  ORDO_EXPECT_OK(files_.ReplaceLink("to", path));
  EXPECT_EQ(files_.ReadLink(path).value_or(""), "to");
  files_.Fail(FileOperation::kReadLink, "link", EIO);
  EXPECT_THAT(files_.ReadLink(path), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace ordo::base::testing
