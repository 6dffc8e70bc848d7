#include "scheduler/server/queue_view.h"

#include <memory>
#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/spec_table.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::StatusIs;
using jobs::v1::Job;
using queues::v1::Queue;

core::QueuePtr QueueOf(const std::string& id, bool deleted = false) {
  auto queue = std::make_shared<Queue>();
  queue->set_name("queues/" + id);
  if (deleted) queue->mutable_delete_time()->set_seconds(1);
  return queue;
}

core::JobRecord JobOf(const std::string& queue, Job::State state) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  spec->set_kind(jobs::v1::JobSpec::TRAIN);
  spec->set_queue(queue);
  spec->mutable_resources()->set_device("cuda");
  spec->mutable_resources()->set_ranks(2);
  spec->mutable_resources()->set_devices(4);
  auto facts = std::make_shared<core::JobFacts>(
      core::FactsOf(*spec, core::SpecTable().Keep(spec)));
  core::JobRecord job;
  job.facts = facts;
  job.state = state;
  return job;
}

TEST(QueueViewTest, JobsAreCountedWhereTheyAre) {
  QueueView view;
  view.Put("night", QueueOf("night"));
  const core::JobRecord queued = JobOf("night", Job::QUEUED);
  const core::JobRecord running = JobOf("night", Job::RUNNING);
  view.Count(nullptr, queued);
  view.Count(nullptr, queued);
  view.Count(&queued, running);
  ORDO_ASSERT_OK_AND_ASSIGN(Queue queue, view.Get("night"));
  EXPECT_EQ(queue.queued_jobs(), 1);
  EXPECT_EQ(queue.active_jobs(), 1);
  EXPECT_EQ(queue.held_devices().at("cuda"), 8);
  view.Count(&running, JobOf("night", Job::SUCCEEDED));
  ORDO_ASSERT_OK_AND_ASSIGN(queue, view.Get("night"));
  EXPECT_EQ(queue.queued_jobs(), 1);
  EXPECT_EQ(queue.active_jobs(), 0);
  EXPECT_TRUE(queue.held_devices().empty());
}

TEST(QueueViewTest, ForgottenQueueIsGone) {
  QueueView view;
  view.Put("night", QueueOf("night"));
  view.Put("night", nullptr);
  EXPECT_THAT(view.Get("night"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(QueueViewTest, PagesAreInOrderOfNamesWithoutDeletedOnes) {
  QueueView view;
  view.Put("night", QueueOf("night"));
  view.Put("day", QueueOf("day"));
  view.Put("gone", QueueOf("gone", /*deleted=*/true));
  const auto first = view.List({"", 2});
  ASSERT_EQ(first.items.size(), 2u);
  EXPECT_EQ(first.items[0].name(), "queues/day");
  EXPECT_EQ(first.items[1].name(), "queues/default");
  const auto second = view.List({first.next, 2});
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items[0].name(), "queues/night");
  EXPECT_EQ(second.next, "");
  EXPECT_THAT(view.Get("gone"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::scheduler::server
