#include "scheduler/policy/room.h"

#include "gtest/gtest.h"

namespace ordo::scheduler::policy {
namespace {

constexpr int kCpu = 0;

// Four devices, 16 cores, 100 bytes.
WorkerEntry FourDevices() {
  WorkerEntry worker;
  worker.facts.id = "w";
  worker.facts.cpus = 16;
  worker.facts.memory_bytes = 100;
  for (int i = 0; i < 4; ++i) {
    DeviceEntry device;
    device.facts.name = "cpu:" + std::to_string(i);
    device.kind = kCpu;
    worker.devices.push_back(device);
  }
  return worker;
}

Shape Ranks(int ranks, int devices) {
  Shape shape;
  shape.kind = "cpu";
  shape.ranks = ranks;
  shape.devices = devices;
  return shape;
}

// Puts a rank on a device.
void Put(WorkerEntry* worker, int device, absl::Duration ends_by) {
  worker->devices[device].job = device + 1;
  Occupant occupant = OccupantOf({Ranks(1, 1), kCpu}, {});
  occupant.job = device + 1;
  occupant.ends_by = ends_by;
  occupant.devices = DevicesOf(*worker, occupant);
  worker->occupants.push_back(occupant);
}

const Stay kEndless{absl::InfiniteDuration()};

TEST(RoomTest, WholeRanksFit) {
  const WorkerEntry worker = FourDevices();
  const Room room = RoomOf(worker);

  EXPECT_EQ(RanksIn(worker, room, {Ranks(9, 1), kCpu}, kEndless), 4);
  EXPECT_EQ(RanksIn(worker, room, {Ranks(9, 3), kCpu}, kEndless), 1);
  EXPECT_EQ(RanksIn(worker, room, {Ranks(1, 2), kCpu}, kEndless), 1);
  EXPECT_EQ(RanksIn(worker, room, {Ranks(1, 1), kCpu + 1}, kEndless), 0);
}

TEST(RoomTest, CoresAndMemoryAreSetAside) {
  const WorkerEntry worker = FourDevices();
  const Room room = RoomOf(worker);
  Shape cores = Ranks(4, 1);
  cores.cpus = 6;
  Shape memory = Ranks(4, 1);
  memory.memory_bytes = 100;

  EXPECT_EQ(RanksIn(worker, room, {cores, kCpu}, kEndless), 2);
  EXPECT_EQ(RanksIn(worker, room, {memory, kCpu}, kEndless), 1);
}

TEST(RoomTest, OnlyDevicesThatMatchCount) {
  WorkerEntry worker = FourDevices();
  worker.mixed = true;
  worker.devices[0].facts.memory_bytes = 50;
  worker.devices[1].facts.lacking = {"attention/a"};
  const Room room = RoomOf(worker);
  Shape memory = Ranks(4, 1);
  memory.device_memory_bytes = 40;
  Shape kernel = Ranks(4, 1);
  kernel.kernels = {"attention/a"};

  EXPECT_EQ(RanksIn(worker, room, {memory, kCpu}, kEndless), 1);
  EXPECT_EQ(RanksIn(worker, room, {kernel, kCpu}, kEndless), 3);
  EXPECT_EQ(PickDevices(worker, room, {kernel, kCpu}, {})[0], 1u);
}

TEST(RoomTest, ExclusiveMeansNothingElse) {
  WorkerEntry worker = FourDevices();
  Shape exclusive = Ranks(1, 1);
  exclusive.exclusive = true;
  Room room = RoomOf(worker);
  EXPECT_EQ(RanksIn(worker, room, {exclusive, kCpu}, kEndless), 1);

  Occupy(worker, OccupantOf({exclusive, kCpu}, {1}), &room);
  EXPECT_EQ(RanksIn(worker, room, {Ranks(1, 1), kCpu}, kEndless), 0);

  Put(&worker, 0, absl::InfiniteDuration());
  EXPECT_EQ(RanksIn(worker, RoomOf(worker), {exclusive, kCpu}, kEndless), 0);
}

TEST(RoomTest, NothingStartsThatMayRunBeyondTheDrain) {
  WorkerEntry worker = FourDevices();
  worker.facts.drain_at = absl::Seconds(100);
  const Room room = RoomOf(worker);
  const Ask ask{Ranks(1, 1), kCpu};

  EXPECT_EQ(RanksIn(worker, room, ask, {absl::Seconds(100)}), 1);
  EXPECT_EQ(RanksIn(worker, room, ask, {absl::Seconds(101)}), 0);
  EXPECT_EQ(RanksIn(worker, room, ask, kEndless), 0);
}

TEST(RoomTest, UntilAReservationBeginsAllMayBeUsed) {
  WorkerEntry worker = FourDevices();
  Put(&worker, 0, absl::Seconds(50));
  Room room = RoomOf(worker);
  const Shape kept = Ranks(2, 1);
  Keep(worker, {}, {{kept, kCpu}, 2, absl::Seconds(60)}, &room);
  const Ask ask{Ranks(4, 1), kCpu};

  EXPECT_EQ(RanksIn(worker, room, ask, {absl::Seconds(60)}), 3);
  // At 60 all four are free, two of them for others.
  EXPECT_EQ(RanksIn(worker, room, ask, {absl::Seconds(61)}), 2);
  EXPECT_EQ(RanksIn(worker, room, ask, {absl::Seconds(61), /*owns=*/true}), 3);
}

TEST(RoomTest, WhatRunsBeyondAReservationLeavesLessForOthers) {
  WorkerEntry worker = FourDevices();
  Put(&worker, 0, absl::InfiniteDuration());
  Room room = RoomOf(worker);
  const Shape kept = Ranks(2, 1);
  Keep(worker, {}, {{kept, kCpu}, 2, absl::Seconds(60)}, &room);
  EXPECT_EQ(RanksIn(worker, room, {Ranks(4, 1), kCpu}, kEndless), 1);

  Occupant other = OccupantOf({Ranks(1, 1), kCpu}, {2});
  other.ends_by = absl::Seconds(70);
  Occupy(worker, other, &room);
  EXPECT_EQ(RanksIn(worker, room, {Ranks(4, 1), kCpu}, kEndless), 0);
  Vacate(worker, other, &room);
  EXPECT_EQ(RanksIn(worker, room, {Ranks(4, 1), kCpu}, kEndless), 1);
}

TEST(RoomTest, AnOpenReservationKeepsWhatIsFree) {
  WorkerEntry worker = FourDevices();
  Put(&worker, 0, absl::Seconds(50));
  Room room = RoomOf(worker);
  const Shape kept = Ranks(2, 1);
  Keep(worker, {}, {{kept, kCpu}, 2, absl::InfiniteDuration()}, &room);

  EXPECT_EQ(RanksIn(worker, room, {Ranks(4, 1), kCpu}, {absl::Seconds(40)}), 1);
}

TEST(RoomTest, TheIndexHasWhatMayBeHad) {
  WorkerEntry worker = FourDevices();
  Room room = RoomOf(worker);
  const Shape kept = Ranks(3, 1);
  Keep(worker, {}, {{kept, kCpu}, 3, absl::Seconds(60)}, &room);
  RoomIndex index;
  AddToIndex(7, room, &index);

  EXPECT_TRUE(index.at(kCpu).open.contains({1, 7}));
  EXPECT_TRUE(index.at(kCpu).held_back.contains({4, 7}));
  RemoveFromIndex(7, room, &index);
  EXPECT_TRUE(index.at(kCpu).open.empty());
  EXPECT_TRUE(index.at(kCpu).held_back.empty());
}

}  // namespace
}  // namespace ordo::scheduler::policy
