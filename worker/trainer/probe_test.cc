#include "worker/trainer/probe.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/probe/testing/broken_kernels.h"
#include "nlohmann/json.hpp"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ProbeTest : public ::testing::Test {
 protected:
  ProbeTest() {
    options_.device = "cpu:0";
    options_.build_digest = "0123456789abcdef";
    options_.gpu_kernels = "no/such/library.so";
  }

  absl::StatusOr<ordo::training::v1::KernelProbe> Run() {
    return Probe(files_, clock_, options_);
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  ProbeOptions options_;
};

TEST_F(ProbeTest, AllKernelsOfThisProcessorPass) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto probe, Run());
  EXPECT_THAT(probe.passed(), Not(IsEmpty()));
  EXPECT_THAT(probe.failed(), IsEmpty()) << probe.DebugString();
  EXPECT_EQ(probe.kind(), "cpu");
  EXPECT_EQ(probe.build_digest(), "0123456789abcdef");
  EXPECT_TRUE(probe.has_time());
}

TEST_F(ProbeTest, ALineOfJsonHasAllAndTheTableSaysIt) {
  ordo::training::v1::KernelProbe probe;
  probe.set_kind("cpu");
  probe.set_hardware("a processor");
  probe.add_passed("rows/right");
  auto& failure = *probe.add_failed();
  failure.set_kernel("attention/wrong");
  failure.set_problem("padded_bf16");
  failure.set_message("d k");
  failure.set_error(0.5);
  failure.set_bound(0.001);
  auto& refused = *probe.add_refused();
  refused.set_kernel("update/other");
  refused.set_message("this processor has no AVX-512");
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string line, ProbeText(probe, "json"));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["passed"][0], "rows/right");
  EXPECT_EQ(json["failed"][0]["problem"], "padded_bf16");
  EXPECT_EQ(json["failed"][0]["bound"], 0.001);
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string table, ProbeText(probe, ""));
  EXPECT_THAT(table, HasSubstr("FAILED   attention/wrong: padded_bf16: d k is "
                               "0.5 off, at most 0.001 is right\n"));
  EXPECT_THAT(table, HasSubstr("refused  update/other: this processor has no"));
  EXPECT_THAT(table, HasSubstr("1 kernels passed, 1 failed\n"));
  EXPECT_THAT(ProbeText(probe, "xml"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("xml")));
}

TEST_F(ProbeTest, ADeviceThatIsNoneIsRefusedByName) {
  for (const char* name :
       {"", "gpu", "cpu:1", "cuda:x", "cuda:-1", "cuda:0:1"}) {
    options_.device = name;
    EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("cpu:0, cuda or cuda:<index>")))
        << name;
  }
}

TEST_F(ProbeTest, AGpuWithoutKernelsIsUnavailable) {
  options_.device = "cuda:1";
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kUnavailable,
                              HasSubstr("no/such/library.so")));
}

TEST_F(ProbeTest, WithoutTimeNothingPasses) {
  options_.limit = absl::ZeroDuration();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto probe, Run());
  EXPECT_THAT(probe.passed(), IsEmpty());
  ASSERT_THAT(probe.failed(), Not(IsEmpty()));
  EXPECT_THAT(probe.failed(0).message(), HasSubstr("no time left"));
  EXPECT_EQ(probe.failed(0).problem(), "");
}

// The last, as the table keeps them.
TEST_F(ProbeTest, KernelsThatCrashOrAreWrongFailByThemselves) {
  kernels::probe::testing::AddBrokenKernels();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto probe, Run());
  EXPECT_THAT(probe.passed(), Not(IsEmpty()));
  ASSERT_EQ(probe.failed_size(), 4) << probe.DebugString();
  EXPECT_EQ(probe.failed(0).kernel(), "attention/cpu_crashing");
  EXPECT_THAT(probe.failed(0).message(), HasSubstr("Illegal instruction"));
  EXPECT_EQ(probe.failed(0).problem(), "");
  EXPECT_EQ(probe.failed(1).kernel(), "attention/cpu_idle");
  EXPECT_EQ(probe.failed(1).problem(), "plain");
  EXPECT_EQ(probe.failed(2).kernel(), "attention/cpu_wrong");
  EXPECT_GT(probe.failed(2).error(), probe.failed(2).bound());
  EXPECT_EQ(probe.failed(3).kernel(), "update/cpu_forgetful");
}

}  // namespace
}  // namespace ordo::worker::trainer
