#include "scheduler/policy/guess.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"
#include "scheduler/policy/why.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using testing::Gang;
using testing::TestBoard;
using testing::Waiter;
using testing::Within;
using testing::WorkerWith;

constexpr absl::Duration kMinute = absl::Minutes(1);
// Of all jobs that have one; none of them takes as long.
constexpr absl::Duration kLimit = absl::Hours(24);

// A job that runs on the worker, and has so much left by its progress.
int64_t RunFor(TestBoard* test, const std::string& worker, absl::Duration left,
               const Waiter& waiter = {Within(Cpus(1), kLimit)}) {
  const int64_t job = test->Wait(waiter);
  test->Run(job, worker);
  test->board.NoteExpectedEnd(job, test->now + left);
  return job;
}

// How long a job that comes now is expected to wait; infinite: nobody can tell.
absl::Duration WaitOf(TestBoard* test, const Waiter& waiter = {Cpus(1)}) {
  return Why(test->board, test->Wait(waiter), test->now)
             .start.value_or(absl::InfiniteDuration()) -
         test->now;
}

TEST(GuessTest, WhatRunsIsExpectedToEndWhenItSays) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const int64_t runs = RunFor(&test, "w1", 10 * kMinute);
  EXPECT_EQ(WaitOf(&test), 10 * kMinute);

  test.board.NoteExpectedEnd(runs, test.now + 3 * kMinute);
  EXPECT_EQ(ExpectedEnd(test.board.tables(), runs, test.now),
            test.now + 3 * kMinute);
  // It is late.
  test.now += 4 * kMinute;
  EXPECT_EQ(ExpectedEnd(test.board.tables(), runs, test.now), test.now);
}

TEST(GuessTest, NothingIsExpectedToRunBeyondItsLimit) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const int64_t runs =
      RunFor(&test, "w1", 10 * kMinute, {Within(Cpus(1), 4 * kMinute)});

  EXPECT_EQ(ExpectedEnd(test.board.tables(), runs, test.now),
            test.now + 4 * kMinute);
}

TEST(GuessTest, WhatSaysNothingTakesAsLongAsOthersTookOrAsLongAgain) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const Waiter waiter{Within(Cpus(1), kLimit)};
  const auto wait_of_next = [&] {
    return ExpectedEnd(test.board.tables(), 2, test.now) - test.now;
  };
  test.Run(test.Wait(waiter), "w1");
  test.now += 10 * kMinute;
  test.End(1);
  test.Run(test.Wait(waiter), "w1");
  EXPECT_EQ(wait_of_next(), 10 * kMinute);
  test.now += 4 * kMinute;
  EXPECT_EQ(wait_of_next(), 6 * kMinute);
  test.now += 16 * kMinute;
  EXPECT_EQ(wait_of_next(), 20 * kMinute);
  test.now += 20 * absl::Hours(1);
  EXPECT_EQ(wait_of_next(), absl::Hours(4) - 20 * kMinute);
}

TEST(GuessTest, WhatIsToldToStopIsGoneWithinItsGrace) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const int64_t runs = RunFor(&test, "w1", 10 * kMinute);
  test.board.NoteStopping(runs, test.now + kMinute);
  test.board.NoteExpectedEnd(runs, test.now + 9 * kMinute);

  EXPECT_EQ(WaitOf(&test), kMinute);
}

TEST(GuessTest, DevicesServeWhatIsAheadInTheOrderInWhichTheyComeFree) {
  TestBoard test;
  test.PutWorker("w1", 3);
  for (const int left : {40, 10, 20}) RunFor(&test, "w1", left * kMinute);
  const Waiter brief{Within(Cpus(1), 15 * kMinute)};

  EXPECT_EQ(WaitOf(&test, brief), 10 * kMinute);
  EXPECT_EQ(WaitOf(&test, brief), 20 * kMinute);
  EXPECT_EQ(WaitOf(&test, brief), 25 * kMinute);
  EXPECT_EQ(WaitOf(&test, brief), 35 * kMinute);
  EXPECT_EQ(WaitOf(&test, brief), 40 * kMinute);
}

TEST(GuessTest, WhatIsAheadTakesAsLongAsWhatRunsWhereNothingHasEnded) {
  TestBoard test;
  test.PutWorker("w1", 2);
  RunFor(&test, "w1", 10 * kMinute);
  RunFor(&test, "w1", 30 * kMinute);
  test.Wait(Within(Cpus(1), kLimit));
  test.Wait(Cpus(1));

  EXPECT_EQ(WaitOf(&test), 30 * kMinute);
  test.Wait();
  EXPECT_EQ(WaitOf(&test), 50 * kMinute);
}

TEST(GuessTest, OneWithoutAnEndHoldsUpOnlyItsDevice) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.Run(test.Wait(), "w1");
  RunFor(&test, "w1", 10 * kMinute);

  EXPECT_EQ(WaitOf(&test), 10 * kMinute);
  TestBoard other;
  other.PutWorker("w1", 2);
  other.Run(other.Wait(), "w1");
  RunFor(&other, "w1", 10 * kMinute);
  EXPECT_EQ(WaitOf(&other, {Cpus(2)}), absl::InfiniteDuration());
}

TEST(GuessTest, AGangWaitsForAllOfItsDevicesWhereItMayHaveThem) {
  const auto wait_of = [](const Shape& shape) {
    TestBoard test;
    test.PutWorker("w1", 2);
    test.PutWorker("w2", 2);
    RunFor(&test, "w1", 10 * kMinute);
    RunFor(&test, "w1", 50 * kMinute);
    RunFor(&test, "w2", 20 * kMinute);
    RunFor(&test, "w2", 30 * kMinute);
    return WaitOf(&test, {shape});
  };
  EXPECT_EQ(wait_of(Cpus(1)), 10 * kMinute);
  EXPECT_EQ(wait_of(Gang(2, 1)), 20 * kMinute);
  EXPECT_EQ(wait_of(Gang(3, 1)), 30 * kMinute);
  EXPECT_EQ(wait_of(Cpus(2)), 30 * kMinute);
  EXPECT_EQ(wait_of(Gang(2, 2)), 50 * kMinute);
}

TEST(GuessTest, ALabelIsWaitedForWhereItIs) {
  TestBoard test;
  test.PutWorker("w1", 1);
  Worker labeled = WorkerWith("w2", 1);
  labeled.labels["zone"] = "a";
  test.board.PutWorker(labeled);
  RunFor(&test, "w1", 10 * kMinute);
  RunFor(&test, "w2", 30 * kMinute);
  Shape shape = Cpus(1);
  shape.labels["zone"] = "a";

  EXPECT_EQ(WaitOf(&test, {shape}), 30 * kMinute);
}

TEST(GuessTest, DataIsWaitedForWhereItMayBeRead) {
  TestBoard test;
  Worker other = WorkerWith("w1", 1);
  other.data_roots = {{"/srv/code"}};
  test.board.PutWorker(other);
  test.PutWorker("w2", 1);
  RunFor(&test, "w1", 10 * kMinute);
  RunFor(&test, "w2", 30 * kMinute);
  Shape shape = Cpus(1);
  shape.data_paths = {"/srv/books"};

  EXPECT_EQ(WaitOf(&test, {shape}), 30 * kMinute);
}

TEST(GuessTest, ABlockedJobComesAfterThoseOfAHigherPriority) {
  TestBoard test;
  test.PutWorker("w1", 1);
  RunFor(&test, "w1", 10 * kMinute);
  const int64_t job = test.Wait(Within(Cpus(1), kLimit));
  const auto wait_of_it = [&] {
    return *Why(test.board, job, test.now).start - test.now;
  };
  EXPECT_EQ(wait_of_it(), 10 * kMinute);
  Waiter urgent{Within(Cpus(1), 5 * kMinute)};
  urgent.priority = 10;
  test.WaitMany(2, urgent);
  EXPECT_EQ(wait_of_it(), 20 * kMinute);
}

TEST(GuessTest, WhatNoWorkerHasRoomForIsNotWaitedFor) {
  TestBoard test;
  test.PutWorker("w1", 1);
  RunFor(&test, "w1", 10 * kMinute);
  test.Wait(Cpus(2));

  EXPECT_EQ(WaitOf(&test), 10 * kMinute);
}

TEST(GuessTest, AQueueGivesUpWhatItHasTooManyOfFirst) {
  TestBoard test;
  test.PutQueue("other", {});
  test.PutWorker("w1", 4);
  for (const int left : {10, 20, 30, 40}) {
    RunFor(&test, "w1", left * kMinute);
  }
  const Shape shape = Within(Cpus(1), kLimit);
  test.Wait({shape, "other"});

  // Of four devices two are due to either.
  EXPECT_EQ(WaitOf(&test, {shape}), 30 * kMinute);
  EXPECT_EQ(WaitOf(&test, {shape, "other"}), 20 * kMinute);
}

TEST(GuessTest, APartOfADeviceIsWaitedForLonger) {
  TestBoard test;
  test.PutQueue("other", {});
  test.PutWorker("w1", 1);
  RunFor(&test, "w1", 10 * kMinute);
  const Shape brief = Within(Cpus(1), 5 * kMinute);
  test.Wait({brief, "other"});
  test.Wait(brief);

  EXPECT_EQ(WaitOf(&test, {brief}), 20 * kMinute);
}

TEST(GuessTest, AnOwnerWaitsForTheirOwnJobs) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.PutQueue("default", {0, -1, 2});
  const Shape brief = Within(Cpus(1), 5 * kMinute);
  RunFor(&test, "w1", 10 * kMinute);
  RunFor(&test, "w1", 30 * kMinute);
  RunFor(&test, "w1", kMinute, {brief, "default", "bob"});

  EXPECT_EQ(WaitOf(&test, {brief}), 10 * kMinute);
  EXPECT_EQ(WaitOf(&test, {brief}), 15 * kMinute);
  EXPECT_EQ(WaitOf(&test, {brief, "default", "bob"}), absl::ZeroDuration());
}

// A history in which everybody reports their progress, and nobody but the jobs
// themselves knows how long they will take.
TEST(GuessTest, OverAHistoryTheGuessIsNearTheTruth) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 1);
  const std::vector<int> minutes = {20, 35, 50, 31, 27, 41, 33, 45, 22};
  for (size_t i = 0; i < minutes.size(); ++i) {
    test.Wait(Within(Cpus(1), kLimit));
  }
  const int64_t last = test.Wait(Within(Cpus(1), kLimit));
  std::map<int64_t, absl::Duration> ends;
  const auto place = [&] {
    for (const int64_t job : test.Started()) {
      if (job != last) ends[job] = test.now + minutes[job - 1] * kMinute;
    }
    for (const auto& [job, end] : ends) test.board.NoteExpectedEnd(job, end);
  };
  // When it was asked, and what was answered.
  std::map<absl::Duration, absl::Duration> guesses;
  place();
  while (test.board.IsWaiting(last) && !ends.empty()) {
    guesses[test.now] = Why(test.board, last, test.now).start.value();
    const auto next = std::min_element(
        ends.begin(), ends.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    test.now = next->second;
    test.End(next->first);
    ends.erase(next);
    place();
  }

  ASSERT_TRUE(test.board.IsRunning(last));
  ASSERT_EQ(guesses.size(), 7u);
  for (const auto& [at, guess] : guesses) {
    EXPECT_GE(guess - at, (test.now - at) / 2) << at;
    EXPECT_LE(guess - at, (test.now - at) * 2) << at;
  }
  // Once nobody is before it, progress tells all.
  EXPECT_EQ(guesses.rbegin()->second, test.now);
}

}  // namespace
}  // namespace ordo::scheduler::policy
