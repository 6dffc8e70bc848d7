#include "services/files/work_queue.h"

#include <future>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::files {
namespace {

using base::testing::StatusIs;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kDeadline(10);

TEST(WorkQueueTest, RunsWorkOnAThreadOfItsOwn) {
  WorkQueue queue(1);
  std::promise<std::thread::id> ran;
  queue.Run([&ran] { ran.set_value(std::this_thread::get_id()); });
  auto thread = ran.get_future();
  ASSERT_EQ(thread.wait_for(kDeadline), std::future_status::ready);
  EXPECT_NE(thread.get(), std::this_thread::get_id());
}

TEST(WorkQueueTest, RunsWorkOfOneThreadInOrder) {
  std::vector<int> order;
  {
    WorkQueue queue(1);
    for (int i = 0; i < 4; ++i) {
      queue.Run([&order, i] { order.push_back(i); });
    }
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
}

TEST(WorkQueueTest, LaterWorkDoesNotHoldUpEarlierWork) {
  WorkQueue queue(1);
  std::vector<std::string> order;
  std::promise<void> done;
  queue.RunAfter(milliseconds(30), [&] {
    order.push_back("later");
    done.set_value();
  });
  queue.Run([&order] { order.push_back("soon"); });
  ASSERT_EQ(done.get_future().wait_for(kDeadline), std::future_status::ready);
  EXPECT_THAT(order, ElementsAre("soon", "later"));
}

TEST(WorkQueueTest, WorkMayQueueMoreWork) {
  WorkQueue queue(2);
  std::promise<void> done;
  queue.Run([&] { queue.Run([&done] { done.set_value(); }); });
  EXPECT_EQ(done.get_future().wait_for(kDeadline), std::future_status::ready);
}

TEST(WorkQueueTest, AdmitsSoManyCallsAndNotMore) {
  WorkQueue queue(1, /*max_calls=*/2);
  std::vector<WorkPlace> places;
  for (int i = 0; i < 2; ++i) {
    ORDO_ASSERT_OK_AND_ASSIGN(places.emplace_back(), queue.Admit());
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(queue.Admit(), StatusIs(absl::StatusCode::kResourceExhausted,
                                        HasSubstr("2 calls wait for threads")));
  }
  places.pop_back();
  ORDO_EXPECT_OK(queue.Admit());
}

TEST(WorkQueueTest, WhoWasAdmittedQueuesWorkHoweverManyWait) {
  WorkQueue queue(1, /*max_calls=*/1);
  ORDO_ASSERT_OK_AND_ASSIGN(const WorkPlace place, queue.Admit());
  EXPECT_FALSE(queue.Admit().ok());
  std::promise<void> done;
  queue.Run([&] { queue.Run([&done] { done.set_value(); }); });
  EXPECT_EQ(done.get_future().wait_for(kDeadline), std::future_status::ready);
}

TEST(WorkQueueTest, APlaceMayOutliveTheQueue) {
  auto queue = std::make_unique<WorkQueue>(1);
  ORDO_ASSERT_OK_AND_ASSIGN(WorkPlace place, queue->Admit());
  queue.reset();
  place.reset();
}

TEST(WorkQueueTest, EndsWithoutWaitingForWorkThatIsNotDue) {
  bool ran = false;
  {
    WorkQueue queue(2);
    queue.RunAfter(std::chrono::hours(1), [&ran] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

TEST(WorkQueueTest, WhatIsDroppedInTimeDoesNotRun) {
  std::vector<int> order;
  {
    WorkQueue queue(1);
    std::promise<void> go;
    queue.Run([&go] { go.get_future().wait(); });
    const WorkQueue::Later dropped =
        queue.RunAfter(milliseconds(0), [&order] { order.push_back(1); });
    queue.Run([&order] { order.push_back(2); });
    queue.Drop(dropped);
    queue.Drop(dropped);
    go.set_value();
  }
  EXPECT_THAT(order, ElementsAre(2));
}

}  // namespace
}  // namespace ordo::services::files
