// The device code of CUDA kernels on an emulated device: the kernels' own
// source, the problems of attention_test.cc that they support.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/case.h"
#include "kernels/attention/check/crossed.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_rows.h"
#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/attention/testing/suite.h"
#include "kernels/common/testing/captured.h"
#include "kernels/common/testing/cuda_emulator.h"

namespace ordo::kernels::attention {
namespace {

using check::Case;
using check::RunOptions;

// Those of `cases` that the code supports, for a device.
std::vector<Case> Supported(const CudaCode& code, std::vector<Case> cases) {
  const Kernel kernel = CudaKernel(code);
  std::vector<Case> supported;
  for (Case& c : cases) {
    c.problem.device = Device::kCuda;
    if (kernel.supports(c.problem).ok()) supported.push_back(c);
  }
  return supported;
}

// What a change does to the instances that are wider than the keys and values
// of check::Problems(), and to a single token.
std::vector<Case> SizedProblems() {
  std::set<std::string> wide = {
      "equal_state_70x128_bf16", "biased_padded_shared_70x128_bf16",
      "multiplied_70x128_bf16",  "query_band_full_both_ways_70x128_bf16",
      "both_bands_70x128_bf16",  "far_pair_biased_70x128_bf16",
      "far_pair_70x128_bf16",    "summed_70x128_bf16"};
  for (const ScoreMod mod : kScoreMods) {
    wide.insert(check::LabelOf(mod) + "_both_ways_70x128_bf16");
  }
  std::vector<Case> chosen;
  for (Case& c : check::SizedProblems()) {
    const bool is_one = c.label.find("_1x40_bf16") != std::string::npos;
    if (is_one || wide.count(c.label) > 0) chosen.push_back(std::move(c));
  }
  // TAPE's, of more than two tiles.
  Case tape = {"tape_wide_bf16", check::Plain(131, 128)};
  tape.problem.type = Type::kBfloat16;
  tape.problem.batch = 1;
  tape.problem.num_values = 2;
  tape.problem.values[1] = {128, tape.problem.heads};
  tape.problem.padded = true;
  chosen.push_back(std::move(tape));
  return chosen;
}

std::vector<Case> Problems() {
  std::vector<Case> cases = check::Problems();
  for (Case& c : SizedProblems()) cases.push_back(std::move(c));
  return Supported(TiledCuda(), std::move(cases));
}

// With the width of another instance, and with more queries than a turn of the
// backward pass has.
std::vector<Case> CountedProblems() {
  std::vector<Case> cases = check::Problems();
  for (Case& c : SizedProblems()) cases.push_back(std::move(c));
  Case wide = {"counted_by_keys_wide", check::Plain(131, 104)};
  wide.problem.gates = Gates::kOwn;
  wide.problem.positions = 40;
  wide.problem.batch = 1;
  Case turns = {"counted_by_keys_in_turns", check::Plain(1030, 16)};
  turns.problem.gates = Gates::kOwn;
  turns.problem.positions = 520;
  turns.problem.batch = 1;
  turns.problem.heads = 2;
  turns.problem.key_heads = turns.problem.values[0].heads = 1;
  for (Case* const c : {&wide, &turns}) {
    c->problem.type = Type::kBfloat16;
    c->label += "_bf16";
    cases.push_back(*c);
  }
  return Supported(CountedCuda(), std::move(cases));
}

// Of the widths that libraries are built for by default; few tokens are
// among check::SizedProblems().
check::CrossedSizes SizesOnGpu() {
  return {{32, 64, 96, 128}, {70}, /*one_query=*/true};
}

// In bf16.
Problem OnGpu(Problem problem) {
  problem.device = Device::kCuda;
  problem.type = Type::kBfloat16;
  return problem;
}

// Those that tiled or counted rows do.
const std::vector<check::Crossed>& CrossedOnGpu() {
  static const auto* const crossed = [] {
    const Kernel tiled = CudaKernel(TiledCuda());
    const Kernel counted = CudaKernel(CountedCuda());
    return new std::vector<check::Crossed>(
        check::CrossedProblems({SizesOnGpu()}, [&](const Problem& problem) {
          return tiled.supports(OnGpu(problem)).ok() ||
                 counted.supports(OnGpu(problem)).ok();
        }));
  }();
  return *crossed;
}

std::vector<Case> CrossedFor(const CudaCode& code) {
  std::vector<Case> cases;
  for (const check::Crossed& c : CrossedOnGpu()) {
    cases.push_back(check::InBfloat16(c.of));
  }
  return Supported(code, std::move(cases));
}

class CudaEmulatedProblemsTest : public ::testing::TestWithParam<Case> {};

TEST_P(CudaEmulatedProblemsTest, IsNearTheReference) {
  kernels::testing::SetSchedule(1);
  testing::ExpectNearReference(GetParam(), CudaKernel(TiledCuda()),
                               RunOptions());
}

class CudaCountedProblemsTest : public ::testing::TestWithParam<Case> {};

TEST_P(CudaCountedProblemsTest, IsNearTheReference) {
  kernels::testing::SetSchedule(1);
  testing::ExpectNearReference(GetParam(), CudaKernel(CountedCuda()),
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
    testing::ExpectSameBits(c, CudaKernel(TiledCuda()), vectors, RunOptions());
  }
  EXPECT_EQ(count, chosen.size());
}

TEST(CudaEmulatedTest, CountsAndTheOrderOfWarpsChangeNoBit) {
  const std::set<std::string> chosen = {
      "counted_bf16", "counted_by_keys_padded_both_ways_bf16",
      "counted_by_keys_wide_bf16", "counted_by_slope_bf16"};
  size_t count = 0;
  kernels::testing::SetSchedule(3);
  for (const Case& c : CountedProblems()) {
    if (chosen.count(c.label) == 0) continue;
    ++count;
    SCOPED_TRACE(c.label);
    RunOptions vectors;
    vectors.gap = 8;
    testing::ExpectSameBits(c, CudaKernel(CountedCuda()), vectors,
                            RunOptions());
  }
  EXPECT_EQ(count, chosen.size());
}

TEST(CudaEmulatedTest, FromGraphsPassesGiveTheSameBits) {
  std::set<std::string> chosen = {"equal_state_bf16",    "biased_bf16",
                                  "both_bands_bf16",     "far_pair_bf16",
                                  "summed_bf16",         "counted_bf16",
                                  "counted_by_keys_bf16"};
  for (const ScoreMod mod : kScoreMods) {
    chosen.insert(check::LabelOf(mod) + "_bf16");
  }
  size_t count = 0;
  RunOptions options;
  options.memory =
      &kernels::testing::CountedMemory(kernels::testing::HostMemory());
  for (const Case& c : check::SmallProblems(Device::kCuda)) {
    if (chosen.count(c.label) == 0) continue;
    ++count;
    SCOPED_TRACE(c.label);
    const bool counted = c.problem.gates != Gates::kNone;
    testing::ExpectSameBitsFromGraphs(
        c.problem, CudaKernel(counted ? CountedCuda() : TiledCuda()),
        kernels::testing::EmulatedGraphs(), options);
  }
  EXPECT_EQ(count, chosen.size());
}

// A right kernel must pass the probe: of its problems those that are like no
// other here.
TEST(CudaEmulatedTest, WideAndFallingProblemsOfAProbeAreNearTheReference) {
  const std::set<std::string> chosen = {"plain_wide_bf16", "counted_wide_bf16",
                                        "long_falling_bf16"};
  size_t count = 0;
  kernels::testing::SetSchedule(1);
  for (const Case& c : check::SmallProblems(Device::kCuda)) {
    if (chosen.count(c.label) == 0) continue;
    ++count;
    SCOPED_TRACE(c.label);
    const bool counted = c.problem.gates != Gates::kNone;
    testing::ExpectNearReference(
        c, CudaKernel(counted ? CountedCuda() : TiledCuda()), RunOptions());
  }
  EXPECT_EQ(count, chosen.size());
}

TEST(CudaEmulatedTest, NotANumberIsSeenByAllWhoSeeItsKeyOrAreItsQuery) {
  for (const Type type : {Type::kBfloat16, Type::kFloat16}) {
    testing::ExpectNotANumberIsSeen(type, CudaKernel(TiledCuda()));
    testing::ExpectNotANumberIsSeen(type, CudaKernel(CountedCuda()));
  }
}

TEST(CudaEmulatedTest, FarKeysAreLeftOutWhereABiasLeavesThemNoWeight) {
  testing::ExpectFarKeysAreLeftOut(Type::kBfloat16, CudaKernel(TiledCuda()),
                                   RunOptions());
}

TEST(CudaEmulatedTest, ALibraryWithoutAnyInstanceForFloat16SaysHowToBuildIt) {
  const TiledWidths bf16 = {Type::kBfloat16, 64, 64, 0, 0, nullptr, nullptr};
  const TiledWidths* const built[] = {&bf16};
  EXPECT_EQ(TypeRefusal(built, Type::kBfloat16), nullptr);
  EXPECT_THAT(std::string(TypeRefusal(built, Type::kFloat16)),
              ::testing::AllOf(::testing::HasSubstr("not built for fp16"),
                               ::testing::HasSubstr("--config=cuda_all")));
}

TEST(CudaEmulatedTest, WhatItDoesNotDoIsRefusedByName) {
  const std::vector<testing::Refused> refused = {
      {"must lie on a GPU", [](Problem* p) { p->device = Device::kCpu; }},
      {"type must be bf16", [](Problem* p) { p->type = Type::kFloat32; }},
      {"multiples of 8", [](Problem* p) { p->width = 20; }},
      {"multiples of 8", [](Problem* p) { p->values[0].width = 7; }},
      {"--config=cuda_all", [](Problem* p) { p->width = 256; }},
      {"--config=cuda_all", [](Problem* p) { p->values[0].width = 264; }},
      {"--config=cuda_all",
       [](Problem* p) {
         p->type = Type::kFloat16;
         p->width = 72;
       }},
      {"below 65536", [](Problem* p) { p->batch = 65536; }},
      {"64 pieces",
       [](Problem* p) {
         p->mod = kScoreMods[0];
         p->pieces = 65;
       }},
      {"a far product",
       [](Problem* p) {
         p->far_from = 9;
         p->heads = 2 * p->key_heads;
         p->values[0].heads = p->heads;
       }},
      {"position ids",
       [](Problem* p) {
         p->positioned = true;
         p->query_band = 8;
       }},
      {"products by channel", [](Problem* p) { p->by_channel = true; }},
      {"sums of weights",
       [](Problem* p) {
         p->summed = true;
         p->far_from = 9;
       }},
      {"multiples of 8", [](Problem* p) { p->key_band = 12; }},
      {"counted positions", [](Problem* p) { p->gates = Gates::kLogits; }},
  };
  testing::ExpectRefused(CudaKernel(TiledCuda()), OnGpu(check::Plain(70, 64)),
                         refused);
}

TEST(CudaEmulatedTest, WhatIsNotCountedIsRefusedByName) {
  Problem counted = check::Plain(70, 64);
  counted.gates = Gates::kLogits;
  counted.positions = 9;
  testing::ExpectRefused(
      CudaKernel(CountedCuda()), OnGpu(counted),
      {
          {"must lie on a GPU", [](Problem* p) { p->device = Device::kCpu; }},
          {"type must be bf16", [](Problem* p) { p->type = Type::kFloat32; }},
          {"multiples of 8", [](Problem* p) { p->width = 20; }},
          {"multiples of 8", [](Problem* p) { p->values[0].width = 7; }},
          {"--config=cuda_all", [](Problem* p) { p->values[0].width = 264; }},
          {"below 65536", [](Problem* p) { p->heads = 65536; }},
          {"2^30", [](Problem* p) { p->positions = int64_t{1} << 30; }},
          {"nothing counts", [](Problem* p) { p->gates = Gates::kNone; }},
          {"multipliers", [](Problem* p) { p->multiplied = true; }},
          {"rectified", [](Problem* p) { p->rectified = true; }},
          {"score mods",
           [](Problem* p) {
             p->mod = kScoreMods[0];
             p->pieces = 2;
           }},
          {"vectors of distances", [](Problem* p) { p->query_band = 8; }},
          {"by channel", [](Problem* p) { p->by_channel = true; }},
          {"a far product", [](Problem* p) { p->far_from = 9; }},
          {"sums of weights", [](Problem* p) { p->summed = true; }},
          {"position ids",
           [](Problem* p) { p->positioned = p->biased = true; }},
          {"that share keys", [](Problem* p) { p->key_heads = 1; }},
      });
}

// "kind: variant" of what no row does; "kind", where it is all.
std::set<std::string> NotDone() {
  const std::vector<check::Axis> axes = check::CrossedAxes(SizesOnGpu());
  std::set<std::string> done, not_done;
  const auto name = [&](int kind, size_t axis, int variant) {
    return axes[0].variants[kind].label + ": " +
           axes[axis].variants[variant].label;
  };
  for (const check::Crossed& c : CrossedOnGpu()) {
    done.insert(axes[0].variants[c.choices[0]].label);
    for (size_t axis = 1; axis < axes.size(); ++axis) {
      done.insert(name(c.choices[0], axis, c.choices[axis]));
    }
  }
  for (size_t kind = 0; kind < axes[0].variants.size(); ++kind) {
    const std::string& label = axes[0].variants[kind].label;
    if (done.count(label) == 0) not_done.insert(label);
    for (size_t axis = 1; axis < axes.size(); ++axis) {
      for (size_t i = 0; i < axes[axis].variants.size(); ++i) {
        const std::string cell =
            name(static_cast<int>(kind), axis, static_cast<int>(i));
        if (done.count(label) > 0 && done.count(cell) == 0) {
          not_done.insert(cell);
        }
      }
    }
  }
  return not_done;
}

// Of the usual widths: docs/kernels.md says the same of encodings.
TEST(CudaEmulatedTest, WhatNoRowDoesOfTheCrossedProblemsIsThis) {
  EXPECT_THAT(NotDone(),
              ::testing::UnorderedElementsAre(
                  "huang3", "shaw: ids", "shaw_full: ids", "shaw_values: ids",
                  "shaw_full_values: ids", "transformer_xl: ids", "huang4: ids",
                  "deberta: ids", "rerope: ids",
                  // No problem at all.
                  "rerope: both_ways"));
}

INSTANTIATE_TEST_SUITE_P(Crossed, CudaCountedProblemsTest,
                         ::testing::ValuesIn(CrossedFor(CountedCuda())),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

INSTANTIATE_TEST_SUITE_P(Crossed, CudaEmulatedProblemsTest,
                         ::testing::ValuesIn(CrossedFor(TiledCuda())),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

INSTANTIATE_TEST_SUITE_P(Counted, CudaCountedProblemsTest,
                         ::testing::ValuesIn(CountedProblems()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

INSTANTIATE_TEST_SUITE_P(Tiled, CudaEmulatedProblemsTest,
                         ::testing::ValuesIn(Problems()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.label;
                         });

}  // namespace
}  // namespace ordo::kernels::attention
