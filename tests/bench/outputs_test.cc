#include "tests/bench/outputs.h"

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OutputsTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) { return folder_.Path(name); }

  const base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
};

TEST_F(OutputsTest, WhatIsNotAskedForNeedsNothing) {
  ORDO_EXPECT_OK(CheckJsonFile(""));
  ORDO_EXPECT_OK(CheckPlotsFolder(""));
}

TEST_F(OutputsTest, AFileThatCanBeWrittenStaysAsItIs) {
  ORDO_EXPECT_OK(CheckJsonFile(Path("figures.jsonl")));
  EXPECT_THAT(files_.List(folder_.path()).value(), IsEmpty());
  ORDO_ASSERT_OK(base::AtomicWrite(files_, Path("figures.jsonl"), "old"));
  ORDO_EXPECT_OK(CheckJsonFile(Path("figures.jsonl")));
  EXPECT_THAT(files_.List(folder_.path()).value(),
              ElementsAre("figures.jsonl"));
  EXPECT_EQ(base::ReadFile(files_, Path("figures.jsonl"), 9).value(), "old");
}

TEST_F(OutputsTest, AFolderThatIsNotThereIsRefusedWithItsFlag) {
  EXPECT_THAT(CheckJsonFile(Path("none/figures.jsonl")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("--json: "), HasSubstr("/none/"))));
  EXPECT_THAT(CheckJsonFile(folder_.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is a folder")));
}

TEST_F(OutputsTest, AFolderOfPlotsIsMadeAndLeftEmpty) {
  ORDO_EXPECT_OK(CheckPlotsFolder(Path("new/plots")));
  EXPECT_THAT(files_.List(Path("new/plots")).value(), IsEmpty());
}

TEST_F(OutputsTest, WhatTakesNoPlotsIsRefusedWithItsFlag) {
  ORDO_ASSERT_OK(base::AtomicWrite(files_, Path("file"), ""));
  EXPECT_THAT(
      CheckPlotsFolder(Path("file")),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--plots: ")));
}

TEST_F(OutputsTest, FiguresThatNothingCanDrawAreRefused) {
  setenv("PATH", folder_.path().c_str(), /*overwrite=*/1);
  EXPECT_THAT(CheckPlotsFolder(Path("plots")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("gnuplot-nox")));
}

}  // namespace
}  // namespace ordo::tests::bench
