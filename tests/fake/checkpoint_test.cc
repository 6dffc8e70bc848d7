#include "tests/fake/checkpoint.h"

#include <cerrno>

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::fake {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckpointTest : public ::testing::Test {
 protected:
  static State StateAt(int64_t step) {
    State state = InitialState(1);
    while (state.step < step) Advance(state);
    return state;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  CheckpointOptions options_{folder_.path(), 2, nullptr};
};

TEST_F(CheckpointTest, ReadingGivesTheStateBack) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto written,
                            WriteCheckpoint(files_, StateAt(5), options_));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const State state,
      ReadCheckpoint(files_, folder_.Path("5-2"), written.manifest_sha256()));
  EXPECT_EQ(DigestOf(state), DigestOf(StateAt(5)));
  EXPECT_EQ(written.id(), "5-2");
  EXPECT_EQ(written.state_digest(), DigestOf(state));
}

TEST_F(CheckpointTest, ParametersDependOnSeedAndStepOnly) {
  ORDO_ASSERT_OK(WriteCheckpoint(files_, StateAt(5), options_));
  options_.attempt = 3;
  ORDO_ASSERT_OK(WriteCheckpoint(files_, StateAt(5), options_));
  ORDO_ASSERT_OK(WriteCheckpoint(files_, StateAt(6), options_));
  const auto sum = [&](const char* id) {
    return *base::Sha256HexOfFile(files_,
                                  folder_.Path(id) + "/model.safetensors");
  };
  EXPECT_EQ(sum("5-2"), sum("5-3"));
  EXPECT_NE(sum("5-2"), sum("6-3"));
}

TEST_F(CheckpointTest, BitFlipIsDataLoss) {
  ORDO_ASSERT_OK(WriteCheckpoint(files_, StateAt(5), options_));
  const std::string path = folder_.Path("5-2") + "/optimizer.safetensors";
  ORDO_ASSERT_OK_AND_ASSIGN(std::string contents,
                            base::ReadFile(files_, path, 1 << 20));
  contents.back() ^= 1;
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, contents));
  EXPECT_THAT(ReadCheckpoint(files_, folder_.Path("5-2"), ""),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("optimizer.safetensors")));
}

TEST_F(CheckpointTest, AnotherManifestIsDataLoss) {
  ORDO_ASSERT_OK(WriteCheckpoint(files_, StateAt(5), options_));
  EXPECT_THAT(ReadCheckpoint(files_, folder_.Path("5-2"), "00"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("MANIFEST")));
}

TEST_F(CheckpointTest, MissingFolderIsNotFound) {
  EXPECT_THAT(ReadCheckpoint(files_, folder_.Path("9-1"), ""),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("9-1")));
}

TEST_F(CheckpointTest, FullDiskLeavesNothingBehind) {
  base::testing::FaultyFilesystem faulty(files_);
  faulty.LimitDisk(100);
  EXPECT_THAT(WriteCheckpoint(faulty, StateAt(5), options_),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(files_.List(folder_.path()), IsOkAndHolds(IsEmpty()));
}

TEST_F(CheckpointTest, NothingIsListedMidway) {
  options_.midway = [&] {
    EXPECT_THAT(files_.List(folder_.path()),
                IsOkAndHolds(ElementsAre(".5-2.tmp")));
  };
  ORDO_ASSERT_OK(WriteCheckpoint(files_, StateAt(5), options_));
  EXPECT_THAT(files_.List(folder_.path()), IsOkAndHolds(ElementsAre("5-2")));
}

}  // namespace
}  // namespace ordo::tests::fake
