#include "worker/agent/gpu_metrics.h"

#include <string>

#include "absl/status/status.h"
#include "base/metrics/metrics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::Device;
using ::testing::HasSubstr;
using ::testing::Not;

class GpuMetricsTest : public ::testing::Test {
 protected:
  GpuMetricsTest() {
    for (const char* name : {"cuda:0", "cuda:1"}) {
      devices_.emplace_back();
      devices_.back().set_name(name);
      devices_.back().set_uuid(std::string("GPU-") + name);
    }
    GpuUse use;
    use.used_bytes = 700;
    use.free_bytes = 300;
    use.utilization = 0.5;
    use.temperature_celsius = 61;
    use.power_watts = 250;
    use.corrected_errors = 3;
    look_.uses.emplace("GPU-cuda:0", use);
    look_.uses.emplace("GPU-cuda:1", GpuUse());
  }

  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  std::vector<Device> devices_;
  GpuLook look_;
};

TEST_F(GpuMetricsTest, WhatADriverTellsIsShownByDevice) {
  ShowGpus(devices_, look_, metrics_);
  const std::string page = registry_.Text();
  for (const char* line : {
           "utilization_ratio{device=\"cuda:0\"} 0.5",
           "memory_used_bytes{device=\"cuda:0\"} 700",
           "memory_free_bytes{device=\"cuda:0\"} 300",
           "temperature_celsius{device=\"cuda:0\"} 61",
           "power_watts{device=\"cuda:0\"} 250",
           "ecc_errors_total{device=\"cuda:0\",kind=\"corrected\"} 3",
           "memory_used_bytes{device=\"cuda:1\"} 0",
       }) {
    EXPECT_THAT(page, HasSubstr(std::string("ordo_worker_gpu_") + line + "\n"));
  }
  EXPECT_THAT(page, Not(HasSubstr("gpu_power_watts{device=\"cuda:1\"}")));
  EXPECT_THAT(page, Not(HasSubstr("kind=\"uncorrected\"")));
}

TEST_F(GpuMetricsTest, AGpuThatDoesNotAnswerIsNotShown) {
  ShowGpus(devices_, look_, metrics_);
  look_.uses.at("GPU-cuda:0") = absl::UnavailableError("GPU is lost");
  ShowGpus(devices_, look_, metrics_);
  EXPECT_THAT(registry_.Text(),
              Not(HasSubstr("gpu_memory_used_bytes{device=\"cuda:0\"}")));
}

TEST_F(GpuMetricsTest, FaultsAreCountedByCodesOfAClosedSet) {
  DescribeXid(79, &look_.faults.emplace_back().fault);
  look_.faults.back().uuid = "GPU-cuda:1";
  for (const uint64_t unknown : {900, 901, 902}) {
    DescribeXid(unknown, &look_.faults.emplace_back().fault);
    look_.faults.back().uuid = "GPU-cuda:1";
  }
  look_.faults.push_back({"GPU-elsewhere", DoubleBitFault()});
  ShowGpus(devices_, look_, metrics_);
  const auto count = [this](const char* code) {
    return metrics_.gpu_faults.With({"cuda:1", code}).Value();
  };
  EXPECT_EQ(count("XID_79"), 1);
  EXPECT_EQ(count("other"), 3);
  EXPECT_THAT(registry_.Text(), Not(HasSubstr("XID_900")));
  EXPECT_THAT(registry_.Text(), Not(HasSubstr("\"ECC_DOUBLE_BIT\"")));
}

}  // namespace
}  // namespace ordo::worker::agent
