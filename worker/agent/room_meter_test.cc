#include "worker/agent/room_meter.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "gtest/gtest.h"
#include "worker/agent/metrics.h"

namespace ordo::worker::agent {
namespace {

class RoomMeterTest : public ::testing::Test {
 protected:
  RoomMeterTest() {
    for (const char* place : {"storage", "state"}) {
      EXPECT_TRUE(files_.MakeFolders(folder_.Path(place)).ok());
    }
    meter_ = std::make_unique<RoomMeter>(
        std::vector<RoomMeter::Place>{{"storage", folder_.Path("storage")},
                                      {"state", folder_.Path("state")}},
        faulty_, clock_, metrics_.free_bytes);
    meter_->Step();
    EXPECT_TRUE(WaitFor([this] { return Room("storage") > 0; }));
    EXPECT_TRUE(WaitFor([this] { return Room("state") > 0; }));
  }
  double Room(const char* place) {
    return metrics_.free_bytes.With({place}).Value();
  }
  static bool WaitFor(const std::function<bool()>& condition) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    return condition();
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FaultyFilesystem faulty_{files_};
  base::testing::FakeClock clock_;
  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  std::unique_ptr<RoomMeter> meter_;
};

TEST_F(RoomMeterTest, WhatHangsHasNoRoomUntilItAnswersAndHoldsUpNothingElse) {
  std::atomic<int> asked{0};
  std::atomic<bool> is_back{false};
  faulty_.Delay(base::testing::FileOperation::kFreeBytes, "/storage", [&] {
    ++asked;
    while (!is_back) std::this_thread::yield();
  });
  metrics_.free_bytes.With({"state"}).Set(0);
  clock_.Advance(RoomMeter::kPeriod);
  meter_->Step();
  EXPECT_TRUE(WaitFor([&] { return asked == 1; }));
  EXPECT_TRUE(WaitFor([this] { return Room("state") > 0; }));
  clock_.Advance(RoomMeter::kHungAfter - absl::Seconds(1));
  meter_->Step();
  EXPECT_GT(Room("storage"), 0);
  clock_.Advance(absl::Seconds(1));
  meter_->Step();
  EXPECT_EQ(Room("storage"), 0);
  EXPECT_GT(Room("state"), 0);
  EXPECT_EQ(asked, 1);
  is_back = true;
  EXPECT_TRUE(WaitFor([this] { return Room("storage") > 0; }));
}

TEST_F(RoomMeterTest, WhatCannotBeReachedHasNoRoom) {
  faulty_.Fail(base::testing::FileOperation::kFreeBytes, "/storage", EIO);
  clock_.Advance(RoomMeter::kPeriod - absl::Seconds(1));
  meter_->Step();
  EXPECT_EQ(faulty_.num_failed(), 0);
  clock_.Advance(absl::Seconds(1));
  meter_->Step();
  EXPECT_TRUE(WaitFor([this] { return Room("storage") == 0; }));
  EXPECT_GT(Room("state"), 0);
}

}  // namespace
}  // namespace ordo::worker::agent
