#include "scheduler/server/view.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/present.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using jobs::v1::Job;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct JobFacts {
  Job::State state = Job::QUEUED;
  std::string owner = "ada";
  std::string label;
};

core::JobPtr MakeJob(const std::string& name, int64_t sequence,
                     const JobFacts& facts = {}) {
  Job job;
  job.mutable_spec()->set_name(name);
  job.mutable_spec()->set_queue("default");
  if (!facts.label.empty()) {
    (*job.mutable_spec()->mutable_labels())["team"] = facts.label;
  }
  job.set_sequence(sequence);
  job.set_state(facts.state);
  job.mutable_owner()->set_user(facts.owner);
  core::SpecTable specs;
  return core::RecordOf({job}, &specs);
}

core::CheckpointPtr MakeCheckpoint(const std::string& job, int64_t step,
                                   int64_t seconds, int attempt = 1) {
  auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
  checkpoint->set_name("jobs/" + job + "/checkpoints/" + std::to_string(step) +
                       "-" + std::to_string(attempt));
  checkpoint->set_step(step);
  checkpoint->set_attempt(attempt);
  checkpoint->set_state(checkpoints::v1::Checkpoint::AVAILABLE);
  checkpoint->mutable_create_time()->set_seconds(seconds);
  return checkpoint;
}

class ViewTest : public ::testing::Test {
 protected:
  std::vector<std::string> Names(const JobFilter& filter,
                                 const Page& page = {}) {
    std::vector<std::string> names;
    const auto listing = view_.ListJobs(filter, page);
    EXPECT_THAT(listing, IsOk());
    for (const Job& job : listing->items) names.push_back(job.spec().name());
    return names;
  }

  View view_{core::Records()};
};

TEST_F(ViewTest, JobsAreListedNewestFirstInPages) {
  for (int i = 1; i <= 5; ++i) {
    view_.PutJob(MakeJob("j" + std::to_string(i), i * 10));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto first, view_.ListJobs({}, {"", 2}));
  ASSERT_EQ(first.items.size(), 2u);
  EXPECT_EQ(first.items[0].spec().name(), "j5");
  EXPECT_EQ(first.next, "40");
  EXPECT_THAT(Names({}, {first.next, 2}), ElementsAre("j3", "j2"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto last, view_.ListJobs({}, {"20", 2}));
  EXPECT_EQ(last.items.size(), 1u);
  EXPECT_EQ(last.next, "");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto exact, view_.ListJobs({}, {"", 5}));
  EXPECT_EQ(exact.next, "");
  EXPECT_THAT(view_.ListJobs({}, {"x", 2}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ViewTest, FiltersWorkAloneAndTogether) {
  view_.PutJob(MakeJob("a", 1, {Job::QUEUED, "ada", "red"}));
  view_.PutJob(MakeJob("b", 2, {Job::RUNNING, "ada", "red"}));
  view_.PutJob(MakeJob("c", 3, {Job::RUNNING, "bob", "blue"}));
  JobFilter running;
  running.state = Job::RUNNING;
  EXPECT_THAT(Names(running), ElementsAre("c", "b"));
  JobFilter both = running;
  both.owner = "ada";
  EXPECT_THAT(Names(both), ElementsAre("b"));
  JobFilter red;
  red.labels["team"] = "red";
  EXPECT_THAT(Names(red), ElementsAre("b", "a"));
  JobFilter queue;
  queue.queue = "other";
  EXPECT_THAT(Names(queue), IsEmpty());
}

TEST_F(ViewTest, AChangeOfStateMovesAJobBetweenIndexes) {
  EXPECT_TRUE(view_.PutJob(MakeJob("a", 1)));
  EXPECT_FALSE(view_.PutJob(MakeJob("a", 1)));
  EXPECT_TRUE(view_.PutJob(MakeJob("a", 1, {Job::RUNNING, "ada", ""})));
  JobFilter queued;
  queued.state = Job::QUEUED;
  EXPECT_THAT(Names(queued), IsEmpty());
  EXPECT_EQ(view_.CountJobs()[0], 0);
  EXPECT_EQ(view_.CountJobs()[2], 1);
}

TEST_F(ViewTest, ProgressIsShownWithTheJobUntilItIsTakenBack) {
  view_.PutJob(MakeJob("a", 1));
  auto progress = std::make_shared<jobs::v1::Progress>();
  progress->set_step(7);
  view_.PutProgress("a", progress);
  EXPECT_EQ(view_.GetJob("a")->progress().step(), 7);
  view_.PutProgress("a", nullptr);
  EXPECT_FALSE(view_.GetJob("a")->has_progress());
}

TEST_F(ViewTest, WhatIsNotThereIsNotFound) {
  view_.PutJob(MakeJob("a", 1));
  EXPECT_THAT(view_.GetJob("x"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(view_.Explain("x", absl::UnixEpoch(), std::nullopt),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(view_.GetCheckpoint("a", "latest"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(view_.GetCheckpoint("a", "5-1"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(view_.GetReport("a", "r"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(view_.ListCheckpoints("x", {}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(view_.GetWorker("w"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ViewTest, CheckpointsAreListedNewestFirstOfOneJobOrAll) {
  view_.PutJob(MakeJob("a", 1));
  view_.PutJob(MakeJob("b", 2));
  view_.PutCheckpoint(MakeCheckpoint("a", 10, 100));
  view_.PutCheckpoint(MakeCheckpoint("b", 5, 200));
  view_.PutCheckpoint(MakeCheckpoint("a", 20, 300));
  const auto steps = [this](const std::string& job, const Page& page) {
    std::vector<int64_t> steps;
    const auto listing = view_.ListCheckpoints(job, page);
    EXPECT_THAT(listing, IsOk());
    for (const auto& item : listing->items) steps.push_back(item.step());
    return steps;
  };
  EXPECT_THAT(steps("", {}), ElementsAre(20, 5, 10));
  EXPECT_THAT(steps("a", {}), ElementsAre(20, 10));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto page,
                            view_.ListCheckpoints("", {"", 1}));
  EXPECT_EQ(page.next, "jobs/a/checkpoints/20-1");
  EXPECT_THAT(steps("", {page.next, 10}), ElementsAre(5, 10));
  EXPECT_THAT(view_.ListCheckpoints("", {"jobs/x/checkpoints/1-1", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ViewTest, LatestIsTheLargestStepOfTheLastAttemptThatIsThere) {
  view_.PutJob(MakeJob("a", 1));
  view_.PutCheckpoint(MakeCheckpoint("a", 20, 100));
  view_.PutCheckpoint(MakeCheckpoint("a", 10, 200));
  EXPECT_EQ(view_.GetCheckpoint("a", "latest")->step(), 20);
  auto removed = std::make_shared<checkpoints::v1::Checkpoint>(
      *MakeCheckpoint("a", 20, 100));
  removed->set_state(checkpoints::v1::Checkpoint::DELETED);
  view_.PutCheckpoint(removed);
  EXPECT_EQ(view_.GetCheckpoint("a", "latest")->step(), 10);
  EXPECT_EQ(view_.GetCheckpoint("a", "20-1")->state(),
            checkpoints::v1::Checkpoint::DELETED);
  view_.PutCheckpoint(MakeCheckpoint("a", 5, 300, 2));
  EXPECT_EQ(view_.GetCheckpoint("a", "latest")->step(), 5);
}

TEST_F(ViewTest, AnExplanationSaysWhatTheCoreSays) {
  view_.PutJob(MakeJob("a", 1));
  core::Placing placing;
  placing.reason.constraint = policy::Constraint::kOrder;
  placing.reason.jobs_ahead = 4;
  placing.other = "b";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained,
                            view_.Explain("a", absl::UnixEpoch(), placing));
  EXPECT_EQ(explained.jobs_ahead(), 4);
  EXPECT_EQ(explained.blockers(0).reason(), "OTHER_FIRST");
}

TEST_F(ViewTest, WorkersAreListedByNameInPages) {
  for (const char* name : {"b", "a", "c"}) {
    auto worker = std::make_shared<workers::v1::Worker>();
    worker->set_name(std::string("workers/") + name);
    worker->set_state(workers::v1::Worker::ONLINE);
    view_.PutWorker(name, worker);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto first, view_.ListWorkers({"", 2}));
  EXPECT_EQ(first.items[0].name(), "workers/a");
  EXPECT_EQ(first.next, "workers/b");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto second,
                            view_.ListWorkers({first.next, 2}));
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items[0].name(), "workers/c");
  EXPECT_EQ(second.next, "");
  EXPECT_EQ(view_.CountWorkers()[workers::v1::Worker::ONLINE], 3);
  view_.PutWorker("b", nullptr);
  EXPECT_THAT(view_.GetWorker("b"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::scheduler::server
