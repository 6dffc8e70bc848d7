#include "services/files/work_queue.h"

#include <future>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::files {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

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

TEST(WorkQueueTest, EndsWithoutWaitingForWorkThatIsNotDue) {
  bool ran = false;
  {
    WorkQueue queue(2);
    queue.RunAfter(std::chrono::hours(1), [&ran] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace ordo::services::files
