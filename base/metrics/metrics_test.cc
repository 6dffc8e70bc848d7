#include "base/metrics/metrics.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

MetricDefinition JobStates() {
  return {"ordo_test_state_jobs",
          "Jobs by state.",
          {{"state", {"QUEUED", "RUNNING"}}}};
}

TEST(CheckMetricNameTest, WantsPrefixPartsAndCounterSuffix) {
  EXPECT_THAT(CheckMetricName("ordo_worker_free_bytes", false), IsOk());
  EXPECT_THAT(CheckMetricName("ordo_worker_steps_total", true), IsOk());
  for (const char* name :
       {"", "ordo", "ordo_worker_bytes", "worker_a_free_bytes",
        "ordo_Worker_free_bytes", "ordo__free_bytes_x", "ordo_a_b_c_",
        "ordo_worker_free-bytes_x", "ordo_worker_steps_total"}) {
    EXPECT_THAT(CheckMetricName(name, false),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(name)))
        << name;
  }
  EXPECT_THAT(
      CheckMetricName("ordo_worker_steps_count", true),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("end in _total")));
}

TEST(MetricsRegistryTest, ListedLabelValuesAreThereFromTheStart) {
  MetricsRegistry registry;
  const GaugeFamily states = registry.AddGauge(JobStates());
  EXPECT_THAT(registry.Text(),
              HasSubstr("ordo_test_state_jobs{state=\"RUNNING\"} 0\n"));
  states.With({"RUNNING"}).Set(3);
  EXPECT_THAT(registry.Text(),
              HasSubstr("# HELP ordo_test_state_jobs Jobs by state.\n"
                        "# TYPE ordo_test_state_jobs gauge\n"));
  EXPECT_THAT(registry.Text(),
              HasSubstr("ordo_test_state_jobs{state=\"RUNNING\"} 3\n"));
}

TEST(MetricsRegistryTest, WhatIsRemovedIsNotShownAndBeginsAnew) {
  MetricsRegistry registry;
  const GaugeFamily depth = registry.AddGauge(
      {"ordo_test_queue_depth_jobs", "Jobs that wait.", {{"queue"}}});
  depth.With({"day"}).Set(1);
  depth.With({"night"}).Set(2);
  depth.Remove({"night"});
  depth.Remove({"night"});
  EXPECT_THAT(registry.Text(), HasSubstr("{queue=\"day\"} 1\n"));
  EXPECT_THAT(registry.Text(), Not(HasSubstr("night")));
  depth.With({"night"});
  EXPECT_THAT(registry.Text(), HasSubstr("{queue=\"night\"} 0\n"));
}

TEST(MetricsRegistryTest, ShowOnlyLeavesTheseAlone) {
  MetricsRegistry registry;
  const GaugeFamily held = registry.AddGauge(
      {"ordo_test_held_devices", "Devices.", {{"queue"}, {"kind"}}});
  ShowOnly(held, {{{"day", "cpu"}, 1}, {{"night", "cpu"}, 2}});
  ShowOnly(held, {{{"night", "cpu"}, 3}, {{"night", "cuda"}, 4}});
  const std::string page = registry.Text();
  EXPECT_THAT(page, Not(HasSubstr("day")));
  EXPECT_THAT(page, HasSubstr("{kind=\"cpu\",queue=\"night\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("{kind=\"cuda\",queue=\"night\"} 4\n"));
  held.RemoveIf([](const std::vector<std::string>& labels) {
    return labels[1] == "cuda";
  });
  EXPECT_THAT(registry.Text(), Not(HasSubstr("cuda")));
}

TEST(MetricsRegistryTest, ACounterIsRaisedAndNeverLowered) {
  MetricsRegistry registry;
  auto& counter =
      registry.AddCounter({"ordo_test_cpu_seconds_total", "Time."}).With({});
  RaiseTo(2.5, counter);
  RaiseTo(1, counter);
  EXPECT_EQ(counter.Value(), 2.5);
  RaiseTo(3, counter);
  EXPECT_EQ(counter.Value(), 3);
}

TEST(MetricsRegistryTest, WhatIsLookedUpIsAsOfThePage) {
  MetricsRegistry registry;
  const GaugeFamily pages =
      registry.AddGauge({"ordo_test_pages_made_pages", "Pages."});
  registry.OnCollect([pages] { pages.With({}).Increment(); });
  EXPECT_THAT(registry.Text(), HasSubstr("ordo_test_pages_made_pages 1\n"));
  EXPECT_THAT(registry.Text(), HasSubstr("ordo_test_pages_made_pages 2\n"));
  EXPECT_EQ(registry.registry()->Collect().size(), 1u);
}

TEST(MetricsRegistryTest, TellsWhatWasDeclared) {
  MetricsRegistry registry;
  registry.AddGauge(JobStates());
  registry.AddCounter({"ordo_test_rpc_calls_total", "Calls.", {{"method"}}});
  registry.AddHistogram({"ordo_test_b_latency_seconds", "Latency."}, {1, 2});
  const auto declared = registry.Declared();
  ASSERT_EQ(declared.size(), 3u);
  EXPECT_EQ(declared[0].definition.name, "ordo_test_b_latency_seconds");
  EXPECT_EQ(declared[0].type, "histogram");
  EXPECT_EQ(declared[1].type, "counter");
  EXPECT_EQ(declared[1].definition.labels[0].name, "method");
  EXPECT_EQ(declared[2].type, "gauge");
  EXPECT_EQ(declared[2].definition.help, "Jobs by state.");
}

TEST(MetricsRegistryTest, OpenLabelsAppearWhenUsed) {
  MetricsRegistry registry;
  const CounterFamily calls = registry.AddCounter(
      {"ordo_test_rpc_calls_total", "Calls.", {{"method"}, {"code", {"OK"}}}});
  EXPECT_THAT(registry.Text(), Not(HasSubstr("ordo_test_rpc_calls_total{")));
  calls.With({"Get", "OK"}).Increment();
  calls.With({"Get", "OK"}).Increment(2);
  EXPECT_THAT(registry.Text(), HasSubstr("ordo_test_rpc_calls_total{code=\"OK\""
                                         ",method=\"Get\"} 3\n"));
}

TEST(MetricsRegistryTest, EqualLabelValuesAreOneSeriesAndOthersAnother) {
  MetricsRegistry registry;
  const CounterFamily calls = registry.AddCounter(
      {"ordo_test_rpc_calls_total", "Calls.", {{"method"}, {"code"}}});
  const CounterFamily copy = calls;
  calls.With({"Get", "OK"}).Increment();
  copy.With({"Get", "OK"}).Increment();
  calls.With({"GetO", "K"}).Increment();
  EXPECT_EQ(&calls.With({"Get", "OK"}), &copy.With({"Get", "OK"}));
  EXPECT_NE(&calls.With({"Get", "OK"}), &calls.With({"GetO", "K"}));
  EXPECT_THAT(registry.Text(), HasSubstr("code=\"OK\",method=\"Get\"} 2\n"));
  EXPECT_THAT(registry.Text(), HasSubstr("code=\"K\",method=\"GetO\"} 1\n"));
}

TEST(MetricsRegistryTest, HistogramsCountByBucket) {
  MetricsRegistry registry;
  const HistogramFamily latency = registry.AddHistogram(
      {"ordo_test_rpc_latency_seconds", "Latency."}, LatencyBucketsSeconds());
  latency.With({}).Observe(0.003);
  const std::string text = registry.Text();
  EXPECT_THAT(text, HasSubstr("latency_seconds_bucket{le=\"0.0025\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("latency_seconds_bucket{le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("latency_seconds_count 1\n"));
}

TEST(MetricsDeathTest, AValueOutsideTheClosedSetIsABug) {
  MetricsRegistry registry;
  const GaugeFamily states = registry.AddGauge(JobStates());
  states.With({"RUNNING"}).Set(1);
  EXPECT_DEATH(states.With({"job-17"}), "has no state=\"job-17\"");
  EXPECT_DEATH(states.With({}), "ordo_test_state_jobs");
}

TEST(MetricsDeathTest, ABadNameIsABug) {
  MetricsRegistry registry;
  EXPECT_DEATH(registry.AddGauge({"jobs", "Jobs."}), "metric 'jobs'");
  EXPECT_DEATH(registry.AddGauge({"ordo_test_state_jobs", ""}), "needs a help");
}

}  // namespace
}  // namespace ordo::base
