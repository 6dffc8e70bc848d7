// The device code of cuda_hopper on an emulated device, as
// cuda_emulated_test.cc tests that of cuda_tiled.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/attention/check/case.h"
#include "kernels/attention/check/crossed.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_rows.h"
#include "kernels/attention/testing/hopper_problems.h"
#include "kernels/attention/testing/suite.h"
#include "kernels/common/testing/captured.h"
#include "kernels/common/testing/cuda_emulator.h"

namespace ordo::kernels::attention {
namespace {

using check::Case;
using check::RunOptions;

// With rows where boxes can begin.
RunOptions Boxed() {
  RunOptions options;
  options.gap = 8;
  return options;
}

Problem PlainOnGpu(int64_t length) {
  Problem problem = check::Plain(length, 64);
  problem.device = Device::kCuda;
  problem.type = Type::kBfloat16;
  return problem;
}

// Those that the kernel supports, for a device.
std::vector<Case> Problems() {
  const Kernel kernel = CudaKernel(HopperCuda());
  std::vector<Case> cases;
  for (Case& c : testing::HopperProblems()) {
    c.problem.device = Device::kCuda;
    if (kernel.supports(c.problem).ok()) cases.push_back(std::move(c));
  }
  return cases;
}

class CudaHopperProblemsTest : public ::testing::TestWithParam<Case> {};

TEST_P(CudaHopperProblemsTest, IsNearTheReference) {
  kernels::testing::SetSchedule(1);
  testing::ExpectNearReference(GetParam(), CudaKernel(HopperCuda()), Boxed());
}

// With rows elsewhere it is another kernel, which has its own rounding.
TEST(CudaHopperTest, RowsMayBeginAnywhere) {
  kernels::testing::SetSchedule(2);
  for (const Case& c : Problems()) {
    if (c.label != "shared_keys_and_state_bf16" &&
        c.label != "shared_keys_and_state_fp16") {
      continue;
    }
    testing::ExpectNearReference(c, CudaKernel(HopperCuda()), RunOptions());
  }
}

TEST(CudaHopperTest, TheOrderOfWarpsAndOfCopiesChangesNoBit) {
  std::set<std::string> chosen = {"length_200_bf16",
                                  "shared_keys_and_state_bf16",
                                  "biased_padded_shared_bf16",
                                  "near_biased_both_ways_bf16",
                                  "wide_state_shared_bounded_bf16",
                                  "long_query_band_shared_bf16",
                                  "far_pair_shared_long_chunk_bf16",
                                  "rectified_near_padded_both_ways_bf16"};
  for (const ScoreMod mod : kScoreMods) {
    chosen.insert(check::LabelOf(mod) + "_padded_shared_both_ways_bf16");
  }
  size_t count = 0;
  kernels::testing::SetSchedule(3);
  for (const Case& c : Problems()) {
    if (chosen.count(c.label) == 0) continue;
    ++count;
    SCOPED_TRACE(c.label);
    RunOptions others = Boxed();
    others.gap = 16;
    testing::ExpectSameBits(c, CudaKernel(HopperCuda()), Boxed(), others);
  }
  EXPECT_EQ(count, chosen.size());
}

// Optimizers would make steps of what rounding leaves.
TEST(CudaHopperTest, VectorsOfDistancesThatNoPairHasGetNoGradientAtAll) {
  Problem problem = PlainOnGpu(40);
  problem.query_band = 64;
  problem.reach = 50;
  Tensors found = check::MakeTensors(problem, 3);
  ASSERT_EQ(
      check::RunKernel(problem, CudaKernel(HopperCuda()), Boxed(), &found), "");
  const std::vector<double>& changes = found.d_inputs[kQueryVector];
  const auto seen = changes.begin() + 11 * problem.query_band;
  EXPECT_EQ(std::count(changes.begin(), seen, 0.0), seen - changes.begin());
  EXPECT_EQ(std::count(seen, seen + problem.query_band, 0.0), 0);
}

TEST(CudaHopperTest, TheVectorOfFarKeysThatAreAllPaddingGetsNoGradientAtAll) {
  Problem problem = PlainOnGpu(40);
  problem.query_band = 64;
  problem.reach = 30;
  problem.padded = true;
  Tensors found = check::MakeTensors(problem, 3);
  // Only the last ten queries have keys at the farthest distance, the first
  // ten.
  for (int64_t i = 0; i < problem.batch * problem.keys; ++i) {
    found.real_BS[i] = i % problem.keys < 10 ? 0 : 1;
  }
  ASSERT_EQ(
      check::RunKernel(problem, CudaKernel(HopperCuda()), Boxed(), &found), "");
  const auto farthest = found.d_inputs[kQueryVector].begin();
  const auto next = farthest + problem.query_band;
  EXPECT_EQ(std::count(farthest, next, 0.0), problem.query_band);
  EXPECT_EQ(std::count(next, next + problem.query_band, 0.0), 0);
}

TEST(CudaHopperTest, FarKeysAreLeftOutWhereABiasLeavesThemNoWeight) {
  testing::ExpectFarKeysAreLeftOut(Type::kBfloat16, CudaKernel(HopperCuda()),
                                   Boxed());
}

TEST(CudaHopperTest, WideAndLongProblemsOfAProbeAreNearTheReference) {
  size_t count = 0;
  kernels::testing::SetSchedule(1);
  for (const Case& c : check::SmallProblems(Device::kCuda)) {
    if (c.label != "plain_wide_bf16" && c.label != "long_falling_bf16" &&
        c.label != "long_query_band_bf16") {
      continue;
    }
    ++count;
    SCOPED_TRACE(c.label);
    testing::ExpectNearReference(c, CudaKernel(HopperCuda()), Boxed());
  }
  EXPECT_EQ(count, 3);
}

TEST(CudaHopperTest, FromGraphsPassesGiveTheSameBits) {
  const std::set<std::string> chosen = {
      "equal_state_bf16", "biased_bf16", "query_band_bf16", "far_pair_bf16",
      check::LabelOf(kScoreMods[0]) + "_bf16"};
  size_t count = 0;
  RunOptions options = Boxed();
  options.memory =
      &kernels::testing::CountedMemory(kernels::testing::HostMemory());
  for (const Case& c : check::SmallProblems(Device::kCuda)) {
    if (chosen.count(c.label) == 0) continue;
    ++count;
    SCOPED_TRACE(c.label);
    testing::ExpectSameBitsFromGraphs(c.problem, CudaKernel(HopperCuda()),
                                      kernels::testing::EmulatedGraphs(),
                                      options);
  }
  EXPECT_EQ(count, chosen.size());
}

TEST(CudaHopperTest, WhatItDoesNotDoIsRefusedByName) {
  testing::ExpectRefused(
      CudaKernel(HopperCuda()), PlainOnGpu(70),
      {
          {"must lie on a GPU", [](Problem* p) { p->device = Device::kCpu; }},
          {"type must be bf16", [](Problem* p) { p->type = Type::kFloat32; }},
          {"multiples of 8", [](Problem* p) { p->width = 20; }},
          {"multiples of 8", [](Problem* p) { p->values[0].width = 7; }},
          {"above 0", [](Problem* p) { p->scale = 0; }},
          {"--config=cuda_all", [](Problem* p) { p->width = 256; }},
          {"--config=cuda_all", [](Problem* p) { p->values[0].width = 264; }},
          {"--config=cuda_all",
           [](Problem* p) {
             p->type = Type::kFloat16;
             p->width = 72;
           }},
          {"below 65536", [](Problem* p) { p->batch = 65536; }},
          {"2^30", [](Problem* p) { p->keys = int64_t{1} << 30; }},
          {"multipliers beside a bias",
           [](Problem* p) { p->multiplied = p->biased = true; }},
          {"rectified products without multipliers",
           [](Problem* p) { p->rectified = true; }},
          {"score mods beside a bias",
           [](Problem* p) {
             p->mod = kScoreMods[0];
             p->pieces = 2;
             p->biased = true;
           }},
          {"64 pieces",
           [](Problem* p) {
             p->mod = kScoreMods[0];
             p->pieces = 65;
           }},
          {"position ids",
           [](Problem* p) {
             p->mod = kScoreMods[0];
             p->pieces = 2;
             p->positioned = true;
           }},
          {"by channel", [](Problem* p) { p->by_channel = true; }},
          {"a far product beside tables",
           [](Problem* p) {
             p->far_from = 9;
             p->biased = true;
           }},
          {"a far product beside tables",
           [](Problem* p) {
             p->far_from = 9;
             p->query_band = 8;
           }},
          {"a far product with values of heads that share keys",
           [](Problem* p) {
             p->far_from = 9;
             p->heads = 2 * p->key_heads;
             p->values[0].heads = p->heads;
           }},
          {"position ids",
           [](Problem* p) {
             p->far_from = 9;
             p->positioned = true;
           }},
          {"sums of weights", [](Problem* p) { p->summed = true; }},
          {"position ids",
           [](Problem* p) { p->positioned = p->biased = true; }},
          {"position ids",
           [](Problem* p) { p->positioned = p->multiplied = true; }},
          {"counted positions", [](Problem* p) { p->gates = Gates::kLogits; }},
      });
}

TEST(CudaHopperTest, VectorsOfDistancesThatItDoesNotDoAreRefusedByName) {
  testing::ExpectRefused(
      CudaKernel(HopperCuda()), PlainOnGpu(70),
      {
          {"vectors of distances at keys", [](Problem* p) { p->key_band = 8; }},
          {"multiples of 8", [](Problem* p) { p->query_band = 12; }},
          {"of 64 distances at most",
           [](Problem* p) {
             p->query_band = 8;
             p->reach = 64;
           }},
          {"without keys after the query",
           [](Problem* p) {
             p->query_band = 8;
             p->causal = false;
           }},
          {"vectors of distances beside other tables",
           [](Problem* p) {
             p->query_band = 8;
             p->biased = true;
           }},
          {"vectors of distances beside other tables",
           [](Problem* p) {
             p->query_band = 8;
             p->mod = kScoreMods[0];
             p->pieces = 2;
           }},
          {"vectors of distances where k and the values",
           [](Problem* p) {
             p->query_band = 8;
             p->values[0].width = 256;
           }},
          {"--config=cuda_all", [](Problem* p) { p->query_band = 136; }},
          {"position ids",
           [](Problem* p) {
             p->positioned = true;
             p->query_band = 8;
           }},
      });
}

// Of the widths that libraries are built for by default; single tokens are
// among check::SizedProblems().
std::vector<Case> CrossedProblems() {
  const Kernel kernel = CudaKernel(HopperCuda());
  const auto on_gpu = [](Problem problem) {
    problem.device = Device::kCuda;
    problem.type = Type::kBfloat16;
    return problem;
  };
  std::vector<Case> cases;
  for (const check::Crossed& c : check::CrossedProblems(
           {{{32, 64, 96, 128}, {17, 70}, /*one_query=*/true}, {{64}, {150}}},
           [&](const Problem& problem) {
             return kernel.supports(on_gpu(problem)).ok();
           })) {
    cases.push_back(check::InBfloat16(c.of));
    cases.back().problem.device = Device::kCuda;
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Crossed, CudaHopperProblemsTest,
                         ::testing::ValuesIn(CrossedProblems()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

INSTANTIATE_TEST_SUITE_P(Hopper, CudaHopperProblemsTest,
                         ::testing::ValuesIn(Problems()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

}  // namespace
}  // namespace ordo::kernels::attention
