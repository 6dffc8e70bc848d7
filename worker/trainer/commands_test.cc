#include "worker/trainer/commands.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/version.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::ExitCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest() {
    auto spec = TinySpec("none");
    spec.mutable_training()->set_steps(4);
    spec.mutable_checkpoint()->set_every_steps(1);
    spec.mutable_checkpoint()->set_keep(2);
    spec.clear_evaluations();
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, folder_.Path("task.json"),
                          base::WriteMessage(spec, base::TextForm::kJson)));
  }

  absl::StatusOr<ExitCode> Run(std::vector<std::string> arguments) {
    ORDO_ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(arguments));
    return RunCommand({files_, clock_, [] { return false; }}, line);
  }

  absl::StatusOr<ExitCode> TrainInto(const std::string& name,
                                     std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"train", folder_.Path("task.json"),
                                          "--out", folder_.Path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(CommandsTest, TrainByHandKeepsWhatThePolicySays) {
  EXPECT_THAT(TrainInto("a"), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(files_.List(folder_.Path("a/checkpoints")),
              IsOkAndHolds(ElementsAre("3-1", "4-1")));
}

TEST_F(CommandsTest, TrainForASchedulerLeavesRetentionToIt) {
  EXPECT_THAT(TrainInto("a", {"--deployment", folder_.path()}),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_EQ(files_.List(folder_.Path("a/checkpoints"))->size(), 4u);
}

TEST_F(CommandsTest, AJobThatTrainedLeavesItsPage) {
  EXPECT_THAT(TrainInto("a", {"--deployment", folder_.path()}),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  const auto page =
      base::ReadFile(files_, folder_.Path("a/results/report.html"), 1 << 24);
  ORDO_ASSERT_OK(page);
  EXPECT_THAT(*page, HasSubstr("Training loss."));
  EXPECT_THAT(
      base::ReadFile(files_, folder_.Path("a/results/report.md"), 1 << 20),
      IsOkAndHolds(HasSubstr("](learning-curves.svg)")));
  // By hand there is no job to report on.
  ORDO_ASSERT_OK(TrainInto("b"));
  EXPECT_THAT(files_.Stat(folder_.Path("b/results/report.html")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(CommandsTest, TrainByHandGoesOnOnlyWhenToldTo) {
  ORDO_ASSERT_OK(TrainInto("a"));
  const auto again = TrainInto("a");
  EXPECT_EQ(ExitCodeOf(again.status()), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("--resume"));
  EXPECT_THAT(TrainInto("a", {"--resume"}),
              IsOkAndHolds(ordo::training::v1::FINISHED));
}

TEST_F(CommandsTest, TrainRefusesARankThatTheTaskLacks) {
  for (const char* rank : {"1", "-1", "x"}) {
    const auto code = TrainInto("a", {"--rank", rank});
    EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::BAD_SPEC);
    EXPECT_THAT(std::string(code.status().message()),
                HasSubstr("--rank: must be 0..0"));
  }
  EXPECT_THAT(TrainInto("a", {"--rank", "0"}),
              IsOkAndHolds(ordo::training::v1::FINISHED));
}

TEST_F(CommandsTest, TrainByHandResumesFromARelativeFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const std::vector<std::string> train = {
      "train", "task.json",      "--out",
      "a",     "--storage-root", folder_.Path("else")};
  EXPECT_THAT(Run(train), IsOkAndHolds(ordo::training::v1::FINISHED));
  std::vector<std::string> again = train;
  again.push_back("--resume");
  EXPECT_THAT(Run(again), IsOkAndHolds(ordo::training::v1::FINISHED));
  std::filesystem::current_path(before);
}

TEST_F(CommandsTest, TrainByHandDoesNotStartOverAmongDamagedCheckpoints) {
  ORDO_ASSERT_OK(TrainInto("a"));
  for (const char* id : {"3-1", "4-1"}) {
    ORDO_ASSERT_OK(files_.Truncate(
        folder_.Path(std::string("a/checkpoints/") + id + "/state.json"), 5));
  }
  const auto code = TrainInto("a", {"--resume"});
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::CHECKPOINT_DAMAGED);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("4-1/state.json is damaged"));
  EXPECT_THAT(files_.List(folder_.Path("a/checkpoints")),
              IsOkAndHolds(ElementsAre("3-1", "4-1")));
}

TEST_F(CommandsTest, NumbersOfFlagsAreChecked) {
  const auto code = Run({"generate", "--checkpoint", "c", "--prompt",
                         "1+1=", "--max-tokens", "many"});
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("--max-tokens: must be 1.."));
}

TEST_F(CommandsTest, TrainTokenizerReadsItsFlags) {
  const auto run = [&](const std::string& size, const std::string& data) {
    const auto code = Run({"train-tokenizer", "--data", data, "--out",
                           folder_.Path("w.model"), "--vocabulary-size", size});
    EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::BAD_SPEC);
    return std::string(code.status().message());
  };
  EXPECT_THAT(run("many", folder_.path()),
              HasSubstr("--vocabulary-size: must be 1.."));
  EXPECT_THAT(run("300", ":"), HasSubstr("--data: must name"));
  // The library is looked for below the program's folder, which has none here.
  const auto code = Run({"train-tokenizer", "--data", folder_.Path("task.json"),
                         "--out", folder_.Path("w.model"), "--vocabulary-size",
                         "300", "--type", "unigram"});
  EXPECT_THAT(code, StatusIs(absl::StatusCode::kNotFound,
                             HasSubstr("libordo_sentence_piece.so")));
}

TEST_F(CommandsTest, AFolderThatCannotBeWrittenIsAStorageError) {
  EXPECT_EQ(
      ExitCodeOf(Run({"train", folder_.Path("task.json"), "--out", "/proc/x"})
                     .status()),
      ordo::training::v1::STORAGE_ERROR);
}

TEST_F(CommandsTest, CostIsPrinted) {
  EXPECT_THAT(Run({"cost", folder_.Path("task.json"), "-o", "json"}),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_EQ(ExitCodeOf(Run({"cost", folder_.Path("task.json"), "--convention",
                            "paper"})
                           .status()),
            ordo::training::v1::BAD_SPEC);
}

TEST_F(CommandsTest, MergeNeedsAdaptersAndANewFolder) {
  ORDO_ASSERT_OK(TrainInto("a"));
  const auto merge = [&](const std::string& out) {
    return Run({"merge", "--checkpoint", folder_.Path("a/checkpoints/4-1"),
                "--out", folder_.Path(out)});
  };
  EXPECT_THAT(std::string(merge("m").status().message()),
              HasSubstr("has no adapters"));
  auto spec = TinySpec("none");
  spec.mutable_training()->set_steps(1);
  spec.mutable_training()->mutable_lora();
  spec.clear_evaluations();
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("task.json"),
                        base::WriteMessage(spec, base::TextForm::kJson)));
  ORDO_ASSERT_OK(TrainInto("b"));
  const std::vector<std::string> good = {"merge", "--checkpoint",
                                         folder_.Path("b/checkpoints/1-1"),
                                         "--out", folder_.Path("m")};
  EXPECT_THAT(Run(good), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_TRUE(base::Exists(files_, folder_.Path("m/MANIFEST.json")));
  EXPECT_THAT(std::string(Run(good).status().message()),
              HasSubstr("exists already"));
}

TEST_F(CommandsTest, HelpAndVersionAreThere) {
  EXPECT_THAT(Run({"help"}), IsOkAndHolds(ordo::training::v1::FINISHED));
  ::testing::internal::CaptureStdout();
  EXPECT_THAT(Run({"--version"}), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "ordo-trainer, build " + *base::BuildId() + "\n");
}

}  // namespace
}  // namespace ordo::worker::trainer
