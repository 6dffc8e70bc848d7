#include "worker/agent/probe_plan.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::StoredProbe;
using ::ordo::training::v1::KernelProbe;
using ::ordo::workers::v1::Device;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kNow = absl::Seconds(100);

Device Named(const std::string& name) {
  Device device;
  device.set_name(name);
  device.set_kind(name.substr(0, name.find(':')));
  return device;
}

KernelProbe Report(const std::vector<std::string>& wrong) {
  KernelProbe probe;
  probe.add_passed("attention/right");
  for (const std::string& kernel : wrong) {
    auto& failure = *probe.add_failed();
    failure.set_kernel(kernel);
    failure.set_problem("plain");
  }
  return probe;
}

StoredProbe Stored(const std::string& key) {
  StoredProbe stored;
  stored.set_key(key);
  *stored.mutable_probe() = Report({});
  return stored;
}

TEST(ProbePlanTest, ADeviceIsWithheldUntilItsProbeHasEnded) {
  ProbePlan plan({Named("cpu:0")});
  EXPECT_THAT(plan.Devices()[0].withheld(), HasSubstr("probed"));
  EXPECT_FALSE(plan.Next(kNow).has_value());
  plan.OnKey("cpu:0", "a", {});
  EXPECT_EQ(plan.Next(kNow), "cpu:0");
  EXPECT_LE(plan.TimeLeft(kNow), absl::ZeroDuration());
  plan.OnStarted("cpu:0");
  EXPECT_FALSE(plan.Next(kNow).has_value());
  EXPECT_EQ(plan.TimeLeft(kNow), absl::InfiniteDuration());
  EXPECT_THAT(plan.Devices()[0].withheld(), HasSubstr("being probed"));
  const int64_t before = plan.sequence();
  EXPECT_TRUE(plan.OnReport(Report({}), kNow));
  EXPECT_GT(plan.sequence(), before);
  EXPECT_EQ(plan.Devices()[0].withheld(), "");
  EXPECT_THAT(plan.Devices()[0].probe().passed(),
              ElementsAre("attention/right"));
  EXPECT_FALSE(plan.Next(kNow).has_value());
  EXPECT_EQ(plan.ToStore("cpu:0").key(), "a");
}

TEST(ProbePlanTest, AnEarlierReportCountsForTheSameKeyOnly) {
  ProbePlan plan({Named("cpu:0"), Named("cuda:0")});
  EXPECT_TRUE(plan.OnKey("cpu:0", "a", Stored("a")));
  EXPECT_FALSE(plan.OnKey("cpu:0", "a", Stored("a")));
  EXPECT_FALSE(plan.OnKey("cuda:0", "b", Stored("of another driver")));
  EXPECT_EQ(plan.Devices()[0].withheld(), "");
  EXPECT_TRUE(plan.Devices()[0].has_probe());
  EXPECT_FALSE(plan.Devices()[1].has_probe());
  EXPECT_EQ(plan.Next(kNow), "cuda:0");
}

TEST(ProbePlanTest, OneReportCountsForAllSlotsOfAProcessor) {
  ProbePlan plan({Named("cpu:0"), Named("cpu:1"), Named("cuda:0")});
  for (const char* device : {"cpu:0", "cpu:1", "cuda:0"}) {
    plan.OnKey(device, "a", {});
  }
  plan.OnStarted("cpu:1");
  EXPECT_TRUE(plan.OnReport(Report({}), kNow));
  EXPECT_EQ(plan.Devices()[0].withheld(), "");
  EXPECT_EQ(plan.Devices()[1].withheld(), "");
  EXPECT_NE(plan.Devices()[2].withheld(), "");
  EXPECT_EQ(plan.Next(kNow), "cuda:0");
}

TEST(ProbePlanTest, AnotherDriverWithholdsTheDeviceAndProbesAgain) {
  ProbePlan plan({Named("cuda:0")});
  plan.OnKey("cuda:0", "a", Stored("a"));
  const int64_t before = plan.sequence();
  plan.OnKey("cuda:0", "a", {});
  EXPECT_EQ(plan.sequence(), before);
  plan.OnKey("cuda:0", "b", {});
  EXPECT_THAT(plan.Devices()[0].withheld(), HasSubstr("to be probed"));
  EXPECT_FALSE(plan.Devices()[0].has_probe());
  EXPECT_EQ(plan.Next(kNow), "cuda:0");
}

TEST(ProbePlanTest, AReportOfWhatWasDoesNotCount) {
  ProbePlan plan({Named("cuda:0")});
  plan.OnKey("cuda:0", "a", {});
  plan.OnStarted("cuda:0");
  plan.OnKey("cuda:0", "b", {});
  EXPECT_FALSE(plan.OnReport(Report({}), kNow));
  EXPECT_FALSE(plan.Devices()[0].has_probe());
  EXPECT_EQ(plan.Next(kNow), "cuda:0");
}

TEST(ProbePlanTest, WithoutAReportItIsTriedAgainLater) {
  ProbePlan plan({Named("cpu:0"), Named("cuda:0")});
  plan.OnKey("cpu:0", "a", {});
  plan.OnKey("cuda:0", "b", {});
  plan.OnStarted("cpu:0");
  plan.OnFailure("killed by signal 4", kNow);
  EXPECT_THAT(plan.Devices()[0].withheld(), HasSubstr("killed by signal 4"));
  // Others need not wait for it.
  EXPECT_EQ(plan.Next(kNow), "cuda:0");
  plan.OnStarted("cuda:0");
  plan.OnReport(Report({}), kNow);
  EXPECT_FALSE(plan.Next(kNow).has_value());
  EXPECT_EQ(plan.TimeLeft(kNow), ProbePlan::kRetryPeriod);
  EXPECT_EQ(plan.Next(kNow + ProbePlan::kRetryPeriod), "cpu:0");
}

TEST(ProbePlanTest, NoProbeBeginsBesideAnAttempt) {
  ProbePlan plan({Named("cpu:0"), Named("cuda:0")});
  plan.OnKey("cpu:0", "a", {});
  plan.OnHeld({"cpu:0"});
  EXPECT_FALSE(plan.Next(kNow).has_value());
  // Nor is it waited for in turns.
  EXPECT_EQ(plan.TimeLeft(kNow), absl::InfiniteDuration());
  plan.OnKey("cuda:0", "b", {});
  EXPECT_EQ(plan.Next(kNow), "cuda:0");
  plan.OnHeld({});
  EXPECT_EQ(plan.Next(kNow), "cpu:0");
}

TEST(ProbePlanTest, AKernelWithoutAnAnswerIsLeftOutAndProbedAgain) {
  ProbePlan plan({Named("cpu:0")});
  plan.OnKey("cpu:0", "a", {});
  plan.OnStarted("cpu:0");
  KernelProbe report = Report({"rows/slow"});
  EXPECT_TRUE(IsWhole(report));
  report.mutable_failed(0)->clear_problem();
  EXPECT_FALSE(IsWhole(report));
  EXPECT_TRUE(plan.OnReport(report, kNow));
  EXPECT_EQ(plan.Devices()[0].withheld(), "");
  EXPECT_THAT(plan.WrongKernels({"cpu:0"}), ElementsAre("rows/slow"));
  EXPECT_FALSE(plan.Next(kNow).has_value());
  EXPECT_EQ(plan.Next(kNow + ProbePlan::kAgainPeriod), "cpu:0");
  plan.OnStarted("cpu:0");
  EXPECT_THAT(plan.Devices()[0].withheld(), HasSubstr("being probed"));
}

TEST(ProbePlanTest, ADeviceOfWhichNoKernelGaveAnAnswerIsWithheld) {
  ProbePlan plan({Named("cuda:0")});
  plan.OnKey("cuda:0", "a", {});
  plan.OnStarted("cuda:0");
  KernelProbe report;
  report.add_failed()->set_message("no memory");
  EXPECT_FALSE(plan.OnReport(report, kNow));
  EXPECT_THAT(plan.Devices()[0].withheld(), HasSubstr("no memory"));
  EXPECT_FALSE(plan.Next(kNow).has_value());
  EXPECT_EQ(plan.Next(kNow + ProbePlan::kRetryPeriod), "cuda:0");
}

TEST(ProbePlanTest, AWithheldDeviceIsForNoTask) {
  ProbePlan plan({Named("cpu:0"), Named("cuda:0")});
  plan.OnKey("cpu:0", "a", Stored("a"));
  EXPECT_TRUE(plan.CheckOffered({"cpu:0", "cuda:7"}).ok());
  const absl::Status status = plan.CheckOffered({"cpu:0", "cuda:0"});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cuda:0 is withheld: its kernels"));
}

TEST(ProbePlanTest, KernelsThatAreWrongAreNamedOfTheTasksDevices) {
  ProbePlan plan({Named("cpu:0"), Named("cuda:0")});
  plan.OnKey("cpu:0", "a", {});
  plan.OnKey("cuda:0", "b", {});
  for (const char* device : {"cpu:0", "cuda:0"}) {
    plan.OnStarted(device);
    plan.OnReport(Report({"rows/both", std::string("attention/") + device}),
                  kNow);
  }
  EXPECT_EQ(plan.Devices()[0].withheld(), "");
  EXPECT_THAT(plan.WrongKernels({"cpu:0"}),
              ElementsAre("attention/cpu:0", "rows/both"));
  EXPECT_THAT(plan.WrongKernels({"cpu:0", "cuda:0"}),
              ElementsAre("attention/cpu:0", "attention/cuda:0", "rows/both"));
  EXPECT_THAT(plan.WrongKernels({"cuda:7"}), IsEmpty());
}

}  // namespace
}  // namespace ordo::worker::agent
