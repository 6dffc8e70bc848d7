#include "kernels/torch/threads.h"

#include <stdexcept>
#include <thread>
#include <vector>

#include "ATen/Parallel.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace ordo::kernels::torch {
namespace {

class ThreadsTest : public testing::Test {
 protected:
  ThreadsTest() { at::set_num_threads(2); }
};

// Each waits for the other to have begun.
TEST_F(ThreadsTest, TasksRunAtTheSameTime) {
  ASSERT_EQ(NumThreads(), 2);
  absl::Notification begun[2];
  bool met[2] = {};
  int threads[2] = {};
  RunOnThreads(2, [&](int64_t i, int thread) {
    threads[i] = thread;
    begun[i].Notify();
    met[i] = begun[1 - i].WaitForNotificationWithTimeout(absl::Seconds(20));
  });
  EXPECT_TRUE(met[0] && met[1]);
  EXPECT_EQ(threads[0] + threads[1], 1);
}

// The first holds its thread until the last has begun.
TEST_F(ThreadsTest, AThreadThatIsFreeTakesTheNextTask) {
  absl::Notification last;
  bool met = false;
  RunOnThreads(10, [&](int64_t i, int /*thread*/) {
    if (i == 0) met = last.WaitForNotificationWithTimeout(absl::Seconds(20));
    if (i == 9) last.Notify();
  });
  EXPECT_TRUE(met);
}

TEST_F(ThreadsTest, EachTaskRunsOnce) {
  for (const int64_t count : {0, 1, 2, 3, 1000}) {
    std::vector<int> calls(count);
    RunOnThreads(count, [&](int64_t i, int /*thread*/) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(count, 1));
  }
}

TEST_F(ThreadsTest, TasksOfATaskAreItsThreads) {
  RunOnThreads(2, [](int64_t, int) {
    const std::thread::id id = std::this_thread::get_id();
    RunOnThreads(3, [&](int64_t, int thread) {
      EXPECT_EQ(std::this_thread::get_id(), id);
      EXPECT_EQ(thread, 0);
    });
  });
}

TEST_F(ThreadsTest, AnExceptionOfATaskIsThrownOn) {
  EXPECT_THROW(RunOnThreads(4,
                            [](int64_t i, int) {
                              if (i == 3) throw std::runtime_error("third");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace ordo::kernels::torch
