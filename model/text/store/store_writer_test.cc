#include "model/text/store/store_writer.h"

#include <cerrno>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::store {
namespace {

using ::ordo::base::testing::FileOperation;
using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

class StoreWriterTest : public ::testing::Test {
 protected:
  // A store of two documents, or the first error.
  absl::Status Write(base::Filesystem& files) {
    auto writer =
        StoreWriter::Create(files, folder_.path(), {std::string(64, 'a'), 9});
    if (!writer.ok()) return writer.status();
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = (*writer)->Add({1, 8}, {});
      if (!status.ok()) return status;
    }
    return (*writer)->Finish().status();
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(StoreWriterTest, TokensLieOneAfterTheOther) {
  ASSERT_THAT(Write(files_), IsOk());
  EXPECT_THAT(base::ReadFile(files_, folder_.Path("shard-00000.tokens"), 100),
              IsOkAndHolds(std::string("\x01\x00\x08\x00\x01\x00\x08\x00", 8)));
  const auto index = base::ReadFile(files_, folder_.Path("index.json"), 10000);
  ASSERT_THAT(index, IsOk());
  EXPECT_THAT(ParseIndex(*index), IsOk());
}

TEST_F(StoreWriterTest, WhatFailsLeavesNoStoreAndMayBeTriedAgain) {
  for (const FileOperation operation :
       {FileOperation::kAppend, FileOperation::kSync,
        FileOperation::kSyncFolder, FileOperation::kRename}) {
    base::testing::FaultyFilesystem faulty(files_);
    faulty.Fail(operation, folder_.path(), ENOSPC);
    EXPECT_THAT(Write(faulty), StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_EQ(faulty.num_failed(), 1);
    EXPECT_FALSE(base::Exists(files_, folder_.Path("index.json")));
  }
  EXPECT_THAT(Write(files_), IsOk());
}

TEST_F(StoreWriterTest, TheFirstErrorIsThatOfAllLaterCalls) {
  base::testing::FaultyFilesystem faulty(files_);
  // A shard for each document.
  auto writer = StoreWriter::Create(faulty, folder_.path(), {"", 9, 1});
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Add({1}, {}), IsOk());
  faulty.Fail(FileOperation::kSync, "shard-00001.tokens", EIO);
  EXPECT_THAT((*writer)->Add({2}, {}), StatusIs(absl::StatusCode::kDataLoss));
  faulty.Heal();
  EXPECT_THAT(
      (*writer)->Add({3}, {}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("shard-00001.tokens")));
  EXPECT_THAT((*writer)->Finish().status(),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_FALSE(base::Exists(files_, folder_.Path("index.json")));
}

TEST_F(StoreWriterTest, AfterItsEndNothingIsWritten) {
  auto writer = StoreWriter::Create(files_, folder_.path(), {"", 9});
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Finish().status(), IsOk());
  EXPECT_THAT((*writer)->Add({1}, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is finished")));
  EXPECT_THAT((*writer)->Finish().status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(files_.List(folder_.path()),
              IsOkAndHolds(ElementsAre("index.json")));
}

TEST_F(StoreWriterTest, OneWriterAtATime) {
  auto first = StoreWriter::Create(files_, folder_.path(), {"", 9});
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(StoreWriter::Create(files_, folder_.path(), {"", 9}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another writer is at it")));
  first->reset();
  EXPECT_THAT(Write(files_), IsOk());
}

// Notes which folders were made durable.
class Synced : public base::testing::FaultyFilesystem {
 public:
  using FaultyFilesystem::FaultyFilesystem;
  absl::Status SyncFolder(const std::string& path) override {
    folders.push_back(path);
    return FaultyFilesystem::SyncFolder(path);
  }
  std::vector<std::string> folders;
};

TEST_F(StoreWriterTest, TheFoldersThatItMadeAreDurableToo) {
  Synced files(files_);
  auto writer = StoreWriter::Create(files, folder_.Path("a/b"), {"", 9});
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Finish().status(), IsOk());
  EXPECT_THAT(files.folders, IsSupersetOf({folder_.Path("a/b"),
                                           folder_.Path("a"), folder_.path()}));
}

TEST_F(StoreWriterTest, RefusesAVocabularyOutOfBounds) {
  for (const int64_t size : {int64_t{0}, kMaxVocabularySize + 1}) {
    EXPECT_THAT(
        StoreWriter::Create(files_, folder_.path(), {"", size}).status(),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("a vocabulary has 1 to")));
  }
}

}  // namespace
}  // namespace ordo::model::text::store
