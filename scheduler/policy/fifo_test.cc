#include "scheduler/policy/fifo.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::policy {
namespace {

using ::testing::ElementsAreArray;
using Devices = std::map<DeviceId, Kernels>;

struct Case {
  const char* claim;
  WaitingJobs waiting;
  FreeDevices free;
  std::vector<Placement> expected;
};

TEST(FifoTest, PlacesAsTheTableSays) {
  const Need cpu = {"cpu", {}};
  const Need cuda = {"cuda", {}};
  const Need with_a = {"cpu", {"a"}};
  const Need with_a_and_b = {"cpu", {"a", "b"}};
  const Need two_ranks = {"cpu", {}, 2, 1};
  const Need pairs = {"cpu", {}, 2, 2};
  const Devices five = {{{"v", "cpu:0"}, {}},
                        {{"w", "cpu:0"}, {}},
                        {{"w", "cpu:1"}, {}},
                        {{"x", "cpu:0"}, {}},
                        {{"x", "cpu:1"}, {}}};
  const std::vector<Case> cases = {
      {"nothing waits", {}, {{"cpu", {{{"w", "cpu:0"}, {}}}}}, {}},
      {"nothing is free", {{cpu, {{1, "a"}}}}, {}, {}},
      {"the oldest job gets the first device",
       {{cpu, {{7, "young"}, {3, "old"}}}},
       {{"cpu", {{{"w2", "cpu:0"}, {}}, {{"w1", "cpu:0"}, {}}}}},
       {{"old", {{"w1", {"cpu:0"}}}}, {"young", {{"w2", {"cpu:0"}}}}}},
      {"jobs beyond the devices wait",
       {{cpu, {{1, "a"}, {2, "b"}}}},
       {{"cpu", {{{"w", "cpu:0"}, {}}}}},
       {{"a", {{"w", {"cpu:0"}}}}}},
      {"a kind without device holds no other up",
       {{cuda, {{1, "a"}}}, {cpu, {{2, "b"}}}},
       {{"cpu", {{{"w", "cpu:0"}, {}}}}},
       {{"b", {{"w", {"cpu:0"}}}}}},
      {"a device of another kind is of no use",
       {{cuda, {{1, "a"}}}},
       {{"cpu", {{{"w", "cpu:0"}, {}}}}, {"cuda", {}}},
       {}},
      {"the order is that of submission, whatever kernels are named",
       {{cpu, {{2, "second"}, {4, "fourth"}}},
        {with_a, {{1, "first"}, {3, "third"}}}},
       {{"cpu",
         {{{"w", "cpu:0"}, {}},
          {{"w", "cpu:1"}, {}},
          {{"w", "cpu:2"}, {"other"}}}}},
       {{"first", {{"w", {"cpu:2"}}}},
        {"second", {{"w", {"cpu:0"}}}},
        {"third", {{"w", {"cpu:1"}}}}}},
      {"a device that lacks a kernel is given away before one that does not",
       {{cpu, {{1, "old"}}}, {with_a, {{2, "young"}}}},
       {{"cpu", {{{"w", "cpu:0"}, {}}, {{"w", "cpu:1"}, {"a"}}}}},
       {{"old", {{"w", {"cpu:1"}}}}, {"young", {{"w", {"cpu:0"}}}}}},
      {"a job takes the first device that lacks no kernel it names",
       {{with_a_and_b, {{1, "a"}}}},
       {{"cpu",
         {{{"w", "cpu:0"}, {"b"}},
          {{"w", "cpu:1"}, {"a"}},
          {{"w", "cpu:2"}, {"c"}}}}},
       {{"a", {{"w", {"cpu:2"}}}}}},
      {"a job that no device does for holds no other up",
       {{with_a, {{1, "old"}}}, {cpu, {{2, "young"}}}},
       {{"cpu", {{{"w", "cpu:0"}, {"a"}}}}},
       {{"young", {{"w", {"cpu:0"}}}}}},
      {"a job with ranks gets devices for all of them",
       {{two_ranks, {{1, "a"}}}},
       {{"cpu", five}},
       {{"a", {{"v", {"cpu:0"}}, {"w", {"cpu:0"}}}}}},
      {"a rank's devices are on one worker",
       {{pairs, {{1, "a"}}}},
       {{"cpu", five}},
       {{"a", {{"w", {"cpu:0", "cpu:1"}}, {"x", {"cpu:0", "cpu:1"}}}}}},
      {"a job gets nothing rather than some of its ranks",
       {{two_ranks, {{1, "a"}}}, {cpu, {{2, "b"}}}},
       {{"cpu", {{{"w", "cpu:0"}, {}}}}},
       {{"b", {{"w", {"cpu:0"}}}}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.claim);
    const Snapshot snapshot{c.waiting, c.free};
    EXPECT_THAT(PlaceFifo(snapshot), ElementsAreArray(c.expected));
    EXPECT_THAT(PlaceFifo(snapshot), ElementsAreArray(c.expected));
  }
}

TEST(FifoTest, NoCallPlacesMoreThanTheLimit) {
  WaitingJobs waiting;
  FreeDevices free;
  for (size_t i = 0; i < kMaxPlacements + 10; ++i) {
    waiting[Need{"cpu", {}}][i] = "job-" + std::to_string(i);
    free["cpu"][{"w" + std::to_string(i), "cpu:0"}] = {};
  }
  EXPECT_EQ(PlaceFifo({waiting, free}).size(), kMaxPlacements);
}

}  // namespace
}  // namespace ordo::scheduler::policy
