#include "scheduler/core/references.h"

#include <memory>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/spec_table.h"
#include "scheduler/core/task.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using testing::AttemptBuilder;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

// Job a has checkpoints 5-1 (removed), 10-1 and 20-1; job b has none.
class ReferencesTest : public ::testing::Test {
 protected:
  ReferencesTest() {
    EXPECT_TRUE(shell_.Announce(WorkerBuilder("w")).ok());
    shell_.Ignore();
    EXPECT_TRUE(shell_.Submit(JobBuilder("a").Keep(2)).ok());
    shell_.Ignore();
    EXPECT_TRUE(shell_.Submit(JobBuilder("b")).ok());
    shell_.Observe("w", {AttemptBuilder("a", 1)
                             .Running()
                             .Checkpoint(1, 5)
                             .Checkpoint(2, 10)
                             .Checkpoint(3, 20)});
    shell_.Ignore();
  }

  TestShell shell_;
};

TEST_F(ReferencesTest, AJobStandsForItsNewestCheckpoint) {
  EXPECT_THAT(ResolveReference(shell_.state(), "jobs/a"),
              IsOkAndHolds(std::string("jobs/a/checkpoints/20-1")));
  EXPECT_THAT(ResolveReference(shell_.state(), "jobs/a/checkpoints/latest"),
              IsOkAndHolds(std::string("jobs/a/checkpoints/20-1")));
  EXPECT_THAT(ResolveReference(shell_.state(), "jobs/a/checkpoints/10-1"),
              IsOkAndHolds(std::string("jobs/a/checkpoints/10-1")));
}

TEST_F(ReferencesTest, WhatIsNotThereIsNotFoundWithTheReason) {
  const auto resolve = [this](const std::string& name) {
    return ResolveReference(shell_.state(), name);
  };
  EXPECT_THAT(resolve("jobs/x"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no job x")));
  EXPECT_THAT(resolve("jobs/b"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("ordo wait b")));
  EXPECT_THAT(resolve("jobs/a/checkpoints/5-1"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("removed")));
  for (const char* id : {"7-1", "10-2", "010-1", "x", "10-1-1", "-1-1"}) {
    EXPECT_THAT(resolve(std::string("jobs/a/checkpoints/") + id),
                StatusIs(absl::StatusCode::kNotFound))
        << id;
  }
}

TEST_F(ReferencesTest, AnotherFormIsInvalid) {
  for (const char* name : {"a", "jobs", "jobs/a/reports/x", "checkpoints/a/b/c",
                           "jobs/a/checkpoints/10-1/x", ""}) {
    EXPECT_THAT(ResolveReference(shell_.state(), name),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << name;
  }
}

TEST_F(ReferencesTest, ASpecKeepsTheFullNamesAndErrorsNameTheField) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const jobs::v1::Job job,
      shell_.Submit(JobBuilder("c").Evaluates({"jobs/a"})));
  EXPECT_EQ(job.spec().checkpoints(0), "jobs/a/checkpoints/20-1");
  EXPECT_THAT(
      shell_.Submit(JobBuilder("d").Evaluates({"jobs/a", "jobs/nobody"})),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("checkpoints[1]")));
  EXPECT_THAT(shell_.Submit(JobBuilder("d").StartFrom("jobs/nobody")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("start_from")));
}

TEST_F(ReferencesTest, AGateNamesCheckpointsAndReports) {
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Report(4, "grid-20")});
  shell_.Ignore();
  NewJob gate = JobBuilder("g").Gates("jobs/a", "jobs/a/reports/grid-20");
  gate.OwnSpec().mutable_gate()->set_anchor("jobs/a/checkpoints/latest");
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job, shell_.Submit(gate));
  EXPECT_EQ(job.spec().gate().candidate(), "jobs/a/checkpoints/20-1");
  EXPECT_EQ(job.spec().gate().baseline(), "jobs/a/reports/grid-20");
  EXPECT_EQ(job.spec().gate().anchor(), "jobs/a/checkpoints/20-1");
  EXPECT_NE(FindReport(shell_.state(), "jobs/a/reports/grid-20"), nullptr);
  EXPECT_EQ(FindReport(shell_.state(), "jobs/a/reports/grid-10"), nullptr);
}

TEST_F(ReferencesTest, WhatAGateNamesAndIsNotThereIsNotFound) {
  EXPECT_THAT(
      shell_.Submit(JobBuilder("g").Gates("jobs/a", "jobs/a/reports/x")),
      StatusIs(absl::StatusCode::kNotFound,
               HasSubstr("gate.baseline: there is no report")));
  EXPECT_THAT(
      shell_.Submit(JobBuilder("g").Gates("jobs/a", "jobs/x/reports/x")),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no job x")));
  EXPECT_THAT(shell_.Submit(JobBuilder("g").Gates("jobs/b", "jobs/a")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("gate.candidate: job b has no checkpoint")));
  EXPECT_THAT(
      shell_.Submit(JobBuilder("g").Gates("jobs/a/reports/x", "jobs/a")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("gate.candidate")));
}

TEST_F(ReferencesTest, WhatAGateNamesStaysUntilItHasEnded) {
  shell_.Observe(
      "w", {AttemptBuilder("a", 1).Running().Report(4, "grid-20").Exited(0)});
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.Submit(
      JobBuilder("c").Gates("jobs/a", "jobs/a/reports/grid-20").Held()));
  shell_.Ignore();
  shell_.Forget({"a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 1u);
  EXPECT_EQ(shell_.state().pins.count("jobs/a/reports/grid-20"), 1u);
  ORDO_ASSERT_OK(shell_.CancelJob("c"));
  shell_.Forget({"c", "a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 0u);
}

TEST_F(ReferencesTest, PinsCountTheJobsThatNeedACheckpoint) {
  State state;
  const auto facts_of = [](const std::string& id, const auto& checkpoints) {
    auto spec = std::make_shared<jobs::v1::JobSpec>();
    spec->set_name(id);
    for (const char* name : checkpoints) spec->add_checkpoints(name);
    return FactsOf(*spec, SpecTable().Keep(spec));
  };
  const JobFacts job = facts_of(
      "x", std::vector{"jobs/a/checkpoints/1-1", "jobs/a/checkpoints/2-1"});
  AddPins(state, job);
  const JobFacts other = facts_of("y", std::vector{"jobs/a/checkpoints/2-1"});
  AddPins(state, other);
  RemovePins(state, job);
  ASSERT_EQ(state.pins.size(), 1u);
  EXPECT_EQ(state.pins.begin()->first, "jobs/a/checkpoints/2-1");
  RemovePins(state, other);
  EXPECT_TRUE(state.pins.empty());
}

TEST_F(ReferencesTest, AJobThatIsNeededAndHasNotEndedIsLookedUpLater) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const jobs::v1::Job job,
      shell_.Submit(JobBuilder("c").Needs("b").StartFrom("jobs/b")));
  EXPECT_EQ(job.spec().start_from(), "jobs/b");
  // Created by the same call, in any order.
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::vector<jobs::v1::Job> jobs,
      shell_.Submit({JobBuilder("e").Needs("d").Evaluates({"jobs/d", "jobs/a"}),
                     JobBuilder("d")}));
  EXPECT_EQ(jobs[0].spec().checkpoints(0), "jobs/d");
  EXPECT_EQ(jobs[0].spec().checkpoints(1), "jobs/a/checkpoints/20-1");
}

TEST_F(ReferencesTest, AJobThatIsNotNeededOrHasEndedIsLookedUpAtOnce) {
  EXPECT_THAT(
      shell_.Submit({JobBuilder("d"), JobBuilder("c").StartFrom("jobs/d")}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("start_from")));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Exited(0)});
  shell_.Ignore();
  ORDO_ASSERT_OK_AND_ASSIGN(
      const jobs::v1::Job job,
      shell_.Submit(JobBuilder("c").Needs("a").StartFrom("jobs/a")));
  EXPECT_EQ(job.spec().start_from(), "jobs/a/checkpoints/20-1");
}

TEST_F(ReferencesTest, TheJobOfALateReferenceStaysUntilNobodyNamesIt) {
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("c").Needs("a").StartFrom("jobs/a").Held()));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Exited(0)});
  shell_.Ignore();
  shell_.Forget({"a"});
  ASSERT_EQ(shell_.state().jobs.count("a"), 1u);
  EXPECT_EQ(FindReferenced(shell_.state(), "jobs/a")->name(),
            "jobs/a/checkpoints/20-1");
  ORDO_ASSERT_OK(shell_.CancelJob("c"));
  shell_.Forget({"c", "a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 0u);
}

// Job a evaluates itself and has scored its first checkpoint, 5-1, best; b
// needs it and begins with its best.
class BestReferenceTest : public testing::CoreTest {
 protected:
  BestReferenceTest() {
    StartWorker();
    Submit(JobBuilder("a").Keep(1).EvaluatesItself("held"));
    Submit(JobBuilder("b").Needs("a").StartFrom("jobs/a/checkpoints/best"));
    Observe(AttemptBuilder("a", 1)
                .Running()
                .Checkpoint(1, 5)
                .Score(2, "held", 5, 0.75)
                .Checkpoint(3, 10)
                .Score(4, "held", 10, 0.5));
  }
};

TEST_F(BestReferenceTest, OfAJobThatIsNeededItIsLookedUpWhenTheOtherStarts) {
  EXPECT_EQ(shell_.job("b").spec().start_from(), "jobs/a/checkpoints/best");
  Observe(AttemptBuilder("a", 1)
              .Running()
              .Checkpoint(5, 20)
              .Score(6, "held", 20, 0.25)
              .Exited(0));
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
  training::v1::TrainSpec task;
  ORDO_ASSERT_OK(
      SetTrainTask(shell_.state(), shell_.state().jobs.at("b"), &task));
  EXPECT_EQ(task.start().name(), "jobs/a/checkpoints/5-1");
  EXPECT_EQ(task.start().manifest_sha256(), "sha-5-1");
}

TEST_F(BestReferenceTest, OtherwiseItIsTheBestOfNow) {
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell_.Submit(JobBuilder("c").Gates(
                                "jobs/a/checkpoints/best", "jobs/a")));
  shell_.Ignore();
  EXPECT_EQ(job.spec().gate().candidate(), "jobs/a/checkpoints/5-1");
  EXPECT_EQ(job.spec().gate().baseline(), "jobs/a/checkpoints/10-1");
  EXPECT_THAT(
      shell_.Submit(JobBuilder("d").StartFrom("jobs/b/checkpoints/best")),
      StatusIs(absl::StatusCode::kNotFound,
               HasSubstr("start_from: no checkpoint of job b that is there was "
                         "evaluated in the job itself")));
}

TEST_F(BestReferenceTest, WhatIsNeededAsTheBestIsNotDeletedAndItsJobStays) {
  Author ada;
  ada.owner.set_user("ada");
  const auto remove = [this, &ada] {
    return shell_.Change(ChangeCheckpoint{0, CheckpointVerb::kDelete,
                                          "jobs/a/checkpoints/5-1", ada});
  };
  EXPECT_THAT(remove(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("job b has not ended and needs the best of "
                                 "a")));
  ORDO_ASSERT_OK(shell_.HoldJob("b"));
  shell_.Ignore();
  Observe(AttemptBuilder("a", 1).Running().Exited(0));
  shell_.Forget({"a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 1u);
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  shell_.Ignore();
  ORDO_EXPECT_OK(remove());
  shell_.Ignore();
  shell_.Forget({"b", "a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 0u);
}

}  // namespace
}  // namespace ordo::scheduler::core
