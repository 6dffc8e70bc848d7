#include "scheduler/server/view.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/present.h"

namespace ordo::scheduler::server {
namespace {

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

class ViewTest : public ::testing::Test {
 protected:
  std::vector<std::string> Names(const JobFilter& filter, int64_t before = 1000,
                                 int limit = 100) {
    std::vector<std::string> names;
    for (const SeenJob& job : view_.ListJobs(filter, before, limit).items) {
      names.push_back(job.record->id());
    }
    return names;
  }

  int64_t CountOf(Job::State state) {
    const auto counts = view_.CountJobs();
    for (size_t i = 0; i < counts.size(); ++i) {
      if (core::kJobStates[i] == state) return counts[i];
    }
    return -1;
  }

  View view_{core::Records(), {{Job::FAILED, 7}}};
};

TEST_F(ViewTest, JobsAreListedNewestFirstFromAnyPlace) {
  for (int i = 1; i <= 5; ++i) {
    view_.PutJob(MakeJob("j" + std::to_string(i), i * 10));
  }
  EXPECT_THAT(Names({}, 1000, 2), ElementsAre("j5", "j4"));
  EXPECT_THAT(Names({}, 40, 2), ElementsAre("j3", "j2"));
  EXPECT_THAT(Names({}, 20, 2), ElementsAre("j1"));
}

TEST_F(ViewTest, AJobThatHasEndedLeaves) {
  view_.PutJob(MakeJob("a", 1, {Job::RUNNING, "ada", "red"}));
  view_.PutProgress("a", std::make_shared<jobs::v1::Progress>());
  EXPECT_TRUE(view_.PutJob(MakeJob("a", 1, {Job::FAILED, "ada", "red"})));
  EXPECT_FALSE(view_.FindJob("a").has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto explained,
      view_.Explain("a", absl::UnixEpoch(), std::nullopt));
  EXPECT_FALSE(explained.has_value());
  JobFilter red;
  red.labels["team"] = "red";
  EXPECT_THAT(Names(red), IsEmpty());
  EXPECT_THAT(Names({}), IsEmpty());
}

TEST_F(ViewTest, EndedJobsAreCounted) {
  EXPECT_EQ(CountOf(Job::FAILED), 7);
  view_.PutJob(MakeJob("a", 1, {Job::RUNNING, "ada", ""}));
  view_.PutJob(MakeJob("a", 1, {Job::FAILED, "ada", ""}));
  // One that ends when it is created.
  view_.PutJob(MakeJob("b", 2, {Job::SUCCEEDED, "ada", ""}));
  EXPECT_EQ(CountOf(Job::FAILED), 8);
  EXPECT_EQ(CountOf(Job::SUCCEEDED), 1);
  EXPECT_EQ(CountOf(Job::RUNNING), 0);
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

TEST_F(ViewTest, FiltersThatHardlyMeetAreLookedThroughALittleAtATime) {
  constexpr int kNumJobs = View::kMaxLooks;
  view_.PutJob(MakeJob("both", 1, {Job::RUNNING, "ada", ""}));
  for (int i = 1; i <= kNumJobs; ++i) {
    const std::string number = std::to_string(i);
    view_.PutJob(MakeJob("a" + number, 2 * i, {Job::QUEUED, "ada", ""}));
    view_.PutJob(MakeJob("b" + number, 2 * i + 1, {Job::RUNNING, "bob", ""}));
  }
  JobFilter filter;
  filter.state = Job::RUNNING;
  filter.owner = "ada";
  const SeenJobs first = view_.ListJobs(filter, 3 * kNumJobs, 100);
  EXPECT_THAT(first.items, IsEmpty());
  ASSERT_TRUE(first.next.has_value());
  EXPECT_GT(*first.next, 1);
  const SeenJobs second = view_.ListJobs(filter, *first.next, 100);
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items[0].record->id(), "both");
  EXPECT_FALSE(second.next.has_value());
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

TEST_F(ViewTest, JobsAreCountedByTheirReasonUntilTheyEnd) {
  using Reasons = std::map<std::string, int64_t>;
  const auto put = [this](const std::string& id, int64_t sequence,
                          Job::State state, const char* reason) {
    auto job = std::make_shared<core::JobRecord>(
        *MakeJob(id, sequence, {state, "ada", ""}));
    job->reason = reason;
    view_.PutJob(job);
  };
  put("a", 1, Job::QUEUED, "HELD");
  put("b", 2, Job::QUEUED, "HELD");
  EXPECT_EQ(view_.CountReasons(), (Reasons{{"HELD", 2}}));
  put("a", 1, Job::QUEUED, "WAITING_FOR_DEVICE");
  EXPECT_EQ(view_.CountReasons(),
            (Reasons{{"HELD", 1}, {"WAITING_FOR_DEVICE", 1}}));
  put("a", 1, Job::STARTING, "STARTING");
  put("b", 2, Job::CANCELLED, "CANCELLED_BY_USER");
  EXPECT_EQ(view_.CountReasons(), (Reasons{{"STARTING", 1}}));
}

TEST_F(ViewTest, DevicesAreCountedByWhatKeepsThemFromAJob) {
  using workers::v1::Worker;
  const auto put = [this](const std::string& id, Worker::State state,
                          bool cordoned) {
    auto worker = std::make_shared<Worker>();
    worker->set_state(state);
    worker->set_cordoned(cordoned);
    for (int i = 0; i < 4; ++i) worker->add_devices()->set_kind("cuda");
    worker->mutable_devices(0)->mutable_quarantine();
    worker->mutable_devices(0)->set_job("jobs/a");
    worker->mutable_devices(1)->set_job("jobs/b");
    worker->mutable_devices(1)->set_withheld("it is probed");
    worker->mutable_devices(2)->set_withheld("it is probed");
    view_.PutWorker(id, worker);
  };
  using Counts = std::map<std::pair<std::string, std::string>, int64_t>;
  put("a", Worker::ONLINE, false);
  EXPECT_EQ(view_.CountDevices(), (Counts{{{"cuda", "free"}, 1},
                                          {{"cuda", "held"}, 1},
                                          {{"cuda", "quarantined"}, 1},
                                          {{"cuda", "withheld"}, 1}}));
  put("a", Worker::ONLINE, true);
  EXPECT_EQ((view_.CountDevices()[{"cuda", "closed"}]), 1);
  put("a", Worker::DRAINING, false);
  EXPECT_EQ((view_.CountDevices()[{"cuda", "closed"}]), 1);
  put("a", Worker::LOST, false);
  EXPECT_EQ(view_.CountDevices(), (Counts{{{"cuda", "lost"}, 4}}));
}

TEST_F(ViewTest, ProgressIsShownWithTheJobUntilItIsTakenBack) {
  view_.PutJob(MakeJob("a", 1));
  auto progress = std::make_shared<jobs::v1::Progress>();
  progress->set_step(7);
  view_.PutProgress("a", progress);
  ORDO_ASSERT_OK_AND_ASSIGN(Job seen, Present(*view_.FindJob("a")));
  EXPECT_EQ(seen.progress().step(), 7);
  view_.PutProgress("a", nullptr);
  ORDO_ASSERT_OK_AND_ASSIGN(seen, Present(*view_.FindJob("a")));
  EXPECT_FALSE(seen.has_progress());
}

TEST_F(ViewTest, WhatIsNotThereIsNotFound) {
  EXPECT_FALSE(view_.FindJob("x").has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto explained,
      view_.Explain("x", absl::UnixEpoch(), std::nullopt));
  EXPECT_FALSE(explained.has_value());
  EXPECT_THAT(view_.GetWorker("w"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ViewTest, AnExplanationSaysWhatTheCoreSays) {
  view_.PutJob(MakeJob("a", 1));
  core::Placing placing;
  placing.reason.emplace().constraint = policy::Constraint::kOrder;
  placing.jobs_ahead = 4;
  placing.other = "b";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained,
                            view_.Explain("a", absl::UnixEpoch(), placing));
  ASSERT_TRUE(explained.has_value());
  EXPECT_EQ(explained->jobs_ahead(), 4);
  EXPECT_EQ(explained->blockers(0).reason(), "OTHER_FIRST");
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
