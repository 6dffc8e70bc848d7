#include "scheduler/core/pace.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::WorkerBuilder;

// A comparison c of a run r of 100 steps at the pace of `own`, while `base` is
// the baseline's. One device: they run one after the other.
class PaceTest : public CoreTest {
 protected:
  void SetUp() override { StartWorker(); }
  void SubmitAll() {
    ORDO_ASSERT_OK(shell_.Submit(
        {JobBuilder("base").PartOf("c"), JobBuilder("own").PartOf("c"),
         JobBuilder("r").PartOf("c").PacedBy("own", "base"),
         JobBuilder("c").Sweeps({"base", "own", "r"})}));
    shell_.Ignore();
  }
  void EndAfter(const std::string& job, double step_seconds) {
    Observe(AttemptBuilder(job, 1).Running().ExitedAfter(step_seconds));
  }
  // What the worker is told of the first attempt in its newest set.
  int64_t StepsTold() {
    const auto desired = shell_.TakeDesired("w");
    shell_.Ignore();
    return desired.attempts(0).train().training().steps();
  }
};

TEST_F(PaceTest, ARunHasTheStepsThatTakeTheBaselinesTime) {
  SubmitAll();
  EndAfter("base", 0.25);
  EXPECT_EQ(shell_.StateOf("r"), Job::QUEUED);
  shell_.Observe("w", {AttemptBuilder("own", 1).Running().ExitedAfter(0.5)});
  EXPECT_EQ(shell_.StateOf("r"), Job::STARTING);
  EXPECT_EQ(StepsTold(), 50);
  EXPECT_EQ(shell_.job("own").attempts(0).step_seconds(), 0.5);
}

TEST_F(PaceTest, StepsAreRoundedAndThereIsOneAtLeast) {
  SubmitAll();
  EndAfter("base", 0.1);
  EndAfter("own", 0.3);
  const State& state = shell_.state();
  EXPECT_EQ(PacedSteps(state, state.jobs.at("r").job->facts->demand()), 33);
  Demand slow = state.jobs.at("r").job->facts->demand();
  slow.num_steps = 1;
  EXPECT_EQ(PacedSteps(state, slow), 1);
}

TEST_F(PaceTest, ALaterAttemptHasAsManyAlsoAfterARestart) {
  SubmitAll();
  EndAfter("base", 0.25);
  EndAfter("own", 0.5);
  shell_.Forget({"base", "own"});
  EXPECT_EQ(shell_.state().jobs.count("own"), 1u);
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
  EXPECT_EQ(StepsTold(), 50);
}

TEST_F(PaceTest, WithoutAMeasurementTheRunFails) {
  SubmitAll();
  EndAfter("base", 0.25);
  Observe(AttemptBuilder("own", 1).Running().Exited(0));
  EXPECT_EQ(shell_.StateOf("r"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("r"), reason::kNeedFailed);
  EXPECT_THAT(shell_.job("r").message(),
              HasSubstr("how long a step takes, own, base, did not say so; see "
                        "why: ordo show own"));
}

TEST_F(PaceTest, TheDevicesOfAStepCount) {
  ORDO_ASSERT_OK(
      shell_.Announce(WorkerBuilder("v").Devices({"cpu:0", "cpu:1", "cpu:2"})));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("wide").Ranks(1, 3)));
  shell_.Ignore();
  shell_.Observe("v", {AttemptBuilder("wide", 1).Running().ExitedAfter(0.5)});
  shell_.Ignore();
  EXPECT_EQ(StepDeviceSeconds(*shell_.state().jobs.at("wide").job), 1.5);
}

TEST_F(PaceTest, APaceThatIsNotThereOrMeasuredNothingIsRefused) {
  Submit(JobBuilder("own"));
  Observe(AttemptBuilder("own", 1).Running().Exited(0));
  EXPECT_THAT(shell_.Submit(JobBuilder("r").PacedBy("own", "own")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("paced_by: the jobs that were to measure")));
  shell_.Ignore();
  EXPECT_THAT(shell_.Submit(JobBuilder("r").PacedBy("own", "nobody")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("there is no job nobody")));
  shell_.Ignore();
}

}  // namespace
}  // namespace ordo::scheduler::core
