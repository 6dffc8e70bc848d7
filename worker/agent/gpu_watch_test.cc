#include "worker/agent/gpu_watch.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::Device;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMib = 1 << 20;
constexpr char kGpu[] = "cuda:0";

std::vector<Device> Devices() {
  Device cpu;
  cpu.set_name("cpu:0");
  Device gpu;
  gpu.set_name(kGpu);
  gpu.set_uuid("GPU-a");
  return {cpu, gpu};
}

GpuUse UsedBy(pid_t pid) {
  GpuUse use;
  use.free_bytes = 100;
  use.used_bytes = 700;
  if (pid != 0) use.processes.push_back({pid, 700});
  return use;
}

class GpuWatchTest : public ::testing::Test {
 protected:
  void Turn(bool held) {
    now_ += absl::Milliseconds(10);
    watch_.OnTurn(held ? std::set<std::string>{kGpu} : std::set<std::string>{},
                  now_);
  }
  void Begin() { watch_.OnLookBegins(now_); }
  void End(const absl::StatusOr<GpuUse>& use) {
    GpuLook look;
    look.uses.emplace("GPU-a", use);
    watch_.OnLook(look, now_, absl::FromUnixSeconds(1000));
  }
  void Look(const absl::StatusOr<GpuUse>& use) {
    Begin();
    End(use);
  }
  void Fault(const std::string& code) {
    GpuLook look;
    look.faults.push_back({"GPU-a", {}});
    look.faults.back().fault.set_code(code);
    Begin();
    watch_.OnLook(look, now_, absl::FromUnixSeconds(1000));
  }
  Device Shown() const {
    Device device = Devices()[1];
    watch_.Complete(&device);
    return device;
  }

  GpuWatch watch_{Devices()};
  absl::Duration now_ = absl::Seconds(100);
};

TEST_F(GpuWatchTest, AGpuIsOfferedOnceTheDriverHasBeenAsked) {
  Turn(false);
  EXPECT_TRUE(watch_.IsDue(now_));
  EXPECT_NE(watch_.Withheld(kGpu), "");
  EXPECT_EQ(watch_.Withheld("cpu:0"), "");
  const int64_t before = watch_.sequence();
  Look(UsedBy(0));
  EXPECT_EQ(watch_.Withheld(kGpu), "");
  EXPECT_GT(watch_.sequence(), before);
  EXPECT_EQ(Shown().free_memory_bytes(), 100);
}

TEST_F(GpuWatchTest, LooksArePeriodicAndOneAtATime) {
  Turn(false);
  Begin();
  EXPECT_FALSE(watch_.IsDue(now_ + absl::Hours(1)));
  End(UsedBy(0));
  EXPECT_FALSE(watch_.IsDue(now_));
  EXPECT_EQ(watch_.TimeLeft(now_), GpuWatch::kPeriod);
  EXPECT_TRUE(watch_.IsDue(now_ + GpuWatch::kPeriod));
}

TEST_F(GpuWatchTest, NothingIsDueWithoutGpus) {
  GpuWatch none({Devices()[0]});
  EXPECT_FALSE(none.IsDue(now_));
  EXPECT_EQ(none.TimeLeft(now_), absl::InfiniteDuration());
}

TEST_F(GpuWatchTest, AForeignProcessIsNamedWithItsBytes) {
  Turn(false);
  Look(UsedBy(4711));
  EXPECT_THAT(watch_.Withheld(kGpu),
              AllOf(HasSubstr("process 4711"), HasSubstr("700 bytes")));
  EXPECT_EQ(Shown().withheld(), watch_.Withheld(kGpu));
  // It is soon looked whether it has gone.
  EXPECT_LE(watch_.TimeLeft(now_), absl::Seconds(1));
  Look(UsedBy(0));
  EXPECT_EQ(watch_.Withheld(kGpu), "");
}

TEST_F(GpuWatchTest, MemoryThatNobodyIsNamedForWithholdsToo) {
  Turn(false);
  GpuUse use;
  use.used_bytes = 2000 * kMib;
  use.drawing_bytes = 1900 * kMib;
  Look(use);
  EXPECT_EQ(watch_.Withheld(kGpu), "");
  use.drawing_bytes = 0;
  Look(use);
  EXPECT_THAT(watch_.Withheld(kGpu), HasSubstr("does not name"));
}

TEST_F(GpuWatchTest, ProcessesBesideAnAttemptAreItsOwn) {
  Turn(true);
  Look(UsedBy(4711));
  EXPECT_EQ(watch_.Withheld(kGpu), "");
}

TEST_F(GpuWatchTest, ALookThatBeganBesideAnAttemptSaysNothingOfAFreeGpu) {
  Turn(false);
  Look(UsedBy(0));
  Turn(true);
  Begin();
  Turn(false);
  End(UsedBy(4711));
  EXPECT_EQ(watch_.Withheld(kGpu), "");
  EXPECT_TRUE(watch_.IsDue(now_));
  Look(UsedBy(4711));
  EXPECT_THAT(watch_.Withheld(kGpu), HasSubstr("process 4711"));
}

TEST_F(GpuWatchTest, WhatAnAttemptLeftBehindWithholdsAtOnce) {
  Turn(true);
  Look(UsedBy(4711));
  Turn(false);
  EXPECT_THAT(watch_.Withheld(kGpu), HasSubstr("process 4711"));
}

TEST_F(GpuWatchTest, MemoryIsBackWhenALaterLookFindsNobody) {
  Turn(true);
  Look(UsedBy(4711));
  Turn(true);
  const absl::Duration end = now_;
  EXPECT_FALSE(watch_.MemoryIsBack({kGpu}, end, now_));
  EXPECT_TRUE(watch_.IsDue(now_));
  Look(UsedBy(4711));
  EXPECT_FALSE(watch_.MemoryIsBack({kGpu}, end, now_));
  EXPECT_LE(watch_.TimeLeft(now_), absl::Milliseconds(20));
  Look(UsedBy(0));
  EXPECT_TRUE(watch_.MemoryIsBack({kGpu}, end, now_));
}

TEST_F(GpuWatchTest, MemoryThatNeverComesBackKeepsNoAttempt) {
  Turn(true);
  const absl::Duration end = now_;
  Look(UsedBy(4711));
  EXPECT_FALSE(watch_.MemoryIsBack({kGpu}, end, now_));
  EXPECT_TRUE(watch_.MemoryIsBack({kGpu}, end, now_ + GpuWatch::kReturnLimit));
}

TEST_F(GpuWatchTest, ProcessorsGiveTheirMemoryBackByThemselves) {
  EXPECT_TRUE(watch_.MemoryIsBack({"cpu:0"}, now_, now_));
}

TEST_F(GpuWatchTest, AGpuThatIsLostIsWithheldEvenBesideAnAttempt) {
  Turn(true);
  Look(absl::UnavailableError("GPU is lost"));
  EXPECT_THAT(watch_.Withheld(kGpu), HasSubstr("GPU is lost"));
}

TEST_F(GpuWatchTest, ADriverThatHangsWithholdsUntilItAnswers) {
  Turn(false);
  Look(UsedBy(0));
  Begin();
  EXPECT_EQ(watch_.TimeLeft(now_), GpuWatch::kAnswerLimit);
  now_ += GpuWatch::kAnswerLimit;
  const int64_t before = watch_.sequence();
  Turn(false);
  EXPECT_THAT(watch_.Withheld(kGpu), HasSubstr("does not answer"));
  EXPECT_GT(watch_.sequence(), before);
  End(UsedBy(0));
  EXPECT_EQ(watch_.Withheld(kGpu), "");
}

TEST_F(GpuWatchTest, FaultsStayWithTheirTimeAndTheNewestAreKept) {
  const int64_t before = watch_.sequence();
  for (int i = 0; i <= GpuWatch::kMaxFaults; ++i) {
    Fault("XID_" + std::to_string(i));
  }
  EXPECT_GT(watch_.sequence(), before);
  const Device shown = Shown();
  ASSERT_EQ(shown.faults_size(), GpuWatch::kMaxFaults);
  EXPECT_EQ(shown.faults(0).code(), "XID_1");
  EXPECT_EQ(shown.faults(0).time().seconds(), 1000);
}

}  // namespace
}  // namespace ordo::worker::agent
