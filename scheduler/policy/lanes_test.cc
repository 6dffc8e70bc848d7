#include "scheduler/policy/lanes.h"

#include "gtest/gtest.h"

namespace ordo::scheduler::policy {
namespace {

Tables OneQueue() {
  Tables tables;
  tables.queues.emplace_back();
  tables.queues[0].name = "default";
  tables.queue_ids["default"] = 0;
  return tables;
}

Shape OneCpu() {
  Shape shape;
  shape.kind = "cpu";
  return shape;
}

int LaneOf(const std::string& owner, const Shape& shape, Tables* tables) {
  return LaneFor(0, {0, "default", owner, shape, 0, absl::UnixEpoch()}, tables);
}

TEST(LanesTest, JobsAlikeShareALane) {
  Tables tables = OneQueue();
  Shape other = OneCpu();
  other.devices = 2;
  const int lane = LaneOf("ann", OneCpu(), &tables);

  EXPECT_EQ(LaneOf("ann", OneCpu(), &tables), lane);
  EXPECT_NE(LaneOf("bob", OneCpu(), &tables), lane);
  EXPECT_NE(LaneOf("ann", other, &tables), lane);
}

TEST(LanesTest, AnEmptyLaneIsForgottenWithItsShapeAndOwner) {
  Tables tables = OneQueue();
  const int lane = LaneOf("ann", OneCpu(), &tables);
  AddToLane(1, {10, lane, 0}, &tables);
  TidyLane(lane, &tables);
  EXPECT_EQ(tables.lane_ids.size(), 1u);

  TakeFromLane(1, &tables);
  TidyLane(lane, &tables);
  EXPECT_TRUE(tables.lane_ids.empty());
  EXPECT_EQ(tables.shape_ids.size(), 0u);
  EXPECT_EQ(tables.owners.size(), 0u);
  EXPECT_EQ(LaneOf("bob", OneCpu(), &tables), lane);
}

TEST(LanesTest, PartsHaveLanesOfTheirParentWhichIsForgottenWithThem) {
  Tables tables = OneQueue();
  const Shape shape = OneCpu();
  WaitingJob part{0, "default", "ann", shape, 0, absl::UnixEpoch()};
  part.parent = "sweep";
  part.max_parallel = 2;
  const int lane = LaneFor(0, part, &tables);
  EXPECT_NE(LaneOf("ann", shape, &tables), lane);
  EXPECT_EQ(LaneFor(0, part, &tables), lane);
  const int id = tables.lanes[lane].parent;
  EXPECT_EQ(tables.parents[id].max_parallel, 2);
  CountRunning(1, &tables.lanes[lane], &tables);
  EXPECT_EQ(tables.parents[id].num_running, 1);
  CountRunning(-1, &tables.lanes[lane], &tables);
  TidyLane(lane, &tables);
  EXPECT_EQ(tables.parent_ids.size(), 0u);
}

TEST(LanesTest, TheQueueKnowsTheFirstJobOfEachLane) {
  Tables tables = OneQueue();
  const int lane = LaneOf("ann", OneCpu(), &tables);
  AddToLane(2, {20, lane, 0}, &tables);
  AddToLane(1, {10, lane, 5}, &tables);
  const QueueKind& kind = KindOf(tables.lanes[lane], tables);
  EXPECT_EQ(kind.lanes.begin()->key.sequence, 1);
  EXPECT_EQ(kind.priorities.rbegin()->first, 5);

  TakeFromLane(1, &tables);
  EXPECT_EQ(kind.lanes.size(), 1u);
  EXPECT_EQ(kind.lanes.begin()->key.sequence, 2);
  EXPECT_EQ(kind.priorities.rbegin()->first, 0);
}

TEST(LanesTest, UseDecaysByHalfInEachHalfLife) {
  QueueKind kind;
  kind.used = 100;
  kind.used_at = absl::Seconds(50);

  EXPECT_DOUBLE_EQ(UsedAt(kind, absl::Seconds(60), absl::Seconds(10)), 50);
  EXPECT_DOUBLE_EQ(UsedAt(kind, absl::Seconds(40), absl::Seconds(10)), 100);
}

TEST(LanesTest, WhatCameFreeBeforeItWasToldWasNotUsedSince) {
  Tables tables = OneQueue();
  const int lane = LaneOf("ann", OneCpu(), &tables);
  AddToLane(1, {10, lane, 0}, &tables);
  const absl::Duration half_life = absl::Seconds(100);
  const auto hold = [&](int devices, absl::Duration at) {
    Hold(tables.lanes[lane], devices, {at, half_life}, &tables);
  };
  const QueueKind& kind = KindOf(tables.lanes[lane], tables);
  // Two devices until 20 s, and one until 30 s.
  hold(2, absl::ZeroDuration());
  hold(1, absl::ZeroDuration());
  hold(-2, absl::Seconds(20));
  hold(-1, absl::Seconds(30));
  const double used = UsedAt(kind, absl::Seconds(500), half_life);

  // The same, told of late and in another order.
  tables = OneQueue();
  ASSERT_EQ(LaneOf("ann", OneCpu(), &tables), lane);
  AddToLane(1, {10, lane, 0}, &tables);
  const QueueKind& late = KindOf(tables.lanes[lane], tables);
  hold(2, absl::ZeroDuration());
  hold(1, absl::ZeroDuration());
  hold(1, absl::Seconds(400));
  hold(-1, absl::Seconds(400));
  hold(-1, absl::Seconds(30));
  hold(-2, absl::Seconds(20));
  EXPECT_NEAR(UsedAt(late, absl::Seconds(500), half_life), used, 1e-9);
  EXPECT_EQ(late.held, 0);
}

TEST(LanesTest, UseNeverExceedsThatOfAllDevicesForEver) {
  Tables tables = OneQueue();
  const int lane = LaneOf("ann", OneCpu(), &tables);
  AddToLane(1, {10, lane, 0}, &tables);
  const absl::Duration half_life = absl::Seconds(100);
  Hold(tables.lanes[lane], 4, {absl::Seconds(0), half_life}, &tables);
  const QueueKind& kind = KindOf(tables.lanes[lane], tables);

  EXPECT_NEAR(UsedAt(kind, absl::Seconds(1), half_life), 4, 0.02);
  EXPECT_NEAR(UsedAt(kind, absl::Hours(10), half_life), 4 * 100 / 0.693147,
              0.01);
}

}  // namespace
}  // namespace ordo::scheduler::policy
