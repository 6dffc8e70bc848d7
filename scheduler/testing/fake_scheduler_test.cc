#include "scheduler/testing/fake_scheduler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::testing {
namespace {

using jobs::v1::Job;
using ::testing::ElementsAre;

NewJob JobNamed(const std::string& name) {
  NewJob job;
  job.name = name;
  job.OwnSpec().set_queue("default");
  job.fingerprint = "f-" + name;
  job.owner.set_user("ada");
  return job;
}

absl::StatusOr<std::vector<Job>> Create(FakeScheduler& scheduler,
                                        std::vector<NewJob> jobs) {
  absl::StatusOr<std::vector<Job>> result;
  scheduler.CreateJobs(std::move(jobs),
                       [&result](auto made) { result = std::move(made); });
  return result;
}

TEST(FakeSchedulerTest, CreatesAllOrNone) {
  FakeScheduler scheduler;
  ASSERT_TRUE(Create(scheduler, {JobNamed("a")}).ok());
  EXPECT_EQ(Create(scheduler, {JobNamed("b"), JobNamed("a")}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(scheduler.GetJob("b").status().code(), absl::StatusCode::kNotFound);
}

TEST(FakeSchedulerTest, RepeatOfARequestGivesTheSameJob) {
  FakeScheduler scheduler;
  NewJob job = JobNamed("a");
  job.request_id = "r";
  ASSERT_TRUE(Create(scheduler, {job}).ok());
  const auto again = Create(scheduler, {job});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->front().name(), "jobs/a");
  job.fingerprint = "other";
  EXPECT_EQ(Create(scheduler, {job}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(scheduler.created().size(), 1u);
}

TEST(FakeSchedulerTest, WatchTellsEachChangeAndStopsAfterTheLast) {
  FakeScheduler scheduler;
  ASSERT_TRUE(Create(scheduler, {JobNamed("a")}).ok());
  std::vector<Job::State> seen;
  const auto watch = scheduler.WatchJob(
      "a", [&seen](const Job& job, bool) { seen.push_back(job.state()); });
  ASSERT_TRUE(watch.ok());
  scheduler.SetState("a", Job::RUNNING);
  scheduler.SetState("a", Job::SUCCEEDED);
  scheduler.SetState("a", Job::FAILED);
  EXPECT_THAT(seen, ElementsAre(Job::QUEUED, Job::RUNNING, Job::SUCCEEDED));
  scheduler.StopWatch(*watch);
  EXPECT_EQ(scheduler.num_watches(), 0);
}

TEST(FakeSchedulerTest, NoCallAfterStopWatch) {
  FakeScheduler scheduler;
  ASSERT_TRUE(Create(scheduler, {JobNamed("a")}).ok());
  int num_calls = 0;
  const auto watch =
      scheduler.WatchJob("a", [&num_calls](const Job&, bool) { ++num_calls; });
  ASSERT_TRUE(watch.ok());
  scheduler.StopWatch(*watch);
  scheduler.SetState("a", Job::RUNNING);
  EXPECT_EQ(num_calls, 1);
}

TEST(FakeSchedulerTest, PagesAreNewestFirstAndEnd) {
  FakeScheduler scheduler;
  ASSERT_TRUE(
      Create(scheduler, {JobNamed("a"), JobNamed("b"), JobNamed("c")}).ok());
  const auto first = scheduler.ListJobs({}, {"", 2});
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->items.size(), 2u);
  EXPECT_EQ(first->items[0].name(), "jobs/c");
  const auto second = scheduler.ListJobs({}, {first->next, 2});
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->items.size(), 1u);
  EXPECT_EQ(second->items[0].name(), "jobs/a");
  EXPECT_EQ(second->next, "");
}

TEST(FakeSchedulerTest, CancelOfAFinishedJobIsRefused) {
  FakeScheduler scheduler;
  ASSERT_TRUE(Create(scheduler, {JobNamed("a")}).ok());
  scheduler.SetState("a", Job::SUCCEEDED);
  absl::Status status;
  scheduler.CancelJob("a", "bob",
                      [&status](auto job) { status = job.status(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ordo::scheduler::testing
