// The device code of CUDA kernels on an emulated device: the kernels' own
// source, the problems of attention_test.cc that they support.

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/case.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_rows.h"
#include "kernels/attention/testing/suite.h"
#include "kernels/common/testing/cuda_emulator.h"

namespace ordo::kernels::attention {
namespace {

using check::Case;
using check::RunOptions;

// Those that the kernel supports, for a device.
std::vector<Case> Problems() {
  const Kernel kernel = CudaKernel(TiledCuda());
  std::vector<Case> cases;
  for (Case c : check::Problems()) {
    c.problem.device = Device::kCuda;
    if (kernel.supports(c.problem).ok()) cases.push_back(c);
  }
  return cases;
}

class CudaEmulatedProblemsTest : public ::testing::TestWithParam<Case> {};

TEST_P(CudaEmulatedProblemsTest, IsNearTheReference) {
  kernels::testing::SetSchedule(1);
  testing::ExpectNearReference(GetParam(), CudaKernel(TiledCuda()),
                               RunOptions());
}

// Rows that begin where vectors do are copied as such.
TEST(CudaEmulatedTest, VectorsAndTheOrderOfWarpsChangeNoBit) {
  const std::set<std::string> chosen = {
      "length_65_bf16", "shared_keys_and_state_bf16",
      "biased_padded_shared_bf16", "near_biased_both_ways_bf16"};
  size_t count = 0;
  kernels::testing::SetSchedule(2);
  for (const Case& c : Problems()) {
    if (chosen.count(c.label) == 0) continue;
    ++count;
    SCOPED_TRACE(c.label);
    RunOptions vectors;
    vectors.gap = 8;
    testing::ExpectSameBits(c.problem, CudaKernel(TiledCuda()), vectors,
                            RunOptions());
  }
  EXPECT_EQ(count, chosen.size());
}

TEST(CudaEmulatedTest, NotANumberIsSeenByAllWhoSeeItsKeyOrAreItsQuery) {
  testing::ExpectNotANumberIsSeen(Type::kBfloat16, CudaKernel(TiledCuda()));
}

TEST(CudaEmulatedTest, WhatItDoesNotDoIsRefusedByName) {
  const std::vector<std::pair<std::string, std::function<void(Problem*)>>>
      refused = {
          {"must lie on a GPU", [](Problem* p) { p->device = Device::kCpu; }},
          {"type must be bf16", [](Problem* p) { p->type = Type::kFloat32; }},
          {"multiples of 8", [](Problem* p) { p->width = 20; }},
          {"multiples of 8", [](Problem* p) { p->values[0].width = 7; }},
          {"--config=cuda_all", [](Problem* p) { p->width = 256; }},
          {"--config=cuda_all", [](Problem* p) { p->values[0].width = 264; }},
          {"below 65536", [](Problem* p) { p->batch = 65536; }},
          {"64 pieces", [](Problem* p) { p->pieces = 65; }},
          {"a far product",
           [](Problem* p) {
             p->far_from = 9;
             p->heads = 2 * p->key_heads;
             p->values[0].heads = p->heads;
           }},
          {"position ids",
           [](Problem* p) { p->positioned = p->biased = true; }},
          {"products by channel", [](Problem* p) { p->by_channel = true; }},
          {"sums of weights",
           [](Problem* p) {
             p->summed = true;
             p->far_from = 9;
           }},
          {"multiples of 8", [](Problem* p) { p->key_band = 12; }},
          {"counted positions", [](Problem* p) { p->gates = Gates::kLogits; }},
      };
  for (const auto& [what, change] : refused) {
    Problem problem = check::Plain(70, 64);
    problem.device = Device::kCuda;
    problem.type = Type::kBfloat16;
    change(&problem);
    const absl::Status status = CudaKernel(TiledCuda()).supports(problem);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << what;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(what));
  }
}

INSTANTIATE_TEST_SUITE_P(Tiled, CudaEmulatedProblemsTest,
                         ::testing::ValuesIn(Problems()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

}  // namespace
}  // namespace ordo::kernels::attention
