#include "worker/agent/measurements.h"

#include <unistd.h>

#include "base/metrics/metrics.h"
#include "base/process/use.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::training::v1::ProgressRecord;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr AskedAt kAsked{absl::FromUnixSeconds(1000), absl::Seconds(50)};
constexpr absl::Duration kNow = absl::Seconds(60);

class MeasurementsTest : public ::testing::Test {
 protected:
  static ProgressRecord Step(int64_t step, double loss) {
    ProgressRecord record;
    record.mutable_step()->set_step(step);
    record.mutable_step()->set_loss(loss);
    return record;
  }

  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  Measurements measurements_{metrics_, {"cpu:0"}, kAsked};
};

TEST_F(MeasurementsTest, StepsCountFromWhereTheRunWentOn) {
  ProgressRecord started;
  started.mutable_started()->set_start_step(40);
  measurements_.OnRecord(started);
  measurements_.OnRecord(Step(41, 2.5));
  measurements_.OnRecord(Step(50, 1.5));
  EXPECT_EQ(metrics_.steps.With({"cpu:0"}).Value(), 10);
  EXPECT_EQ(metrics_.loss.With({"cpu:0"}).Value(), 1.5);
}

TEST_F(MeasurementsTest, WhatAStepTellsIsShownUntilTheEnd) {
  ProgressRecord record = Step(5, 1);
  record.mutable_step()->set_step_seconds(0.25);
  record.mutable_step()->set_peak_memory_bytes(4096);
  measurements_.OnRecord(record);
  EXPECT_EQ(metrics_.step_seconds.With({"cpu:0"}).Value(), 0.25);
  EXPECT_EQ(metrics_.training_memory.With({"cpu:0"}).Value(), 4096);
  measurements_.OnEnd(ObservedAttempt::EXIT);
  EXPECT_EQ(metrics_.step_seconds.With({"cpu:0"}).Value(), 0);
  EXPECT_EQ(metrics_.training_memory.With({"cpu:0"}).Value(), 0);
}

TEST_F(MeasurementsTest, TokensCountOnceAndFromWhereTheRunWentOn) {
  Measurements two(metrics_, {"cpu:0", "cpu:1"}, kAsked);
  const auto tell = [&two](int64_t step, int64_t tokens) {
    ProgressRecord record = Step(step, 1);
    record.mutable_step()->set_tokens(tokens);
    two.OnRecord(record);
  };
  tell(1, 100);
  tell(2, 250);
  EXPECT_EQ(metrics_.tokens.With({"cpu:0"}).Value(), 250);
  EXPECT_EQ(metrics_.tokens.With({"cpu:1"}).Value(), 0);
  ProgressRecord started;
  started.mutable_started()->set_start_step(2);
  two.OnRecord(started);
  tell(3, 400);
  tell(4, 450);
  EXPECT_EQ(metrics_.tokens.With({"cpu:0"}).Value(), 300);
}

TEST_F(MeasurementsTest, TheProcessOfATrainerIsLookedAtWhileItRuns) {
  measurements_.Look();
  EXPECT_EQ(metrics_.trainer_resident.With({"cpu:0"}).Value(), 0);
  SupervisorFacts facts;
  facts.trainer_pid = getpid();
  measurements_.OnFacts(facts, kNow);
  measurements_.Look();
  EXPECT_GT(metrics_.trainer_resident.With({"cpu:0"}).Value(), 0);
  measurements_.OnEnd(ObservedAttempt::EXIT);
  EXPECT_EQ(metrics_.trainer_resident.With({"cpu:0"}).Value(), 0);
  const double cpu = metrics_.trainer_cpu.With({"cpu:0"}).Value();
  measurements_.Look();
  EXPECT_EQ(metrics_.trainer_resident.With({"cpu:0"}).Value(), 0);
  EXPECT_EQ(metrics_.trainer_cpu.With({"cpu:0"}).Value(), cpu);
}

TEST_F(MeasurementsTest, CheckpointsAreTimedAndFailuresCounted) {
  ProgressRecord written;
  written.mutable_time()->set_seconds(1234);
  written.mutable_checkpoint()->set_write_seconds(2);
  written.mutable_checkpoint()->add_files()->set_size_bytes(1000);
  written.mutable_checkpoint()->add_files()->set_size_bytes(24);
  measurements_.OnRecord(written);
  ProgressRecord failed;
  failed.mutable_checkpoint_failed();
  measurements_.OnRecord(failed);
  EXPECT_EQ(metrics_.checkpoint_last_time.With({"cpu:0"}).Value(), 1234);
  EXPECT_EQ(metrics_.checkpoint_failures.With({}).Value(), 1);
  EXPECT_EQ(metrics_.checkpoint_bytes.With({}).Value(), 1024);
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_worker_checkpoint_write_seconds_sum 2"));
}

TEST_F(MeasurementsTest, StartIsMeasuredOnce) {
  SupervisorFacts facts;
  measurements_.OnFacts(facts, kNow);
  facts.trainer_start_ns = absl::ToUnixNanos(kAsked.wall + absl::Seconds(3));
  measurements_.OnFacts(facts, kNow);
  measurements_.OnFacts(facts, kNow);
  EXPECT_THAT(registry_.Text(),
              AllOf(HasSubstr("ordo_worker_start_seconds_count 1"),
                    HasSubstr("ordo_worker_start_seconds_sum 3")));
}

TEST_F(MeasurementsTest, AWallClockThatJumpsMakesNoStartLongerThanItTook) {
  SupervisorFacts facts;
  facts.trainer_start_ns = absl::ToUnixNanos(kAsked.wall + absl::Hours(9));
  measurements_.OnFacts(facts, kNow);
  Measurements back(metrics_, {"cpu:0"}, kAsked);
  facts.trainer_start_ns = absl::ToUnixNanos(kAsked.wall - absl::Hours(9));
  back.OnFacts(facts, kNow);
  EXPECT_THAT(registry_.Text(),
              AllOf(HasSubstr("ordo_worker_start_seconds_count 2"),
                    HasSubstr("ordo_worker_start_seconds_sum 10")));
}

TEST_F(MeasurementsTest, StartOfAnAdoptedAttemptIsNotMeasured) {
  Measurements adopted(metrics_, {"cpu:0"}, std::nullopt);
  SupervisorFacts facts;
  facts.trainer_start_ns = 1;
  adopted.OnFacts(facts, kNow);
  EXPECT_THAT(registry_.Text(), HasSubstr("ordo_worker_start_seconds_count 0"));
}

TEST_F(MeasurementsTest, WhatAnEarlierProcessCountedIsShownAndNotCounted) {
  Measurements adopted(metrics_, {"cpu:0"}, std::nullopt);
  const auto tell = [&adopted](int64_t step, int64_t tokens) {
    ProgressRecord record = Step(step, 2.5);
    record.mutable_step()->set_tokens(tokens);
    adopted.OnRecord(record);
    ProgressRecord written;
    written.mutable_time()->set_seconds(step);
    written.mutable_checkpoint()->add_files()->set_size_bytes(1000);
    adopted.OnRecord(written);
    ProgressRecord failed;
    failed.mutable_checkpoint_failed();
    adopted.OnRecord(failed);
  };
  tell(30, 900);
  EXPECT_EQ(metrics_.loss.With({"cpu:0"}).Value(), 2.5);
  EXPECT_EQ(metrics_.checkpoint_last_time.With({"cpu:0"}).Value(), 30);
  EXPECT_EQ(metrics_.steps.With({"cpu:0"}).Value(), 0);
  EXPECT_EQ(metrics_.tokens.With({"cpu:0"}).Value(), 0);
  EXPECT_EQ(metrics_.checkpoint_bytes.With({}).Value(), 0);
  EXPECT_EQ(metrics_.checkpoint_failures.With({}).Value(), 0);
  adopted.BeginToCount();
  tell(32, 1000);
  EXPECT_EQ(metrics_.steps.With({"cpu:0"}).Value(), 2);
  EXPECT_EQ(metrics_.tokens.With({"cpu:0"}).Value(), 100);
  EXPECT_EQ(metrics_.checkpoint_bytes.With({}).Value(), 1000);
  EXPECT_EQ(metrics_.checkpoint_failures.With({}).Value(), 1);
}

TEST_F(MeasurementsTest, TimeThatAnAdoptedTrainerHasUsedIsNotCountedAgain) {
  base::ProcessUse used;
  do {
    used = base::UseOf(getpid()).value_or(used);
  } while (used.cpu_seconds < 0.05);
  Measurements adopted(metrics_, {"cpu:0"}, std::nullopt);
  SupervisorFacts facts;
  facts.trainer_pid = getpid();
  adopted.OnFacts(facts, kNow);
  adopted.Look();
  EXPECT_GT(metrics_.trainer_resident.With({"cpu:0"}).Value(), 0);
  EXPECT_EQ(metrics_.trainer_cpu.With({"cpu:0"}).Value(), 0);
}

TEST_F(MeasurementsTest, EndClearsTheDeviceAndCountsTheCause) {
  measurements_.OnRecord(Step(1, 2.5));
  measurements_.OnEnd(ObservedAttempt::HANG);
  EXPECT_EQ(metrics_.loss.With({"cpu:0"}).Value(), 0);
  EXPECT_EQ(metrics_.attempts_ended.With({"hang"}).Value(), 1);
}

}  // namespace
}  // namespace ordo::worker::agent
