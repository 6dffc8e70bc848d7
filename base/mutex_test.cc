#include "base/mutex.h"

#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

constexpr std::chrono::seconds kDeadline{20};

TEST(MutexTest, OneThreadAtATimeHoldsIt) {
  constexpr int kNumThreads = 4;
  constexpr int kNumRounds = 10'000;
  Mutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  threads.reserve(kNumThreads);
  for (int i = 0; i < kNumThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kNumRounds; ++round) {
        MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kNumThreads * kNumRounds);
}

TEST(CondVarTest, WakesAWaiterThatSeesTheChange) {
  Mutex mutex;
  CondVar changed;
  bool is_ready = false;
  std::thread notifier([&] {
    MutexLock lock(mutex);
    is_ready = true;
    changed.NotifyAll();
  });
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  {
    MutexLock lock(mutex);
    while (!is_ready && changed.WaitUntil(mutex, deadline)) {
    }
    EXPECT_TRUE(is_ready);
  }
  notifier.join();
}

TEST(CondVarTest, SaysWhenTheDeadlinePassed) {
  Mutex mutex;
  CondVar changed;
  MutexLock lock(mutex);
  EXPECT_FALSE(changed.WaitUntil(mutex, std::chrono::steady_clock::now()));
}

}  // namespace
}  // namespace ordo::base
