#include "scheduler/core/results.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/result_key.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/task.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using base::testing::StatusIs;
using ::testing::_;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using testing::JobBuilder;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testing::WorkerBuilder;

// A training job "t" has left the checkpoint 9-1; the worker has two devices.
class ResultsTest : public CoreTest {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK(shell_.Announce(Worker()));
    shell_.Ignore();
    Submit(JobBuilder("t"));
    Observe(AttemptBuilder("t", 1).Running().Checkpoint(1, 9).Exited(0));
  }

  static WorkerBuilder Worker() {
    return WorkerBuilder("w").Devices({"cpu:0", "cpu:1"});
  }

  // Asks one question of the checkpoint, of this seed.
  static NewJob Asks(const std::string& name, uint64_t seed = 1) {
    NewJob job = JobBuilder(name).Evaluates({"jobs/t"});
    training::v1::Evaluation& evaluation = *job.OwnSpec().add_evaluations();
    evaluation.set_task("addition_grid");
    evaluation.set_name("grid");
    evaluation.set_seed(seed);
    return job;
  }
  static NewJob AsksAgain(const std::string& name) {
    NewJob job = Asks(name);
    job.OwnSpec().set_again(true);
    return job;
  }

  training::v1::ResultKey KeyOf(const std::string& job) {
    const SpecPtr spec = *Entry(job).job->facts->spec->Get();
    auto key = model::catalog::QuestionOf(
        {"sha-9-1", spec->evaluations(0), nullptr, ""});
    key.set_task_version(2);
    key.set_precision("fp32");
    return key;
  }

  // What a trainer reports that has evaluated, or taken over.
  ObservedAttempt Answered(const std::string& job, int attempt = 1,
                           const std::string& taken_from = "") {
    ObservedAttempt observed =
        AttemptBuilder(job, attempt).Running().Report(1, "grid-9").Exited(0);
    training::v1::ReportWritten& report =
        *observed.mutable_records(0)->mutable_report();
    *report.mutable_key() = KeyOf(job);
    report.set_taken_from(taken_from);
    return observed;
  }

  const JobEntry& Entry(const std::string& job) {
    return shell_.state().jobs.at(job);
  }
  training::v1::EvaluateSpec TaskOf(const std::string& job) {
    training::v1::EvaluateSpec task;
    ORDO_EXPECT_OK(SetEvaluateTask(shell_.state(), Entry(job), &task));
    return task;
  }
  const reports::v1::Report& ReportOf(const std::string& job) {
    return *Entry(job).reports.at("grid-9");
  }
};

TEST_F(ResultsTest, WhatWasAnsweredIsToldToWhoAsksTheSame) {
  Submit(Asks("a"));
  EXPECT_EQ(TaskOf("a").known_results_size(), 0);
  Observe(Answered("a"));
  EXPECT_EQ(shell_.StateOf("a"), jobs::v1::Job::SUCCEEDED);
  Submit(Asks("b"));
  const training::v1::EvaluateSpec task = TaskOf("b");
  ASSERT_EQ(task.known_results_size(), 1);
  EXPECT_EQ(task.known_results(0).key(), model::catalog::KeyDigest(KeyOf("a")));
  EXPECT_EQ(task.known_results(0).report(), "jobs/a/reports/grid-9");
  EXPECT_EQ(task.known_results(0).path(), "jobs/a/results/grid-9-1");
  EXPECT_EQ(ReportOf("a").key(), model::catalog::KeyDigest(KeyOf("a")));
}

TEST_F(ResultsTest, AnotherQuestionIsToldNothing) {
  Submit(Asks("a"));
  Observe(Answered("a"));
  Submit(Asks("b", /*seed=*/2));
  EXPECT_EQ(TaskOf("b").known_results_size(), 0);
}

TEST_F(ResultsTest, WhoEvaluatesAgainIsToldNothingAndIsTheNewest) {
  Submit(Asks("a"));
  Observe(Answered("a"));
  Submit(AsksAgain("b"));
  EXPECT_EQ(TaskOf("b").known_results_size(), 0);
  Observe(Answered("b"));
  Submit(Asks("c"));
  ASSERT_EQ(TaskOf("c").known_results_size(), 1);
  EXPECT_EQ(TaskOf("c").known_results(0).report(), "jobs/b/reports/grid-9");
}

TEST_F(ResultsTest, AReportSaysWhoseResultItIsAndThatStaysKnown) {
  Submit(Asks("a"));
  Observe(Answered("a"));
  Submit(Asks("b"));
  Observe(Answered("b", 1, "jobs/a/reports/grid-9"));
  EXPECT_EQ(ReportOf("b").taken_from(), "jobs/a/reports/grid-9");
  EXPECT_EQ(ReportOf("a").taken_from(), "");
  Submit(Asks("c"));
  EXPECT_EQ(TaskOf("c").known_results(0).report(), "jobs/a/reports/grid-9");
}

TEST_F(ResultsTest, AGateIsToldWhatIsKnownOfWhatItCompares) {
  Submit(Asks("a"));
  Observe(Answered("a"));
  const auto gates = [](const std::string& name) {
    NewJob job = JobBuilder(name).Gates("jobs/t", "jobs/t");
    *job.OwnSpec().mutable_evaluations() = Asks("x").spec->evaluations();
    return job;
  };
  const auto known = [this](const std::string& job) {
    training::v1::GateSpec task;
    ORDO_EXPECT_OK(SetGateTask(shell_.state(), Entry(job), &task));
    return task.known_results_size();
  };
  Submit(gates("g"));
  EXPECT_EQ(known("g"), 1);
  // One that asks slices of it is told nothing, and keeps nobody waiting.
  NewJob grows = gates("h");
  grows.OwnSpec().mutable_gate()->set_max_items(500);
  Submit(grows);
  EXPECT_EQ(known("h"), 0);
}

TEST_F(ResultsTest, WhoAsksWhatAGateAnswersWaitsForItAndTakesItsResult) {
  NewJob gate = JobBuilder("g").Gates("jobs/t", "jobs/t");
  *gate.OwnSpec().mutable_evaluations() = Asks("x").spec->evaluations();
  Submit(gate);
  Submit(Asks("b"));
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("g"), jobs::v1::Job::STARTING);
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::QUEUED);
  ObservedAttempt observed =
      AttemptBuilder("g", 1).Running().Report(1, "grid-candidate");
  *observed.mutable_records(0)->mutable_report()->mutable_key() = KeyOf("g");
  Observe(observed);
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
  ASSERT_EQ(TaskOf("b").known_results_size(), 1);
  EXPECT_EQ(TaskOf("b").known_results(0).report(),
            "jobs/g/reports/grid-candidate");
}

TEST_F(ResultsTest, OfTwoWhoAskTheSameTheSecondWaitsForTheFirst) {
  Submit(Asks("a"));
  Submit(Asks("b"));
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), jobs::v1::Job::STARTING);
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kWaitingForResult);
  const auto placing = PlacingOf(shell_.state(), "b", shell_.now());
  ASSERT_TRUE(placing.has_value());
  EXPECT_EQ(placing->awaits, "a");
  const std::vector<workers::v1::Worker> workers;
  const jobs::v1::ExplainResponse explained =
      Explain({shell_.job("b"), workers, shell_.now().wall, {}, placing});
  EXPECT_EQ(explained.blockers(0).reason(), reason::kWaitingForResult);
  EXPECT_THAT(explained.summary(),
              HasSubstr("job a evaluates what it asks for too"));
  shell_.Observe("w", {Answered("a")});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
  EXPECT_EQ(TaskOf("b").known_results_size(), 1);
}

TEST_F(ResultsTest, AQuestionIsAwaitedUntilItsOwnReport) {
  NewJob both = Asks("a");
  jobs::v1::JobSpec& spec = both.OwnSpec();
  training::v1::Evaluation& other = *spec.add_evaluations();
  other = spec.evaluations(0);
  other.set_name("other");
  other.set_seed(2);
  Submit(both);
  Submit(Asks("b", 1));
  Submit(Asks("c", 2));
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kWaitingForResult);
  EXPECT_EQ(shell_.ReasonOf("c"), reason::kWaitingForResult);
  ObservedAttempt first = AttemptBuilder("a", 1).Running().Report(1, "grid-9");
  *first.mutable_records(0)->mutable_report()->mutable_key() = KeyOf("a");
  shell_.Observe("w", {first});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), jobs::v1::Job::RUNNING);
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
  EXPECT_EQ(TaskOf("b").known_results_size(), 1);
  EXPECT_EQ(shell_.ReasonOf("c"), reason::kWaitingForResult);
  // After a restart too it is known what is answered and what is not; "b"
  // answers what it has yet to find to be the same.
  shell_.Restart();
  shell_.Ignore();
  EXPECT_THAT(shell_.state().answering,
              UnorderedElementsAre(Pair(_, "a"), Pair(_, "b")));
}

TEST_F(ResultsTest, TwoOfOneCallAreOneAfterTheOther) {
  ORDO_ASSERT_OK(shell_.Submit({Asks("a"), Asks("b"), Asks("c", 2)}));
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kWaitingForResult);
  // The device that it left is the next one's.
  EXPECT_EQ(shell_.StateOf("c"), jobs::v1::Job::STARTING);
}

TEST_F(ResultsTest, WhoEvaluatesAgainWaitsForNobody) {
  Submit(Asks("a"));
  Submit(AsksAgain("b"));
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
}

TEST_F(ResultsTest, WhereTheFirstFailsTheSecondEvaluates) {
  Submit(Asks("a"));
  Submit(Asks("b"));
  Observe(AttemptBuilder("a", 1).Running().Exited(training::v1::BAD_SPEC));
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), jobs::v1::Job::FAILED);
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
  EXPECT_EQ(TaskOf("b").known_results_size(), 0);
}

TEST_F(ResultsTest, ACancelledOneIsAwaitedUntilItHasEnded) {
  Submit(Asks("a"));
  Submit(Asks("b"));
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kWaitingForResult);
  Observe(AttemptBuilder("a", 1).Running().Ended(ObservedAttempt::KILLED, 9));
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
}

TEST_F(ResultsTest, WhoWaitsCanBeCancelledAndHeld) {
  Submit(Asks("a"));
  Submit(Asks("b"));
  Submit(Asks("c"));
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::CANCELLED);
  ORDO_ASSERT_OK(shell_.HoldJob("c"));
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("c"), reason::kHeld);
  Observe(Answered("a"));
  EXPECT_EQ(shell_.ReasonOf("c"), reason::kHeld);
  ORDO_ASSERT_OK(shell_.ReleaseJob("c"));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("c"), jobs::v1::Job::STARTING);
}

TEST_F(ResultsTest, ARestartInBetweenChangesNothing) {
  Submit(Asks("a"));
  Submit(Asks("b"));
  shell_.Restart();
  ORDO_ASSERT_OK(
      shell_.Announce(Worker().Runs(AttemptBuilder("a", 1).Running())));
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kWaitingForResult);
  shell_.Observe("w", {Answered("a")});
  shell_.Ignore();
  shell_.Restart();
  EXPECT_EQ(TaskOf("b").known_results(0).report(), "jobs/a/reports/grid-9");
  shell_.Ignore();
}

TEST_F(ResultsTest, AResultOutlivesTheStateOfItsJob) {
  Submit(Asks("a"));
  Observe(Answered("a"));
  shell_.Forget({"a"});
  Submit(Asks("b"));
  EXPECT_EQ(TaskOf("b").known_results_size(), 1);
}

TEST_F(ResultsTest, ARowThatSaysNothingIsRefused) {
  State state;
  for (const auto& bytes :
       {std::optional<std::string>(), std::optional<std::string>("\xff"),
        std::optional<std::string>("")}) {
    EXPECT_THAT(TakeResultRow(Row{Row::Kind::kResult, "key", bytes}, &state),
                StatusIs(absl::StatusCode::kDataLoss, _));
  }
}

TEST_F(ResultsTest, ATaskIsToldOfAsMuchAsThereIsRoomFor) {
  State state;
  std::vector<std::string> questions;
  for (size_t i = 0; i < kMaxKnownBytes / 100; ++i) {
    training::v1::KnownResult result;
    result.set_question(absl::StrCat("question ", i));
    result.set_key(absl::StrCat("key ", i));
    result.set_report(std::string(100, 'r'));
    questions.push_back(result.question());
    ORDO_ASSERT_OK(TakeResultRow(
        Row{Row::Kind::kResult, result.key(), result.SerializeAsString()},
        &state));
  }
  training::v1::EvaluateSpec task;
  const int32_t num_left_out =
      AddKnownResults(state, questions, task.mutable_known_results());
  EXPECT_GT(task.known_results_size(), 0);
  EXPECT_GT(num_left_out, 0);
  EXPECT_EQ(task.known_results_size() + num_left_out,
            static_cast<int>(questions.size()));
  EXPECT_LE(task.ByteSizeLong(), kMaxKnownBytes * 11 / 10);
}

}  // namespace
}  // namespace ordo::scheduler::core
