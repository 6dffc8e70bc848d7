#include "scheduler/core/admin.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::DesiredAttempt;
using base::testing::StatusIs;
using jobs::v1::Job;
using queues::v1::Queue;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::WorkerBuilder;
using workers::v1::Worker;

class AdminTest : public CoreTest {
 protected:
  static Author Ada() {
    Author author;
    author.owner.set_user("ada");
    author.reason = "because";
    return author;
  }

  absl::StatusOr<Queue> Change(ChangeQueue::Verb verb, const std::string& id,
                               int max_queued_jobs,
                               const std::string& etag = "") {
    ChangeQueue change;
    change.verb = verb;
    change.queue.set_name("queues/" + id);
    change.queue.set_max_queued_jobs(max_queued_jobs);
    change.queue.set_etag(etag);
    change.author = Ada();
    return shell_.Change(change);
  }

  absl::StatusOr<Worker> Change(
      ChangeWorker::Verb verb, const std::string& worker = "w",
      absl::Duration drain_in = absl::ZeroDuration()) {
    ChangeWorker change;
    change.verb = verb;
    change.worker = worker;
    change.drain_at = shell_.now().wall + drain_in;
    change.author = Ada();
    return shell_.Change(change);
  }

  NewJob JobIn(const std::string& queue, const std::string& id) {
    NewJob job = JobBuilder(id);
    job.OwnSpec().set_queue(queue);
    return job;
  }
  // A job that runs on the worker.
  void StartJob() {
    StartWorker();
    ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
    shell_.Ignore();
    shell_.Observe("w", {AttemptBuilder("a", 1).Running()});
    shell_.Ignore();
    ASSERT_EQ(shell_.StateOf("a"), Job::RUNNING);
  }
  bool IsAskedToStop() {
    if (!shell_.HasDesired("w")) return false;
    const auto desired = shell_.TakeDesired("w");
    return desired.attempts_size() == 1 &&
           desired.attempts(0).action() == DesiredAttempt::STOP;
  }
};

TEST_F(AdminTest, QueuesOutliveTheScheduler) {
  ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kCreate, "night", 5));
  shell_.Restart();
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Queue updated, Change(ChangeQueue::Verb::kUpdate, "night", 6, "1"));
  EXPECT_EQ(updated.max_queued_jobs(), 6);
  EXPECT_EQ(updated.changes_size(), 2);
  EXPECT_THAT(Change(ChangeQueue::Verb::kUpdate, "night", 7, "1"),
              StatusIs(absl::StatusCode::kAborted));
}

TEST_F(AdminTest, EachChangeIsNotedAlsoThoseThatLeaveTheRecord) {
  ORDO_ASSERT_OK_AND_ASSIGN(Queue queue,
                            Change(ChangeQueue::Verb::kCreate, "night", 1));
  for (int limit = 2; limit <= kMaxChanges + 5; ++limit) {
    ORDO_ASSERT_OK_AND_ASSIGN(queue, Change(ChangeQueue::Verb::kUpdate, "night",
                                            limit, queue.etag()));
  }
  EXPECT_EQ(queue.changes_size(), kMaxChanges);
  ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kDelete, "night", 0));
  ASSERT_EQ(shell_.changes().size(), kMaxChanges + 6u);
  EXPECT_THAT(shell_.changes().front(), HasSubstr("queues/night: create"));
  EXPECT_EQ(shell_.changes().back(), "queues/night: delete");
}

TEST_F(AdminTest, WhatChangesNothingIsNotNoted) {
  StartWorker();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kCordon));
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kCordon));
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kUncordon));
  shell_.Ignore();
  EXPECT_EQ(shell_.changes(), (std::vector<std::string>{
                                  "workers/w: cordon", "workers/w: uncordon"}));
}

TEST_F(AdminTest, JobOfAnUnknownQueueIsRefused) {
  const auto job = shell_.Submit(JobIn("night", "a"));
  EXPECT_THAT(job, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(job.status().message()), HasSubstr("night"));
}

TEST_F(AdminTest, FullQueueTakesNoJobAndNamesTheLimit) {
  ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kCreate, "night", 2));
  ORDO_ASSERT_OK(shell_.Submit(JobIn("night", "a")));
  const auto batch = shell_.Submit(
      std::vector<NewJob>{JobIn("night", "b"), JobIn("night", "c")});
  EXPECT_THAT(batch, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(batch.status().message()),
              HasSubstr("1 of its max_queued_jobs, 2"));
  ORDO_EXPECT_OK(shell_.Submit(JobIn("night", "b")));
  ORDO_EXPECT_OK(shell_.Submit(JobIn("default", "c")));
  // Those that have ended make room, also after a restart.
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  shell_.Restart();
  ORDO_EXPECT_OK(shell_.Submit(JobIn("night", "d")));
  EXPECT_THAT(shell_.Submit(JobIn("night", "e")),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(AdminTest, RepeatOfARequestNeedsNoRoom) {
  ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kCreate, "night", 1));
  NewJob job = JobBuilder("a").RequestId("r");
  job.OwnSpec().set_queue("night");
  ORDO_ASSERT_OK(shell_.Submit(job));
  ORDO_EXPECT_OK(shell_.Submit(job));
}

TEST_F(AdminTest, QueueIsDeletedOnceItsJobsHaveEnded) {
  ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kCreate, "night", 5));
  ORDO_ASSERT_OK(shell_.Submit(JobIn("night", "a")));
  EXPECT_THAT(Change(ChangeQueue::Verb::kDelete, "night", 0),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  ORDO_EXPECT_OK(Change(ChangeQueue::Verb::kDelete, "night", 0));
  EXPECT_THAT(shell_.Submit(JobIn("night", "b")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(AdminTest, QuotasCountAtOnceAndAfterARestart) {
  StartWorker();
  ChangeQueue change;
  change.verb = ChangeQueue::Verb::kCreate;
  change.queue.set_name("queues/night");
  change.queue.set_max_queued_jobs(5);
  auto& quota = *change.queue.add_quotas();
  quota.set_device("cpu");
  quota.set_limit(0);
  ORDO_ASSERT_OK_AND_ASSIGN(const Queue queue, shell_.Change(change));
  ORDO_ASSERT_OK(shell_.Submit(JobIn("night", "a")));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kUpdate, "night", 5, queue.etag()));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(AdminTest, DeletedQueuesAreNotKeptForEver) {
  for (size_t i = 0; i < kMaxDeletedQueues + 2; ++i) {
    const std::string id = "q" + std::to_string(i);
    ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kCreate, id, 5));
    ORDO_ASSERT_OK(Change(ChangeQueue::Verb::kDelete, id, 0));
    shell_.Advance(absl::Seconds(1));
  }
  EXPECT_EQ(shell_.state().queues.size(), kMaxDeletedQueues);
  EXPECT_EQ(shell_.state().queues.count("q1"), 0u);
  EXPECT_EQ(shell_.state().queues.count("q2"), 1u);
}

TEST_F(AdminTest, NothingStartsOnACordonedWorkerUntilItIsUncordoned) {
  StartWorker();
  ORDO_ASSERT_OK_AND_ASSIGN(const Worker worker,
                            Change(ChangeWorker::Verb::kCordon));
  EXPECT_TRUE(worker.cordoned());
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kUncordon));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(AdminTest, WhatRunsOnACordonedWorkerGoesOn) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kCordon));
  EXPECT_FALSE(IsAskedToStop());
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
}

TEST_F(AdminTest, CordonOutlivesTheSchedulerAndTheWorker) {
  StartWorker();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kCordon));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Incarnation("second")));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  ASSERT_NE(shell_.published_worker("w"), nullptr);
  EXPECT_TRUE(shell_.published_worker("w")->cordoned());
}

TEST_F(AdminTest, DrainNowStopsWhatRunsAndQueuesItAgain) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain));
  EXPECT_TRUE(IsAskedToStop());
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Exited(10)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
}

TEST_F(AdminTest, DrainAtATimeStopsWhatRunsThen) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  EXPECT_FALSE(IsAskedToStop());
  shell_.Advance(absl::Seconds(4));
  EXPECT_FALSE(IsAskedToStop());
  shell_.Advance(absl::Seconds(1));
  EXPECT_TRUE(IsAskedToStop());
}

TEST_F(AdminTest, OnlyWhatEndsBeforeADrainStarts) {
  StartWorker();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Minutes(10)));
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("endless")));
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("long").RunTimeLimit(absl::Minutes(10))));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("long"), Job::QUEUED);
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("short").RunTimeLimit(absl::Minutes(9))));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("short"), Job::STARTING);
  EXPECT_EQ(shell_.StateOf("endless"), Job::QUEUED);
}

TEST_F(AdminTest, UncordonEndsADrainBeforeItsTime) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kUncordon));
  shell_.Advance(absl::Seconds(6));
  EXPECT_FALSE(IsAskedToStop());
}

TEST_F(AdminTest, DrainIsKeptThroughARestart) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(
      WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running())));
  shell_.Ignore();
  shell_.Advance(absl::Seconds(5));
  EXPECT_TRUE(IsAskedToStop());
}

TEST_F(AdminTest, WallClockThatWentBackPutsTheDrainOff) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  shell_.JumpWallClock(-absl::Seconds(60));
  shell_.Advance(absl::Seconds(5));
  EXPECT_FALSE(IsAskedToStop());
}

TEST_F(AdminTest, WallClockThatIsSetForwardBringsTheDrainOn) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Hours(1)));
  shell_.JumpWallClock(absl::Hours(2));
  shell_.Advance(absl::Seconds(1));
  EXPECT_TRUE(IsAskedToStop());
}

TEST_F(AdminTest, NothingStartsThatCrossesADrainByTheWallClockAsItIs) {
  StartWorker();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Minutes(30)));
  shell_.JumpWallClock(absl::Minutes(20));
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("long").RunTimeLimit(absl::Minutes(15))));
  EXPECT_EQ(shell_.StateOf("long"), Job::QUEUED);
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("short").RunTimeLimit(absl::Minutes(5))));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("short"), Job::STARTING);
}

TEST_F(AdminTest, WallClockThatIsSetBackOpensUntilTheDrain) {
  StartWorker();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain));
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("short").RunTimeLimit(absl::Minutes(5))));
  EXPECT_EQ(shell_.StateOf("short"), Job::QUEUED);
  shell_.JumpWallClock(-absl::Hours(1));
  shell_.Advance(absl::Seconds(1));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("short"), Job::STARTING);
}

TEST_F(AdminTest, WorkerNobodyKnowsIsNotFound) {
  for (const auto verb :
       {ChangeWorker::Verb::kCordon, ChangeWorker::Verb::kDrain,
        ChangeWorker::Verb::kUncordon, ChangeWorker::Verb::kRelease}) {
    EXPECT_THAT(Change(verb, "nobody"), StatusIs(absl::StatusCode::kNotFound));
  }
}

TEST_F(AdminTest, QueueThatCouldNotHaveBeenMadeIsDamage) {
  Queue queue;
  queue.set_name("queues/night");
  queue.set_weight(-1);
  State state;
  EXPECT_THAT(
      TakeAdminRow(Row{Row::Kind::kQueue, "night", queue.SerializeAsString()},
                   &state),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("night")));
}

TEST_F(AdminTest, RowsThatCannotBeReadAreDamage) {
  State state;
  for (const auto kind : {Row::Kind::kQueue, Row::Kind::kWorker,
                          Row::Kind::kUsage, Row::Kind::kQueueUse}) {
    EXPECT_THAT(TakeAdminRow(Row{kind, "x", "\xff"}, &state),
                StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(AdminTest, ACordonedWorkerThatNeverComesBackIsShownAsLostTillOpened) {
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
  shell_.Ignore();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kCordon));
  shell_.Ignore();
  const auto is_shown = [this] {
    const Worker* worker = shell_.published_worker("w");
    return worker != nullptr && worker->state() == Worker::LOST &&
           worker->cordoned() && worker->changes_size() == 1;
  };
  shell_.Restart();
  EXPECT_TRUE(is_shown());
  // And so is one that is silent for so long that it is forgotten.
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Sequence(9)));
  shell_.Ignore();
  shell_.Advance(absl::Hours(2));
  shell_.Ignore();
  EXPECT_TRUE(shell_.state().workers.empty());
  EXPECT_TRUE(is_shown());
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kUncordon));
  shell_.Ignore();
  EXPECT_EQ(shell_.published_worker("w"), nullptr);
  shell_.Restart();
  EXPECT_EQ(shell_.published_worker("w"), nullptr);
}

}  // namespace
}  // namespace ordo::scheduler::core
