#include "scheduler/core/requests.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using testing::JobBuilder;

class RequestsTest : public CoreTest {};

TEST_F(RequestsTest, CancelWhileQueuedEndsAtOnce) {
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell_.CancelJob("a", "bob"));
  EXPECT_EQ(job.state(), Job::CANCELLED);
  EXPECT_EQ(job.cancelled_by(), "bob");
  EXPECT_EQ(job.reason(), reason::kCancelledByUser);
}

TEST_F(RequestsTest, CancelDuringABackoffEndsAtOnce) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Exited(1));
  ASSERT_EQ(shell_.ReasonOf("a"), reason::kBackoff);
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  shell_.Advance(absl::Seconds(5));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::CANCELLED);
}

TEST_F(RequestsTest, CancelWhileStartingKillsTheAttempt) {
  StartWorker();
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job, shell_.CancelJob("a"));
  EXPECT_EQ(job.state(), Job::CANCELLING);
  const auto desired = shell_.TakeDesired("w");
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).action(), agent::v1::DesiredAttempt::KILL);
  EXPECT_EQ(desired.attempts(0).grace().seconds(), 2);
  Observe(AttemptBuilder("a", 1).Ended(ObservedAttempt::KILLED));
  EXPECT_EQ(shell_.StateOf("a"), Job::CANCELLED);
}

TEST_F(RequestsTest, ASecondCancelIsAnsweredWithTheJobAsItIs) {
  StartWorker();
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK(shell_.CancelJob("a", "ada"));
  shell_.Ignore();
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell_.CancelJob("a", "bob"));
  EXPECT_EQ(job.state(), Job::CANCELLING);
  EXPECT_EQ(job.cancelled_by(), "ada");
}

TEST_F(RequestsTest, CancelOfAnEndedOrUnknownJobIsRefused) {
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  EXPECT_THAT(
      shell_.CancelJob("a"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("CANCELLED")));
  EXPECT_THAT(shell_.CancelJob("b"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RequestsTest, AJobOnHoldDoesNotStartBeforeItIsReleased) {
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Job held, shell_.HoldJob("a", "bob"));
  EXPECT_EQ(held.reason(), reason::kHeld);
  EXPECT_EQ(held.held_by(), "bob");
  StartWorker();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  ORDO_ASSERT_OK(shell_.ReleaseJob("a"));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell_.job("a").held_by(), "");
}

TEST_F(RequestsTest, AJobMayBeCreatedOnHold) {
  StartWorker();
  Submit(JobBuilder("a").Held());
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kHeld);
  EXPECT_EQ(shell_.job("a").held_by(), "ada");
}

TEST_F(RequestsTest, AHoldOutlivesABackoffAndARestart) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Exited(1));
  ORDO_ASSERT_OK(shell_.HoldJob("a"));
  shell_.Advance(absl::Seconds(5));
  shell_.Restart();
  StartWorker();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kHeld);
  ORDO_ASSERT_OK(shell_.ReleaseJob("a"));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(RequestsTest, HoldingTwiceAndReleasingTwiceChangeNothing) {
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Job once, shell_.HoldJob("a", "ada"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Job twice, shell_.HoldJob("a", "bob"));
  EXPECT_EQ(twice.version(), once.version());
  EXPECT_EQ(twice.held_by(), "ada");
  ORDO_ASSERT_OK_AND_ASSIGN(const Job released, shell_.ReleaseJob("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Job again, shell_.ReleaseJob("a"));
  EXPECT_EQ(again.version(), released.version());
  EXPECT_EQ(again.reason(), reason::kWaitingForDevice);
}

TEST_F(RequestsTest, ThePriorityOfAQueuedJobChanges) {
  Submit(JobBuilder("a").Priority(3));
  EXPECT_EQ(shell_.job("a").priority(), 3);
  EXPECT_EQ(shell_.job("a").priority_set_by(), "");
  ORDO_ASSERT_OK_AND_ASSIGN(const Job job, shell_.ChangePriority("a", -7));
  EXPECT_EQ(job.priority(), -7);
  EXPECT_EQ(job.priority_set_by(), "ada");
  EXPECT_EQ(job.spec().priority(), 3);
  ORDO_ASSERT_OK_AND_ASSIGN(const Job same, shell_.ChangePriority("a", -7));
  EXPECT_EQ(same.version(), job.version());
  shell_.Restart();
  EXPECT_EQ(shell_.job("a").priority(), -7);
  EXPECT_EQ(shell_.job("a").priority_set_by(), "ada");
}

TEST_F(RequestsTest, OnlyAQueuedJobIsHeldReleasedOrMoved) {
  StartWorker();
  Submit(JobBuilder("a"));
  const auto refused =
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("STARTING"));
  EXPECT_THAT(shell_.HoldJob("a"), refused);
  EXPECT_THAT(shell_.ReleaseJob("a"), refused);
  EXPECT_THAT(shell_.ChangePriority("a", 1), refused);
  EXPECT_THAT(shell_.HoldJob("x"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RequestsTest, HoldAndReleaseOfAParentReachItsQueuedParts) {
  StartWorker();
  ORDO_ASSERT_OK(shell_.Submit(
      {JobBuilder("s-0").PartOf("s"), JobBuilder("s-1").PartOf("s"),
       JobBuilder("s").Sweeps({"s-0", "s-1"}), JobBuilder("other")}));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.HoldJob("s", "bob"));
  EXPECT_EQ(shell_.StateOf("s-0"), Job::STARTING);
  EXPECT_EQ(shell_.ReasonOf("s"), reason::kHeld);
  EXPECT_EQ(shell_.job("s-1").held_by(), "bob");
  EXPECT_EQ(shell_.ReasonOf("other"), reason::kWaitingForDevice);
  ORDO_ASSERT_OK(shell_.ReleaseJob("s"));
  EXPECT_EQ(shell_.ReasonOf("s"), reason::kWaitingForNeeds);
  EXPECT_EQ(shell_.ReasonOf("s-1"), reason::kWaitingForDevice);
  ORDO_ASSERT_OK(shell_.HoldJob("s-1"));
  EXPECT_EQ(shell_.job("s").held_by(), "");
}

TEST_F(RequestsTest, PriorityOfAParentIsThatOfItsQueuedParts) {
  StartWorker();
  ORDO_ASSERT_OK(shell_.Submit({JobBuilder("s-0").PartOf("s"),
                                JobBuilder("s-1").PartOf("s"),
                                JobBuilder("s").Sweeps({"s-0", "s-1"})}));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.ChangePriority("s", 7));
  EXPECT_EQ(shell_.job("s").priority(), 7);
  EXPECT_EQ(shell_.job("s-0").priority(), 0);
  EXPECT_EQ(shell_.job("s-1").priority(), 7);
}

}  // namespace
}  // namespace ordo::scheduler::core
