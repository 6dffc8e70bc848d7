#include "worker/trainer/train.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/testing/bpe_json.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/checkpoints.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::FileOperation;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::model::text::tokenizers::testing::BpeJson;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::ExitCode;
using ::ordo::training::v1::ProgressRecord;
using ::ordo::training::v1::TrainSpec;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Of real time, within which a trainer comes to where a test waits for it: what
// waits longer goes on, and the test fails.
constexpr std::chrono::seconds kPatience(60);

// Runs trainers in folders of their own and reads what they told.
class TrainTest : public ::testing::Test {
 protected:
  TrainTest() : files_(real_) {}

  absl::StatusOr<ExitCode> Run(const TrainSpec& spec,
                               const std::string& folder) {
    TrainerContext context(files_, clock_);
    context.storage_root = storage_root_;
    context.job_folder = temporary_.Path(folder);
    context.build_digest = build_digest_;
    context.prune_checkpoints = prune_checkpoints_;
    context.stop_requested = [this] { return --polls_until_stop_ < 0; };
    const auto progress =
        Progress::Open(files_, clock_, AttemptFolder(context, spec.attempt()));
    ORDO_EXPECT_OK(progress);
    return Train(context, spec, progress->get());
  }

  std::vector<ProgressRecord> Records(const std::string& folder,
                                      int attempt = 1) {
    base::RecordReader reader(
        real_, temporary_.Path(folder + "/attempts/" + std::to_string(attempt) +
                               "/progress.records"));
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      ORDO_EXPECT_OK(payload);
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  ProgressRecord Last(const std::string& folder, int attempt = 1) {
    return Records(folder, attempt).back();
  }

  std::vector<std::string> CheckpointsTold(const std::string& folder,
                                           int attempt = 1) {
    std::vector<std::string> ids;
    for (const auto& record : Records(folder, attempt)) {
      if (record.has_checkpoint()) ids.push_back(record.checkpoint().id());
    }
    return ids;
  }

  // Of each checkpoint "<digest of the data> after <tokens>".
  std::vector<std::string> DataTold(const std::string& folder,
                                    int attempt = 1) {
    std::vector<std::string> told;
    for (const auto& record : Records(folder, attempt)) {
      if (!record.has_checkpoint()) continue;
      told.push_back(record.checkpoint().data_digest() + " after " +
                     std::to_string(record.checkpoint().tokens()));
    }
    return told;
  }

  // Runs with a clock that `at_each_poll` may move; asked once a step.
  absl::StatusOr<ExitCode> RunOn(base::Clock& clock, const TrainSpec& spec,
                                 const std::function<void()>& at_each_poll) {
    TrainerContext context(files_, clock);
    context.job_folder = temporary_.Path("a");
    context.stop_requested = [&] {
      at_each_poll();
      return false;
    };
    const auto progress =
        Progress::Open(files_, clock, AttemptFolder(context, 1));
    ORDO_EXPECT_OK(progress);
    return Train(context, spec, progress->get());
  }

  std::vector<std::string> Checkpoints(const std::string& folder) {
    return real_.List(temporary_.Path(folder + "/checkpoints")).value();
  }

  std::vector<std::string> ReportsTold(const std::string& folder,
                                       int attempt = 1) {
    std::vector<std::string> reports;
    for (const auto& record : Records(folder, attempt)) {
      if (!record.has_report()) continue;
      reports.push_back(record.report().id() + " of " +
                        record.report().checkpoint());
    }
    return reports;
  }

  std::string Text(const std::string& path) {
    return base::ReadFile(real_, temporary_.Path(path), 64 << 20).value();
  }

  std::string Model(const std::string& folder, const std::string& id) {
    return Text(folder + "/checkpoints/" + id + "/model.safetensors");
  }

  std::string InitialDigest(const std::string& folder, int attempt = 1) {
    return Records(folder, attempt)
        .front()
        .started()
        .control()
        .initial_digest();
  }

  void ResumeFrom(const std::string& folder, const std::string& id,
                  TrainSpec* spec) {
    spec->add_resume()->set_path(
        temporary_.Path(folder + "/checkpoints/" + id));
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder temporary_;
  std::string build_digest_ = "build";
  bool prune_checkpoints_ = false;
  // How often a trainer may ask before it is told to stop.
  int polls_until_stop_ = 1 << 30;
  std::string storage_root_;
};

TEST_F(TrainTest, TrainsCheckpointsEvaluatesAndTellsAllOfIt) {
  EXPECT_THAT(Run(TinySpec("rope"), "a"),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  const auto records = Records("a");
  EXPECT_TRUE(records.front().has_started());
  EXPECT_EQ(records.front().started().start_step(), 0);
  EXPECT_TRUE(records.front().started().exact());
  EXPECT_THAT(CheckpointsTold("a"), ElementsAre("5-1", "10-1", "15-1", "20-1"));
  int64_t steps = 0;
  bool report_told = false;
  std::string manifest;
  for (const auto& record : records) {
    if (record.has_step()) {
      EXPECT_EQ(record.step().step(), ++steps);
      EXPECT_GT(record.step().peak_memory_bytes(), 0);
    }
    if (record.has_checkpoint()) {
      manifest = record.checkpoint().manifest_sha256();
    }
    if (record.has_report()) {
      EXPECT_EQ(record.report().id(), "addition_grid-20");
      EXPECT_EQ(record.report().checkpoint(), "20-1");
      EXPECT_EQ(record.report().folder(), "results/addition_grid-20-1");
      EXPECT_EQ(record.report().metrics().count("grid_mean"), 1u);
      EXPECT_EQ(record.report().key().manifest_sha256(), manifest);
      EXPECT_EQ(record.report().key().device(), "cpu");
      report_told = true;
    }
  }
  EXPECT_EQ(steps, 20);
  EXPECT_TRUE(report_told);
  const auto& finished = records.back().finished();
  EXPECT_EQ(finished.code(), ordo::training::v1::FINISHED);
  EXPECT_EQ(finished.step(), 20);
  EXPECT_EQ(finished.state_digest().size(), 64u);
}

TEST_F(TrainTest, TellsTheInitialValuesOfAllButTheEncoding) {
  TrainSpec rope = TinySpec("rope"), tape = TinySpec("tape");
  for (TrainSpec* spec : {&rope, &tape}) {
    spec->clear_evaluations();
    spec->mutable_training()->set_steps(1);
  }
  ORDO_ASSERT_OK(Run(rope, "rope"));
  ORDO_ASSERT_OK(Run(tape, "tape"));
  const std::string digest = InitialDigest("rope");
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_TRUE(Records("rope").front().started().control().deterministic());
  EXPECT_THAT(Records("rope").front().started().control().device(),
              ::testing::StartsWith("cpu "));
  EXPECT_EQ(InitialDigest("tape"), digest);
  EXPECT_THAT(Text("tape/attempts/1/initial.json"),
              AllOf(HasSubstr("\"digest\": \"" + digest),
                    HasSubstr("\"model.embed_tokens.weight\": {")));
  rope.mutable_training()->set_seed(rope.training().seed() + 1);
  ORDO_ASSERT_OK(Run(rope, "other"));
  EXPECT_NE(InitialDigest("other"), digest);
}

TEST_F(TrainTest, AResumedRunTellsTheInitialValuesOfItsFirstStep) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  ORDO_ASSERT_OK(Run(spec, "a"));
  const std::string digest = InitialDigest("a");
  ResumeFrom("a", "10-1", &spec);
  spec.set_attempt(2);
  ORDO_ASSERT_OK(Run(spec, "a"));
  EXPECT_EQ(InitialDigest("a", 2), digest);
  EXPECT_EQ(Text("a/attempts/2/initial.json"),
            Text("a/attempts/1/initial.json"));
  // What another job went on to is where this one begins.
  spec.clear_resume();
  spec.set_attempt(1);
  spec.mutable_training()->set_steps(25);
  spec.mutable_start()->set_path(temporary_.Path("a/checkpoints/20-2"));
  ORDO_ASSERT_OK(Run(spec, "b"));
  EXPECT_NE(InitialDigest("b"), digest);
  const std::string begun = InitialDigest("b");
  ResumeFrom("b", "25-1", &spec);
  spec.set_attempt(2);
  ORDO_ASSERT_OK(Run(spec, "b"));
  EXPECT_EQ(InitialDigest("b", 2), begun);
}

TEST_F(TrainTest, CheckpointsTellTheDataSoFarWhateverTheEncodingAndTheStops) {
  TrainSpec rope = TinySpec("rope"), tape = TinySpec("tape");
  rope.clear_evaluations();
  tape.clear_evaluations();
  ORDO_ASSERT_OK(Run(rope, "rope"));
  ORDO_ASSERT_OK(Run(tape, "tape"));
  const std::vector<std::string> told = DataTold("rope");
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(std::set<std::string>(told.begin(), told.end()).size(), 4u);
  EXPECT_EQ(DataTold("tape"), told);
  ResumeFrom("rope", "10-1", &rope);
  rope.set_attempt(2);
  ORDO_ASSERT_OK(Run(rope, "rope"));
  EXPECT_THAT(DataTold("rope", 2), ElementsAre(told[2], told[3]));
}

class StoppedTrainTest : public TrainTest,
                         public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Precisions, StoppedTrainTest,
                         ::testing::Values("fp32", "bf16"));

// With all that a recipe can ask for beside the precision, where it is bf16.
TEST_P(StoppedTrainTest, ResumedAtAnyStepGivesTheSameModel) {
  TrainSpec spec = TinySpec("tape");
  spec.clear_evaluations();
  spec.mutable_training()->set_precision(GetParam());
  if (spec.training().precision() == "bf16") {
    spec.mutable_model()->set_dropout(0.1);
    spec.mutable_training()->set_micro_batch_size(2);
  }
  ORDO_ASSERT_OK(Run(spec, "whole"));
  const std::string whole = Model("whole", "20-1");
  for (int step = 0; step < 20; ++step) {
    const std::string folder = "stopped-" + std::to_string(step);
    spec.clear_resume();
    spec.set_attempt(1);
    polls_until_stop_ = step;
    EXPECT_THAT(Run(spec, folder), IsOkAndHolds(ordo::training::v1::STOPPED));
    const auto stopped = Last(folder).finished();
    EXPECT_EQ(stopped.step(), step);
    polls_until_stop_ = 1 << 30;
    ResumeFrom(folder, std::to_string(step) + "-1", &spec);
    spec.set_attempt(2);
    EXPECT_THAT(Run(spec, folder), IsOkAndHolds(ordo::training::v1::FINISHED));
    const auto started = Records(folder, 2).front().started();
    EXPECT_EQ(started.start_step(), step);
    EXPECT_EQ(started.state_digest(), stopped.state_digest());
    EXPECT_TRUE(started.exact());
    EXPECT_TRUE(Model(folder, "20-2") == whole) << step;
  }
}

TEST_F(TrainTest, FallsBackToAnOlderCheckpointAndNamesTheDamagedFile) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  ORDO_ASSERT_OK(Run(spec, "a"));
  const std::string whole = Model("a", "20-1");
  const std::string damaged =
      temporary_.Path("a/checkpoints/15-1/optimizer.safetensors");
  ORDO_ASSERT_OK(real_.Truncate(damaged, 100));
  ResumeFrom("a", "15-1", &spec);
  ResumeFrom("a", "10-1", &spec);
  spec.set_attempt(2);
  ORDO_ASSERT_OK(Run(spec, "a"));
  const auto started = Records("a", 2).front().started();
  EXPECT_EQ(started.start_step(), 10);
  ASSERT_EQ(started.warnings_size(), 1);
  EXPECT_THAT(started.warnings(0), HasSubstr(damaged + " is damaged"));
  EXPECT_TRUE(Model("a", "20-2") == whole);
}

TEST_F(TrainTest, StartsOverWhenNoCheckpointIsGood) {
  TrainSpec spec = TinySpec("rope");
  ResumeFrom("none", "5-1", &spec);
  EXPECT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::FINISHED));
  const auto started = Records("a").front().started();
  EXPECT_EQ(started.start_step(), 0);
  EXPECT_THAT(started.warnings(1), HasSubstr("starting over at step 0"));
}

TEST_F(TrainTest, ContinuesAnotherJobsCheckpointOrFailsWithoutIt) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  ORDO_ASSERT_OK(Run(spec, "a"));
  spec.mutable_training()->set_steps(25);
  spec.mutable_start()->set_path(temporary_.Path("a/checkpoints/20-1"));
  EXPECT_THAT(Run(spec, "b"), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_EQ(Records("b").front().started().start_step(), 20);
  spec.mutable_start()->set_path(temporary_.Path("none"));
  EXPECT_EQ(ExitCodeOf(Run(spec, "c").status()),
            ordo::training::v1::CHECKPOINT_DAMAGED);
  EXPECT_EQ(Last("c").finished().code(),
            ordo::training::v1::CHECKPOINT_DAMAGED);
}

TEST_F(TrainTest, AResumeElsewhereIsRecordedAsInexactFromThenOn) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  ORDO_ASSERT_OK(Run(spec, "a"));
  build_digest_ = "another build";
  ResumeFrom("a", "5-1", &spec);
  spec.set_attempt(2);
  ORDO_ASSERT_OK(Run(spec, "a"));
  const auto second = Records("a", 2).front().started();
  EXPECT_FALSE(second.exact());
  EXPECT_THAT(second.warnings(0), HasSubstr("the trainer's build was build"));
  spec.clear_resume();
  ResumeFrom("a", "10-2", &spec);
  spec.set_attempt(3);
  ORDO_ASSERT_OK(Run(spec, "a"));
  EXPECT_FALSE(Records("a", 3).front().started().exact());
}

TEST_F(TrainTest, AResumeIsExactWhateverTheRunStartedFrom) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  ORDO_ASSERT_OK(Run(spec, "a"));
  build_digest_ = "another build";
  spec.set_job("b");
  spec.mutable_training()->set_steps(40);
  spec.mutable_start()->set_path(temporary_.Path("a/checkpoints/20-1"));
  polls_until_stop_ = 5;
  EXPECT_THAT(Run(spec, "b"), IsOkAndHolds(ordo::training::v1::STOPPED));
  polls_until_stop_ = 1 << 30;
  EXPECT_FALSE(Records("b").front().started().exact());
  ResumeFrom("b", "25-1", &spec);
  spec.set_attempt(2);
  ORDO_ASSERT_OK(Run(spec, "b"));
  EXPECT_TRUE(Records("b", 2).front().started().exact());
}

TEST_F(TrainTest, AResumeWithOtherThreadsOrSettingsIsInexact) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  polls_until_stop_ = 5;
  ORDO_ASSERT_OK(Run(spec, "a"));
  polls_until_stop_ = 1 << 30;
  ResumeFrom("a", "5-1", &spec);
  spec.set_attempt(2);
  spec.mutable_resources()->set_threads(1);
  ASSERT_EQ(setenv("ONEDNN_MAX_CPU_ISA", "AVX2", /*overwrite=*/1), 0);
  ORDO_ASSERT_OK(Run(spec, "a"));
  ASSERT_EQ(unsetenv("ONEDNN_MAX_CPU_ISA"), 0);
  const auto started = Records("a", 2).front().started();
  EXPECT_FALSE(started.exact());
  EXPECT_THAT(started.warnings(0),
              AllOf(HasSubstr("the number of threads was 2 and is 1"),
                    HasSubstr("ONEDNN_MAX_CPU_ISA=AVX2")));
}

// A damaged checkpoint counts for nothing, whatever its number.
TEST_F(TrainTest, PruningKeepsWhatWasJustWritten) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  ORDO_ASSERT_OK(Run(spec, "a"));
  ORDO_ASSERT_OK(
      real_.Truncate(temporary_.Path("a/checkpoints/20-1/state.json"), 10));
  ResumeFrom("a", "20-1", &spec);
  ResumeFrom("a", "15-1", &spec);
  spec.mutable_checkpoint()->set_keep(1);
  prune_checkpoints_ = true;
  polls_until_stop_ = 2;
  EXPECT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::STOPPED));
  EXPECT_THAT(Checkpoints("a"), ElementsAre("17-1"));
}

// The next step fails while the checkpoint before it is being written.
TEST_F(TrainTest, TellsOfTheCheckpointInFlightWhenAStepFails) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_learning_rate(10);
  spec.mutable_training()->set_schedule("constant");
  spec.mutable_training()->set_warmup_fraction(0);
  spec.mutable_training()->set_clip_norm(0);
  spec.mutable_training()->set_steps(2000);
  spec.mutable_training()->set_weight_decay(10);
  spec.mutable_training()->set_beta2(0);
  spec.mutable_checkpoint()->set_every_steps(1);
  const auto code = Run(spec, "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::NON_FINITE);
  const int64_t step = Last("a").finished().step();
  EXPECT_GT(step, 0);
  EXPECT_EQ(CheckpointsTold("a").back(), std::to_string(step) + "-1");
}

TEST_F(TrainTest, TellsOfItsEndWhenSomethingThrows) {
  TrainSpec spec = TinySpec("rope");
  int polls = 0;
  const auto code = RunOn(clock_, spec, [&] {
    if (++polls == 6) throw std::runtime_error("out of luck");
  });
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::INTERNAL_ERROR);
  EXPECT_THAT(Last("a").finished().message(), HasSubstr("out of luck"));
  // Begun at the boundary that threw.
  EXPECT_THAT(CheckpointsTold("a"), ElementsAre("5-1"));
}

// A GPU that failed may never give it, and other ranks wait for the end.
TEST_F(TrainTest, DigestsNoStateAfterAnError) {
  int polls = 0;
  const auto code = RunOn(clock_, TinySpec("rope"), [&] {
    if (++polls == 6) throw std::runtime_error("out of luck");
  });
  EXPECT_FALSE(code.ok());
  EXPECT_EQ(Last("a").finished().step(), 5);
  EXPECT_EQ(Last("a").finished().state_digest(), "");
}

TEST_F(TrainTest, RemovesCheckpointsThatAnOlderAttemptDidNotTellOf) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  polls_until_stop_ = 12;
  ORDO_ASSERT_OK(Run(spec, "a"));
  EXPECT_THAT(Checkpoints("a"), ElementsAre("10-1", "12-1", "5-1"));
  // As if the first attempt had died after the rename of 12-1. A job knows more
  // checkpoints than it lists.
  polls_until_stop_ = 0;
  ResumeFrom("a", "10-1", &spec);
  spec.set_attempt(2);
  ORDO_ASSERT_OK(Run(spec, "a"));
  EXPECT_THAT(Checkpoints("a"), ElementsAre("10-1", "5-1"));
}

TEST_F(TrainTest, EvaluatesInSinglePrecisionHoweverItTrained) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_precision("bf16");
  ORDO_ASSERT_OK(Run(spec, "a"));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string result,
      base::ReadFile(real_,
                     temporary_.Path("a/results/addition_grid-20-1/"
                                     "result.json"),
                     1 << 20));
  EXPECT_THAT(result, HasSubstr(R"("precision": "fp32")"));
}

TEST_F(TrainTest, TriesAFailedCheckpointAgainAfterADelay) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_checkpoint()->set_every_steps(1000);
  spec.mutable_evaluations(0)->clear_at();
  spec.mutable_evaluations(0)->set_every_steps(8);
  files_.Fail(FileOperation::kAppend, ".tmp-8-1", ENOSPC);
  base::testing::FakeClock clock;
  // Two steps take ten seconds.
  EXPECT_THAT(RunOn(clock, spec, [&] { clock.Advance(absl::Seconds(5)); }),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(CheckpointsTold("a"), ElementsAre("10-1", "16-1", "20-1"));
}

TEST_F(TrainTest, AReportThatCannotBeWrittenWaitsForTheDisk) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_evaluations(0)->clear_at();
  spec.mutable_evaluations(0)->set_every_steps(8);
  files_.Fail(FileOperation::kAppend, ".tmp-addition_grid-8-1", ENOSPC);
  base::testing::FakeClock clock;
  EXPECT_THAT(RunOn(clock, spec,
                    [&] {
                      clock.Advance(absl::Seconds(5));
                      if (CheckpointsTold("a").size() >= 4) files_.Heal();
                    }),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  const auto told = ReportsTold("a");
  EXPECT_THAT(told, UnorderedElementsAre("addition_grid-8 of 8-1",
                                         "addition_grid-16 of 16-1",
                                         "addition_grid-20 of 20-1"));
  // Not only when all is over.
  EXPECT_EQ(told.back(), "addition_grid-20 of 20-1");
}

TEST_F(TrainTest, GoesOnWhenACheckpointCannotBeWritten) {
  files_.Fail(FileOperation::kAppend, ".tmp-10-1", ENOSPC);
  EXPECT_THAT(Run(TinySpec("rope"), "a"),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(CheckpointsTold("a"), ElementsAre("5-1", "15-1", "20-1"));
  int failures = 0;
  for (const auto& record : Records("a")) {
    if (!record.has_checkpoint_failed()) continue;
    EXPECT_EQ(record.checkpoint_failed().step(), 10);
    EXPECT_THAT(record.checkpoint_failed().message(),
                AllOf(HasSubstr("No space"),
                      HasSubstr(temporary_.Path("a/checkpoints/.tmp-10-1"))));
    ++failures;
  }
  EXPECT_EQ(failures, 1);
}

TEST_F(TrainTest, EndsWithAStorageErrorWhenTheLastCheckpointCannotBeWritten) {
  files_.Fail(FileOperation::kAppend, ".tmp-20-1", ENOSPC);
  const auto code = Run(TinySpec("rope"), "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::STORAGE_ERROR);
  const auto finished = Last("a").finished();
  EXPECT_EQ(finished.code(), ordo::training::v1::STORAGE_ERROR);
  EXPECT_THAT(finished.message(), HasSubstr("write checkpoint 20-1"));
  // What to do is added once, by who judges the end.
  EXPECT_THAT(finished.message(), Not(HasSubstr("free space")));
}

TEST_F(TrainTest, StopsDuringAnEvaluationWithTheCheckpointWritten) {
  TrainSpec spec = TinySpec("rope");
  // Twenty steps ask once each; the evaluation asks before each batch.
  polls_until_stop_ = 21;
  EXPECT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::STOPPED));
  EXPECT_EQ(CheckpointsTold("a").back(), "20-1");
  polls_until_stop_ = 1 << 30;
  ResumeFrom("a", "20-1", &spec);
  spec.set_attempt(2);
  EXPECT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(CheckpointsTold("a", 2), IsEmpty());
  EXPECT_THAT(ReportsTold("a", 2), ElementsAre("addition_grid-20 of 20-1"));
  EXPECT_THAT(real_.List(temporary_.Path("a/results")),
              IsOkAndHolds(ElementsAre("addition_grid-20-2")));
}

TEST_F(TrainTest, AnEvaluationThatWasStoppedGoesOnWhereItWas) {
  constexpr int kMost = 1 << 30;
  TrainSpec spec = TinySpec("rope");
  ORDO_ASSERT_OK(Run(spec, "whole"));
  // Twenty steps ask once each.
  const int in_evaluation = kMost - polls_until_stop_ - 20;
  polls_until_stop_ = 20 + in_evaluation / 2;
  EXPECT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::STOPPED));
  const auto answers = [this](const std::string& attempt) {
    return temporary_.Path("a/attempts/" + attempt +
                           "/addition_grid-20.answers");
  };
  EXPECT_TRUE(base::Exists(real_, answers("1")));
  std::string manifest;
  for (const auto& record : Records("a")) {
    if (!record.has_checkpoint()) continue;
    manifest = record.checkpoint().manifest_sha256();
  }
  polls_until_stop_ = kMost;
  ResumeFrom("a", "20-1", &spec);
  spec.mutable_resume(0)->set_manifest_sha256(manifest);
  spec.set_attempt(2);
  EXPECT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_LT(kMost - polls_until_stop_, in_evaluation);
  // It is known by its checkpoint, though that is of an earlier attempt.
  for (const auto& record : Records("a", 2)) {
    if (!record.has_report()) continue;
    EXPECT_EQ(record.report().key().manifest_sha256(), manifest);
  }
  EXPECT_EQ(Text("a/results/addition_grid-20-2/items.jsonl"),
            Text("whole/results/addition_grid-20-1/items.jsonl"));
  EXPECT_FALSE(base::Exists(real_, answers("1")));
  EXPECT_FALSE(base::Exists(real_, answers("2")));
}

// Else a trainer that dies then would have to train again for it.
TEST_F(TrainTest, TellsOfTheCheckpointWhileItEvaluates) {
  int asked = 0;
  bool told = false;
  ORDO_ASSERT_OK(RunOn(clock_, TinySpec("rope"), [&] {
    // Twenty steps ask once each, then the evaluation does, often.
    if (++asked <= 20 || told) return;
    const absl::Duration end = clock_.Monotonic() + absl::Milliseconds(100);
    while (clock_.Monotonic() < end) std::this_thread::yield();
    told = CheckpointsTold("a").back() == "20-1";
  }));
  EXPECT_TRUE(told);
}

TEST_F(TrainTest, EvaluatesEveryKStepsWithACheckpointOfThatStep) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_evaluations(0)->clear_at();
  spec.mutable_evaluations(0)->set_every_steps(8);
  spec.add_finished_reports("addition_grid-8");
  ORDO_ASSERT_OK(Run(spec, "a"));
  EXPECT_THAT(ReportsTold("a"), ElementsAre("addition_grid-16 of 16-1",
                                            "addition_grid-20 of 20-1"));
}

TEST_F(TrainTest, LeavesAReportOutWhoseCheckpointCannotBeWritten) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_evaluations(0)->clear_at();
  spec.mutable_evaluations(0)->set_every_steps(8);
  files_.Fail(FileOperation::kAppend, ".tmp-8-1", ENOSPC);
  EXPECT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::FINISHED));
  bool warned = false;
  for (const auto& record : Records("a")) {
    warned = warned || (record.has_warning() &&
                        record.warning().message().find("addition_grid-8") !=
                            std::string::npos);
    if (record.has_report()) {
      EXPECT_NE(record.report().step(), 8);
    }
  }
  EXPECT_TRUE(warned);
}

TEST_F(TrainTest, EndsWhenItsFolderVanishes) {
  TrainSpec spec = TinySpec("rope");
  TrainerContext context(files_, clock_);
  context.job_folder = temporary_.Path("a");
  int polls = 0;
  context.stop_requested = [&] {
    if (++polls == 3) {
      ORDO_EXPECT_OK(real_.RemoveTree(temporary_.Path("a")));
    }
    return false;
  };
  const auto progress =
      Progress::Open(files_, clock_, AttemptFolder(context, 1));
  const auto code = Train(context, spec, progress->get());
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::DATA_MISSING);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("the folder " + temporary_.Path("a/attempts/1") +
                        " vanished while the trainer was writing to it"));
}

// Twenty lines of text under the data folder of the storage root.
void WriteTwentyLines(base::Filesystem& files, const std::string& root) {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&lines, "line ", 10 + i, " of twenty\n");
  }
  ORDO_EXPECT_OK(files.MakeFolders(root + "/data"));
  ORDO_EXPECT_OK(base::AtomicWrite(files, root + "/data/twenty.txt", lines));
}

TrainSpec TextSpec() {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_data()->set_task("text");
  auto& params = *spec.mutable_data()->mutable_params();
  params.clear();
  params["data"].mutable_list_value()->add_values()->set_string_value(
      "twenty.txt");
  params["format"].set_string_value("lines");
  params["length"].set_number_value(16);
  params["held_out"].set_number_value(0.5);
  params["separate_documents"].set_bool_value(true);
  spec.mutable_model()->set_vocabulary_size(260);
  spec.mutable_evaluations(0)->set_task("text");
  spec.mutable_evaluations(0)->set_name("text");
  spec.mutable_evaluations(0)->mutable_params()->clear();
  return spec;
}

TEST_F(TrainTest, TrainsOnTextAndMeasuresItsPerplexity) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  EXPECT_THAT(Run(TextSpec(), "a"), IsOkAndHolds(ordo::training::v1::FINISHED))
      << Last("a").finished().message();
  const auto records = Records("a");
  const auto report =
      std::find_if(records.begin(), records.end(),
                   [](const auto& record) { return record.has_report(); });
  ASSERT_NE(report, records.end());
  const auto& metrics = report->report().metrics();
  // A model that knows nothing has 260.
  EXPECT_LT(metrics.at("perplexity_16"), 260);
  EXPECT_GT(metrics.at("perplexity_16"), 1);
  EXPECT_EQ(metrics.at("perplexity"), metrics.at("perplexity_16"));
  EXPECT_EQ(metrics.count("perplexity_32"), 1);
  EXPECT_EQ(metrics.count("bits_per_byte_64"), 1);
}

TEST_F(TrainTest, ATextRunThatWasStoppedGoesOnBitForBit) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  TrainSpec spec = TextSpec();
  ASSERT_THAT(Run(spec, "whole"), IsOkAndHolds(ordo::training::v1::FINISHED));
  // The tokens are there: none is spent on reading.
  polls_until_stop_ = 10;
  ASSERT_THAT(Run(spec, "parts"), IsOkAndHolds(ordo::training::v1::STOPPED));
  polls_until_stop_ = 1 << 30;
  const std::string id = Checkpoints("parts").back();
  spec.add_resume()->set_path(temporary_.Path("parts/checkpoints/" + id));
  spec.set_attempt(2);
  ASSERT_THAT(Run(spec, "parts"), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_EQ(Last("parts", 2).finished().state_digest(),
            Last("whole").finished().state_digest());
}

TEST_F(TrainTest, DataThatIsNotThereIsNotTriedAgain) {
  storage_root_ = temporary_.Path("root");
  const auto code = Run(TextSpec(), "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::DATA_MISSING);
  EXPECT_THAT(std::string(code.status().message()),
              AllOf(HasSubstr("data.params.data[0]"),
                    HasSubstr("root/data/twenty.txt")));
}

// Twenty questions with two choices are the file of an evaluation at the end.
TrainSpec AskedSpec() {
  TrainSpec spec = TextSpec();
  auto& evaluation = *spec.mutable_evaluations(0);
  evaluation.set_task("questions");
  evaluation.set_name("questions");
  (*evaluation.mutable_params())["path"].set_string_value("twenty.jsonl");
  (*evaluation.mutable_params())["max_tokens"].set_number_value(64);
  return spec;
}

// That file, where WriteTwentyLines has made the folder.
void WriteTwentyQuestions(base::Filesystem& files, const std::string& root) {
  std::string lines =
      "{\"prompt\": \"line {id} of\", \"choices\": [\"twenty\", \"a\"], "
      "\"answer\": \"twenty\", \"metric\": \"acc\"}\n";
  for (int i = 0; i < 20; ++i) absl::StrAppend(&lines, "{\"id\": ", i, "}\n");
  ORDO_EXPECT_OK(base::AtomicWrite(files, root + "/data/twenty.jsonl", lines));
}

TEST_F(TrainTest, AsksQuestionsOfAFileAtTheEnd) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  WriteTwentyQuestions(real_, storage_root_);
  EXPECT_THAT(Run(AskedSpec(), "a"), IsOkAndHolds(ordo::training::v1::FINISHED))
      << Last("a").finished().message();
  const auto records = Records("a");
  const auto report =
      std::find_if(records.begin(), records.end(),
                   [](const auto& record) { return record.has_report(); });
  ASSERT_NE(report, records.end());
  const auto& metrics = report->report().metrics();
  // Seven bytes against two.
  EXPECT_EQ(metrics.at("acc"), 0);
  EXPECT_EQ(metrics.count("acc_norm"), 1);
}

TEST_F(TrainTest, AFileOfQuestionsIsReadOnceHoweverOftenTheseAreAsked) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  WriteTwentyQuestions(real_, storage_root_);
  int num_opened = 0;
  files_.Delay(FileOperation::kOpenForRead, "twenty.jsonl",
               [&] { ++num_opened; });
  TrainSpec spec = AskedSpec();
  ASSERT_THAT(Run(spec, "a"), IsOkAndHolds(ordo::training::v1::FINISHED));
  const int asked_once = std::exchange(num_opened, 0);
  EXPECT_GT(asked_once, 0);
  spec.mutable_evaluations(0)->clear_at();
  spec.mutable_evaluations(0)->set_every_steps(8);
  ASSERT_THAT(Run(spec, "b"), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_EQ(ReportsTold("b").size(), 3u);
  EXPECT_EQ(num_opened, asked_once);
}

TEST_F(TrainTest, QuestionsThatAreNotThereAreToldBeforeTheTraining) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  const auto code = Run(AskedSpec(), "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::DATA_MISSING);
  EXPECT_THAT(std::string(code.status().message()),
              AllOf(HasSubstr("evaluations[0].params.path: "),
                    HasSubstr("root/data/twenty.jsonl"),
                    HasSubstr("each line of which is")));
  EXPECT_EQ(Last("a").finished().step(), 0);
}

TEST_F(TrainTest, AnEvaluationOfMoreTokensThanTheModelEndsItBeforeTheTraining) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  WriteTwentyQuestions(real_, storage_root_);
  // Trained on the 19 tokens of addition.
  TrainSpec spec = TinySpec("rope");
  *spec.mutable_evaluations(0) = AskedSpec().evaluations(0);
  (*spec.mutable_evaluations(0)->mutable_params())["tokenizer"]
      .set_string_value("bytes");
  const auto code = Run(spec, "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("evaluations[0]: the model has 19 tokens, the "
                        "evaluation needs 260"));
  EXPECT_EQ(Last("a").finished().step(), 0);
}

TEST_F(TrainTest, AnEvaluationInATokenizerOfAnotherSizeIsRefused) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  const auto write = [this](const std::string& name,
                            const std::vector<std::string>& merges) {
    ORDO_EXPECT_OK(base::AtomicWrite(real_, storage_root_ + "/data/" + name,
                                     BpeJson(merges).dump()));
  };
  write("trained.json", {"l i", "n e"});
  write("alike.json", {"l i", "n e"});
  write("other.json", {"l i"});
  TrainSpec spec = TextSpec();
  (*spec.mutable_data()->mutable_params())["tokenizer"].set_string_value(
      "trained.json");
  (*spec.mutable_data()->mutable_params())["separate_documents"].set_bool_value(
      false);
  const auto score_with = [&spec](const char* tokenizer) {
    (*spec.mutable_evaluations(0)->mutable_params())["tokenizer"]
        .set_string_value(tokenizer);
  };
  score_with("other.json");
  const auto code = Run(spec, "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::BAD_SPEC);
  EXPECT_EQ(std::string(code.status().message()),
            "evaluations[0].params.tokenizer: other.json has 258 tokens, and "
            "trained.json, with which the model is trained, 259: ids do not "
            "mean the same; leave it out, which takes that of the training");
  EXPECT_EQ(Last("a").finished().step(), 0);
  score_with("alike.json");
  EXPECT_THAT(Run(spec, "b"), IsOkAndHolds(ordo::training::v1::FINISHED))
      << Last("b").finished().message();
}

TEST_F(TrainTest, ATokenizerThatIsLargerThanTheModelIsRefused) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  TrainSpec spec = TextSpec();
  spec.mutable_model()->set_vocabulary_size(100);
  const auto code = Run(spec, "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("model.vocabulary_size: the tokenizer of the data has "
                        "260 tokens, is 100"));
}

TEST_F(TrainTest, AStopWhileDataIsReadIsAStop) {
  storage_root_ = temporary_.Path("root");
  WriteTwentyLines(real_, storage_root_);
  polls_until_stop_ = 3;
  EXPECT_THAT(Run(TextSpec(), "a"), IsOkAndHolds(ordo::training::v1::STOPPED));
}

TEST_F(TrainTest, TellsWhyItFailedOnANonFiniteLoss) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_learning_rate(10);
  spec.mutable_training()->set_schedule("constant");
  spec.mutable_training()->set_warmup_fraction(0);
  spec.mutable_training()->set_clip_norm(0);
  spec.mutable_training()->set_steps(2000);
  spec.mutable_training()->set_weight_decay(10);
  spec.mutable_training()->set_beta2(0);
  spec.mutable_checkpoint()->set_every_steps(1'000'000);
  const auto code = Run(spec, "a");
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::NON_FINITE);
  EXPECT_THAT(Last("a").finished().message(),
              HasSubstr("lower training.learning_rate"));
}

// The checkpoint of step 10 waits for that of step 5.
TEST_F(TrainTest, AStepTakesNoLongerForTheWaitForACheckpoint) {
  TrainSpec spec = TinySpec("rope");
  spec.clear_evaluations();
  base::testing::FakeClock clock;
  files_.Delay(FileOperation::kRename, "checkpoints/5-1", [this, &clock] {
    const absl::Duration end = clock_.Monotonic() + absl::FromChrono(kPatience);
    const auto told = [&](const auto& is) {
      const auto records = Records("a");
      return clock_.Monotonic() >= end ||
             std::any_of(records.begin(), records.end(), is);
    };
    const auto is_step_10 = [](const ProgressRecord& record) {
      return record.has_step() && record.step().step() == 10;
    };
    const auto waits = [](const ProgressRecord& record) {
      return record.has_waiting();
    };
    while (!told(is_step_10)) std::this_thread::yield();
    // Little by little, so as not to come to kLongestWrite between two looks.
    while (!told(waits)) clock.Advance(absl::Milliseconds(10));
  });
  // A step takes a second.
  EXPECT_THAT(RunOn(clock, spec, [&] { clock.Advance(absl::Seconds(1)); }),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  int num_waiting = 0;
  for (const ProgressRecord& record : Records("a")) {
    num_waiting += record.has_waiting() ? 1 : 0;
    if (record.has_step()) {
      EXPECT_EQ(record.step().step_seconds(), 1) << record.step().step();
    }
  }
  EXPECT_GT(num_waiting, 0);
}

TEST_F(TrainTest, AStorageThatHoldsUpACheckpointEndsTheProcessInTheEnd) {
  base::testing::FakeClock clock;
  std::promise<void> go;
  files_.Delay(FileOperation::kRename, "checkpoints/5-1",
               [&clock, gate = go.get_future().share()] {
                 clock.Advance(Checkpoints::kLongestWrite);
                 gate.wait_for(kPatience);
               });
  std::vector<ExitCode> left;
  TrainerContext context(files_, clock);
  context.job_folder = temporary_.Path("a");
  context.leave = [&](ExitCode code) {
    left.push_back(code);
    // What would have held up this thread for ever ends.
    go.set_value();
  };
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto progress,
      Progress::Open(files_, clock, AttemptFolder(context, 1)));
  const auto code = Train(context, TinySpec("none"), progress.get());
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::STORAGE_ERROR);
  EXPECT_THAT(left, ElementsAre(ordo::training::v1::STORAGE_ERROR));
  EXPECT_EQ(Last("a").finished().code(), ordo::training::v1::STORAGE_ERROR);
  EXPECT_THAT(Last("a").finished().message(),
              HasSubstr("has not taken the checkpoint of step 5"));
}

}  // namespace
}  // namespace ordo::worker::trainer
