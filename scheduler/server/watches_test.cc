#include "scheduler/server/watches.h"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::Pair;

jobs::v1::Job MakeJob(const std::string& name, int64_t version) {
  jobs::v1::Job job;
  job.mutable_spec()->set_name(name);
  job.set_version(version);
  return job;
}

TEST(WatchesTest, EachWatchIsToldOfItsJobAlone) {
  Watches watches;
  std::vector<int64_t> seen;
  watches.Add("a", [&](const jobs::v1::Job& job, bool) {
    seen.push_back(job.version());
  });
  EXPECT_TRUE(watches.IsWatched("a"));
  EXPECT_FALSE(watches.IsWatched("b"));
  watches.Tell(MakeJob("a", 1), false);
  watches.Tell(MakeJob("b", 2), false);
  EXPECT_THAT(seen, ElementsAre(1));
}

TEST(WatchesTest, TheLastCallEndsTheWatch) {
  Watches watches;
  int num_calls = 0;
  const int64_t watch =
      watches.Add("a", [&](const jobs::v1::Job&, bool) { ++num_calls; });
  watches.Tell(MakeJob("a", 1), true);
  watches.Tell(MakeJob("a", 2), false);
  EXPECT_EQ(num_calls, 1);
  EXPECT_FALSE(watches.IsWatched("a"));
  watches.Stop(watch);
}

TEST(WatchesTest, ACallbackMayStopItsOwnWatch) {
  Watches watches;
  int num_calls = 0;
  int64_t watch = 0;
  watch = watches.Add("a", [&](const jobs::v1::Job&, bool) {
    ++num_calls;
    watches.Stop(watch);
  });
  watches.TellOne(watch, MakeJob("a", 1), false);
  watches.TellOne(watch, MakeJob("a", 2), false);
  EXPECT_EQ(num_calls, 1);
}

TEST(WatchesTest, StopWaitsForACallbackThatRuns) {
  Watches watches;
  std::promise<void> entered;
  std::promise<void> leave;
  std::atomic<bool> over{false};
  const int64_t watch = watches.Add("a", [&](const jobs::v1::Job&, bool) {
    entered.set_value();
    leave.get_future().wait();
    over = true;
  });
  std::thread teller([&] { watches.TellOne(watch, MakeJob("a", 1), false); });
  entered.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] {
    watches.Stop(watch);
    return over.load();
  });
  // The callback cannot end yet, so Stop must not.
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(100)),
            std::future_status::timeout);
  leave.set_value();
  EXPECT_TRUE(stopped.get());
  teller.join();
}

TEST(WatchesTest, ThoseThatAreStillThereAreShownAtOnce) {
  Watches watches;
  const auto callback = [](const jobs::v1::Job&, bool) {};
  const int64_t first = watches.Add("a", callback);
  EXPECT_TRUE(watches.AskToShow());
  watches.Stop(first);
  for (const char* job : {"b", "c"}) {
    watches.Add(job, callback);
    EXPECT_FALSE(watches.AskToShow());
  }
  EXPECT_THAT(watches.TakeUnshown(), ElementsAre(Pair(_, "b"), Pair(_, "c")));
  watches.Add("d", callback);
  EXPECT_TRUE(watches.AskToShow());
  EXPECT_THAT(watches.TakeUnshown(), ElementsAre(Pair(_, "d")));
}

TEST(WatchesTest, WatchedJobsAreListed) {
  Watches watches;
  watches.Add("b", [](const jobs::v1::Job&, bool) {});
  const int64_t a = watches.Add("a", [](const jobs::v1::Job&, bool) {});
  EXPECT_THAT(watches.WatchedJobs(), ElementsAre("a", "b"));
  watches.Stop(a);
  EXPECT_THAT(watches.WatchedJobs(), ElementsAre("b"));
}

}  // namespace
}  // namespace ordo::scheduler::server
