#include "scheduler/core/cancel.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using testing::JobBuilder;

// One device: jobs run one after the other.
class CancelTest : public CoreTest {
 protected:
  void SetUp() override { StartWorker(); }
  void Submit(const std::vector<NewJob>& jobs) {
    ORDO_ASSERT_OK(shell_.Submit(jobs));
    shell_.Ignore();
  }
  void End(const std::string& job, int exit_code) {
    Observe(AttemptBuilder(job, 1).Running().Exited(exit_code));
  }
  // Of which s-0 starts.
  void SubmitSweep() {
    Submit({JobBuilder("s-0").PartOf("s"), JobBuilder("s-1").PartOf("s"),
            JobBuilder("s-2").PartOf("s").Needs("s-1"),
            JobBuilder("s").Sweeps({"s-0", "s-1", "s-2"})});
  }
};

TEST_F(CancelTest, AParentIsCancelledWithAllOfItsPartsThatHaveNotEnded) {
  SubmitSweep();
  ORDO_ASSERT_OK_AND_ASSIGN(const Job job, shell_.CancelJob("s", "bob"));
  shell_.Ignore();
  EXPECT_EQ(job.state(), Job::CANCELLED);
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
  for (const char* part : {"s-1", "s-2"}) {
    EXPECT_EQ(shell_.StateOf(part), Job::CANCELLED);
    EXPECT_EQ(shell_.ReasonOf(part), reason::kCancelledByUser);
    EXPECT_EQ(shell_.job(part).cancelled_by(), "bob");
    EXPECT_THAT(shell_.job(part).message(), HasSubstr("with s, which"));
  }
  Observe(AttemptBuilder("s-0", 1).Ended(ObservedAttempt::KILLED));
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLED);
}

TEST_F(CancelTest, PartsThatHaveEndedStayAsTheyEnded) {
  SubmitSweep();
  End("s-0", 0);
  ORDO_ASSERT_OK(shell_.CancelJob("s"));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::SUCCEEDED);
}

TEST_F(CancelTest, APartIsCancelledAlone) {
  SubmitSweep();
  End("s-0", 0);
  ORDO_ASSERT_OK(shell_.CancelJob("s-2"));
  EXPECT_EQ(shell_.StateOf("s-1"), Job::STARTING);
  End("s-1", 0);
  EXPECT_EQ(shell_.StateOf("s"), Job::STARTING);
}

TEST_F(CancelTest, APartOfACancelledParentStaysCancelledAfterARestart) {
  SubmitSweep();
  ORDO_ASSERT_OK(shell_.CancelJob("s"));
  shell_.Ignore();
  shell_.Restart();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
  EXPECT_EQ(shell_.StateOf("s-1"), Job::CANCELLED);
}

TEST_F(CancelTest, APartThatOutlivesItsParentInTheStoreIsLoaded) {
  SubmitSweep();
  ORDO_ASSERT_OK(shell_.CancelJob("s"));
  shell_.Ignore();
  shell_.Forget({"s", "s-1", "s-2"});
  EXPECT_EQ(shell_.state().jobs.count("s"), 0u);
  shell_.Restart();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
}

TEST_F(CancelTest, AParentMayWaitForItsPartsForAsLongAsTheyTake) {
  Submit({JobBuilder("s-0").PartOf("s"), JobBuilder("s-1").PartOf("s"),
          JobBuilder("s")
              .Sweeps({"s-0", "s-1"})
              .QueueTimeLimit(absl::Seconds(5))});
  shell_.Advance(absl::Seconds(9));
  shell_.Ignore();
  End("s-0", 0);
  shell_.Restart();
  shell_.Advance(absl::Seconds(9));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("s"), Job::QUEUED);
  EXPECT_EQ(shell_.StateOf("s-1"), Job::STARTING);
}

TEST_F(CancelTest, AParentWaitsForItselfOnceItsPartsHaveEnded) {
  Submit({JobBuilder("s-0").PartOf("s"),
          JobBuilder("s").Sweeps({"s-0"}).QueueTimeLimit(absl::Seconds(5))});
  ORDO_ASSERT_OK(shell_.HoldJob("s"));
  shell_.Advance(absl::Seconds(9));
  shell_.Ignore();
  End("s-0", 0);
  EXPECT_EQ(absl::FromUnixSeconds(shell_.job("s").queue_time().seconds()),
            shell_.now().wall);
  shell_.Advance(absl::Seconds(3));
  shell_.Restart();
  shell_.Advance(absl::Seconds(1));
  EXPECT_EQ(shell_.StateOf("s"), Job::QUEUED);
  shell_.Advance(absl::Seconds(1));
  EXPECT_EQ(shell_.ReasonOf("s"), reason::kQueueTimeLimit);
  EXPECT_EQ(shell_.StateOf("s-0"), Job::SUCCEEDED);
}

TEST_F(CancelTest, AJobThatWaitsTooLongIsCancelled) {
  Submit({JobBuilder("a"), JobBuilder("b").QueueTimeLimit(absl::Seconds(5))});
  shell_.Advance(absl::Seconds(4));
  EXPECT_EQ(shell_.StateOf("b"), Job::QUEUED);
  shell_.Advance(absl::Seconds(1));
  EXPECT_EQ(shell_.StateOf("b"), Job::CANCELLED);
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kQueueTimeLimit);
}

TEST_F(CancelTest, TheTimesThatAJobWaitsAddUpAndOutliveARestart) {
  Submit({JobBuilder("a").QueueTimeLimit(absl::Milliseconds(2500))});
  End("a", 1);
  shell_.Advance(absl::Seconds(1));
  ASSERT_EQ(shell_.StateOf("a"), Job::STARTING);
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 2).Exited(1)});
  shell_.Ignore();
  shell_.Advance(absl::Seconds(1));
  ASSERT_EQ(shell_.ReasonOf("a"), reason::kBackoff);
  shell_.Restart();
  shell_.Advance(absl::Seconds(1));
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kQueueTimeLimit);
}

}  // namespace
}  // namespace ordo::scheduler::core
