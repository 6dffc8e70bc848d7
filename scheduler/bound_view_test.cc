#include "scheduler/bound_view.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler {
namespace {

using jobs::v1::Job;

// The job `mine` of the queue `day`, which is seen, and `secret-plan` of
// `night`.
class BoundViewTest : public ::testing::Test {
 protected:
  BoundViewTest() {
    Put("mine", "day");
    Put("secret-plan", "night");
  }

  void Put(const std::string& id, const std::string& queue) {
    Job job;
    job.set_name("jobs/" + id);
    job.set_state(Job::QUEUED);
    job.mutable_spec()->set_queue(queue);
    scheduler_.PutJob(job);
  }

  testing::FakeScheduler scheduler_;
  const BoundView view_{scheduler_, {"day"}};
};

TEST_F(BoundViewTest, SeesTheJobsOfItsQueues) {
  EXPECT_TRUE(view_.SeesJob("mine"));
  EXPECT_FALSE(view_.SeesJob("secret-plan"));
  EXPECT_FALSE(view_.SeesJob("none"));
}

TEST_F(BoundViewTest, TextsNameWhatIsSeenAndWhatTheirReaderNamed) {
  const std::string text = "mine waits for secret-plan: none (secret-plan)";
  EXPECT_EQ(view_.Masked(text), "mine waits for another: none (another)");
  EXPECT_EQ(view_.Masked(text, {"secret-plan"}), text);
}

TEST_F(BoundViewTest, WhatIsSaidOfAJobAndOfItsAttemptsAndRanksIsMasked) {
  Job job;
  job.set_message("it made room for secret-plan");
  auto& attempt = *job.add_attempts();
  attempt.set_message("ended for secret-plan");
  attempt.add_ranks()->set_message("killed for secret-plan");
  view_.HideIn(&job);
  EXPECT_EQ(job.message(), "it made room for another");
  EXPECT_EQ(job.attempts(0).message(), "ended for another");
  EXPECT_EQ(job.attempts(0).ranks(0).message(), "killed for another");
}

TEST_F(BoundViewTest, APartDoesNotNameAParentInAnotherQueue) {
  Job job;
  view_.HideIn(&job);
  EXPECT_EQ(job.parent(), "");
  job.set_parent("jobs/mine");
  view_.HideIn(&job);
  EXPECT_EQ(job.parent(), "jobs/mine");
  job.set_parent("jobs/secret-plan");
  view_.HideIn(&job);
  EXPECT_EQ(job.parent(), "jobs/another");
}

TEST_F(BoundViewTest, ThePastOfAnAliasDoesNotNameWhatItNamedElsewhere) {
  checkpoints::v1::Alias alias;
  alias.set_checkpoint("jobs/mine/checkpoints/1-1");
  auto& move = *alias.add_changes();
  move.set_action(
      "set: jobs/secret-plan/checkpoints/1-1 -> jobs/mine/checkpoints/1-1");
  move.set_reason("secret-plan is over");
  move.set_user("ada");
  auto& own = *alias.add_changes();
  own.set_action("set: none -> jobs/mine/checkpoints/1-1");
  own.set_reason("better");
  view_.HideIn(&alias);
  EXPECT_EQ(alias.changes(0).action(),
            "set: jobs/another -> jobs/mine/checkpoints/1-1");
  EXPECT_EQ(alias.changes(0).reason(), "");
  EXPECT_EQ(alias.changes(0).user(), "ada");
  EXPECT_EQ(alias.changes(1).action(),
            "set: none -> jobs/mine/checkpoints/1-1");
  EXPECT_EQ(alias.changes(1).reason(), "better");
}

TEST_F(BoundViewTest, AResultDoesNotNameTheJobThatItWasTakenFrom) {
  reports::v1::Report report;
  report.set_name("jobs/mine/reports/addition-20");
  view_.HideIn(&report);
  EXPECT_EQ(report.taken_from(), "");
  report.set_taken_from("jobs/mine/reports/addition-10");
  view_.HideIn(&report);
  EXPECT_EQ(report.taken_from(), "jobs/mine/reports/addition-10");
  report.set_taken_from("jobs/secret-plan/reports/addition-20");
  view_.HideIn(&report);
  EXPECT_EQ(report.taken_from(), "jobs/another/reports/addition-20");
}

}  // namespace
}  // namespace ordo::scheduler
