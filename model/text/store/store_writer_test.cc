#include "model/text/store/store_writer.h"

#include <cerrno>

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

}  // namespace
}  // namespace ordo::model::text::store
