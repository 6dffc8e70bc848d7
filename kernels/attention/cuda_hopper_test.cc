// The device code of cuda_hopper on an emulated device, as
// cuda_emulated_test.cc tests that of cuda_tiled.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/attention/check/case.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_rows.h"
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

// TAPE's with wide heads, whose gradients two kernels have: of several tiles of
// keys, and beside a bias, for which there are no such kernels.
std::vector<Case> WideStates(const Case& state) {
  Case shared = state, biased = state;
  shared.label = "wide_state_shared_bounded_bf16";
  Problem& p = shared.problem;
  p.queries = p.keys = 150;
  p.heads = p.values[1].heads = 4;
  p.key_heads = p.values[0].heads = 2;
  p.bounded = true;
  biased.label = "wide_state_biased_bf16";
  biased.problem.biased = true;
  biased.problem.reach = biased.problem.keys - 1;
  return {state, shared, biased};
}

// Vectors of distances in rows of many tiles, most of whose keys are as far as
// any can be: of heads that share keys, of a chunk that begins within a tile,
// beside a wide state, and of as many distances and columns as there may be.
// Blocks of dX have several tiles of queries, and threads that sum up its parts
// more of these than they read at once.
std::vector<Case> LongBands(const Case& band) {
  Case shared = band, padded = band, state = band, most = band;
  for (Case* const c : {&shared, &padded, &state, &most}) {
    c->problem.queries = c->problem.keys = 330;
    c->problem.batch = 1;
  }
  shared.label = "long_query_band_shared_bf16";
  shared.problem.heads = 4;
  shared.problem.key_heads = shared.problem.values[0].heads = 2;
  shared.problem.queries = 301;
  padded.label = "long_query_band_padded_bounded_bf16";
  padded.problem.batch = 2;
  padded.problem.padded = padded.problem.bounded = true;
  padded.problem.table_heads = padded.problem.heads;
  state.label = "long_query_band_state_bf16";
  state.problem.num_values = 2;
  state.problem.values[1] = {64, state.problem.heads};
  most.label = "long_query_band_128_of_64_distances_bf16";
  most.problem.reach = 63;
  most.problem.query_band = 128;
  return {shared, padded, state, most};
}

// t falls from level to level, and most of all tiles see one: a pair's number
// is far from all knots, of which some lie between pairs of a block, and others
// between tiles.
void DrawLevels(const Problem& p, Tensors* tensors) {
  std::vector<double>& t = tensors->inputs[kModDistance];
  for (int64_t i = 0; i < p.distances(); ++i) {
    const int64_t d = std::abs(i - p.reach);
    t[i] = static_cast<double>(d < 50 ? d / 5 : 10 + d / 200) / 4 - 1;
  }
  std::vector<double>& r = tensors->inputs[kModQuery];
  for (size_t i = 0; i < r.size(); ++i) r[i] = i % 250 < 100 ? 1 : -0.5;
  for (size_t i = 0; i < tensors->knots.size(); ++i) {
    tensors->knots[i] = static_cast<double>(i) / 4 - 1.15625;
  }
}

// With a score mod: of a single token, of cached decoding, in fp16, and beside
// states so wide that there is a forward pass only.
std::vector<Case> SmallModProblems(ScoreMod mod) {
  Problem p = check::Plain(70, 64);
  p.type = Type::kBfloat16;
  p.batch = 1;
  p.heads = 2;
  p.key_heads = p.values[0].heads = 1;
  p.mod = mod;
  p.pieces = 9;
  p.reach = p.keys - 1;
  Problem token = p, query = p, halves = p, state = p;
  token.queries = token.keys = 1;
  token.reach = 0;
  query.queries = 1;
  halves.type = Type::kFloat16;
  state.width = state.values[0].width = 128;
  state.num_values = 2;
  state.values[1] = {128, state.heads};
  const std::string name = check::LabelOf(mod);
  return {{name + "_one_token_bf16", token},
          {name + "_one_query_bf16", query},
          {name + "_shared_fp16", halves},
          {name + "_wide_state_bf16", state}};
}

// With score mods: heads that share keys and have theta of their own, in tiles
// of several blocks; beside masks; and of wide keys.
std::vector<Case> ModProblems() {
  std::vector<Case> cases;
  for (const ScoreMod mod : kScoreMods) {
    Problem levels = check::Plain(450, 64);
    levels.type = Type::kBfloat16;
    levels.batch = 1;
    levels.heads = 2;
    levels.key_heads = levels.values[0].heads = 1;
    levels.mod = mod;
    levels.pieces = 9;
    levels.reach = levels.keys - 1;
    Problem masked = levels;
    masked.keys = 150;
    masked.queries = 140;
    masked.batch = 3;
    masked.reach = 60;
    masked.causal = false;
    masked.padded = true;
    Problem wide = masked;
    wide.width = wide.values[0].width = 128;
    wide.causal = wide.bounded = true;
    wide.padded = false;
    const std::string name = check::LabelOf(mod);
    cases.push_back({name + "_levels_shared_bf16", levels, DrawLevels});
    cases.push_back({name + "_padded_shared_both_ways_bf16", masked});
    cases.push_back({name + "_bounded_shared_wide_bf16", wide});
    for (Case& c : SmallModProblems(mod)) cases.push_back(std::move(c));
  }
  return cases;
}

// Those that the kernel supports, for a device; some of a single token and with
// wide keys.
std::vector<Case> Problems() {
  const std::set<std::string> chosen = {"equal_state_1x40_bf16",
                                        "biased_padded_shared_1x40_bf16",
                                        "biased_chunk_70x128_bf16",
                                        "biased_padded_shared_70x128_bf16",
                                        "near_biased_both_ways_70x128_bf16",
                                        "bounded_shared_chunk_70x128_bf16",
                                        "multiplied_70x128_bf16",
                                        "rectified_shared_chunk_70x128_bf16",
                                        "query_band_1x40_bf16",
                                        "query_band_70x128_bf16"};
  std::vector<Case> all = check::Problems();
  const auto band = std::find_if(all.begin(), all.end(), [](const Case& c) {
    return c.label == "query_band_bf16";
  });
  for (Case& c : LongBands(Case(*band))) all.push_back(std::move(c));
  for (Case& c : check::SizedProblems()) {
    if (c.label == "equal_state_70x128_bf16") {
      for (Case& wide : WideStates(c)) all.push_back(std::move(wide));
    }
    if (chosen.count(c.label) > 0) all.push_back(std::move(c));
  }
  for (Case& c : ModProblems()) all.push_back(std::move(c));
  const Kernel kernel = CudaKernel(HopperCuda());
  std::vector<Case> cases;
  for (Case& c : all) {
    c.problem.device = Device::kCuda;
    if (kernel.supports(c.problem).ok()) cases.push_back(c);
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
    testing::ExpectSameBits(c.problem, CudaKernel(HopperCuda()), Boxed(),
                            others);
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
      "equal_state_bf16", "biased_bf16", "query_band_bf16",
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
          {"a far product", [](Problem* p) { p->far_from = 9; }},
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

INSTANTIATE_TEST_SUITE_P(Hopper, CudaHopperProblemsTest,
                         ::testing::ValuesIn(Problems()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

}  // namespace
}  // namespace ordo::kernels::attention
