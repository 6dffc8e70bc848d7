#include "kernels/probe/probe.h"

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/table.h"
#include "kernels/probe/testing/broken_kernels.h"
#include "kernels/rows/table.h"
#include "kernels/update/table.h"

namespace ordo::kernels::probe {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(ProbeTest, EveryRowOfEveryTableForTheDeviceIsThere) {
  const std::vector<std::string> rows = Rows(Device::kCpu);
  size_t count = 0;
  const auto expect = [&](const std::string& table, const auto& kernels) {
    for (const auto& kernel : kernels) {
      if (kernel.device != Device::kCpu) continue;
      ++count;
      EXPECT_THAT(rows, Contains(table + "/" + kernel.name));
    }
  };
  expect("attention", attention::Kernels());
  expect("update", update::Kernels());
  expect("rows", rows::Kernels());
  EXPECT_EQ(rows.size(), count);
  EXPECT_TRUE(Rows(Device::kCuda).empty());
}

// Or says why the processor cannot.
TEST(ProbeTest, EachRowTakesProblemsAndIsRight) {
  Prepare(Device::kCpu);
  int right = 0;
  for (const std::string& row : Rows(Device::kCpu)) {
    const auto finding = ProbeRow(row, nullptr);
    ASSERT_TRUE(finding.ok()) << finding.status();
    EXPECT_FALSE(finding->miss.has_value())
        << row << " " << finding->problem << ": " << finding->miss->what;
    if (finding->num_problems == 0) {
      EXPECT_THAT(std::string(finding->unsupported.message()),
                  HasSubstr("this processor"))
          << row;
    } else {
      ++right;
    }
  }
  EXPECT_GE(right, 3);
}

// Of a process in which tables are as they are built.
TEST(BrokenKernelsTest, AreFoundWithTheirResults) {
  testing::AddBrokenKernels();
  const auto wrong = ProbeRow("attention/cpu_wrong", nullptr);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_EQ(wrong->problem, "padded");
  ASSERT_TRUE(wrong->miss.has_value());
  EXPECT_EQ(wrong->miss->what, "d k");
  EXPECT_NEAR(wrong->miss->error, 0.5, 0.1);
  EXPECT_LT(wrong->miss->bound, 1e-3);
  EXPECT_GT(wrong->num_problems, 1);

  const auto shy = ProbeRow("attention/cpu_shy", nullptr);
  ASSERT_TRUE(shy.ok()) << shy.status();
  EXPECT_EQ(shy->num_problems, 0);
  EXPECT_EQ(shy->unsupported.message(), "never");

  const auto forgetful = ProbeRow("update/cpu_forgetful", nullptr);
  ASSERT_TRUE(forgetful.ok()) << forgetful.status();
  EXPECT_EQ(forgetful->problem, "usual");
}

// What is judged for a GPU takes its time from a probe's 20 s before any kernel
// runs: some 27 ns of one core of a Zen 5 for each product, with the backward
// pass and the naive computation.
TEST(ProbeTest, WhatIsJudgedForAGpuLeavesItsKernelsMostOfTheTime) {
  int64_t products = 0;
  for (const auto& c : attention::check::SmallProblems(Device::kCuda)) {
    products += attention::check::ProductsOf(c.problem);
  }
  EXPECT_LT(products, 200'000'000);
}

// Each pair of widths that the library has by default, of q and k and of all
// values together, is code of its own; keys that a bias leaves no weight take
// more of it.
TEST(ProbeTest, ProblemsOfAGpuReachAllItsCode) {
  // Whether something counts; then the widths.
  using Widths = std::tuple<bool, int64_t, int64_t>;
  std::set<Widths> widths;
  bool falls = false;
  for (const auto& c : attention::check::SmallProblems(Device::kCuda)) {
    const attention::Problem& p = c.problem;
    EXPECT_NE(p.type, Type::kFloat32) << c.label;
    int64_t values = 0;
    for (int v = 0; v < p.num_values; ++v) values += p.values[v].width;
    const bool counts = p.gates != attention::Gates::kNone;
    widths.insert({counts, p.width, values});
    using Draw = void (*)(const attention::Problem&, attention::Tensors*);
    const Draw* const draw = c.draw.target<Draw>();
    falls = falls ||
            (draw != nullptr && *draw == attention::check::DrawFallingBias);
  }
  EXPECT_TRUE(falls);
  // 192 takes the code for 128 and 256.
  const std::vector<Widths> all = {{false, 64, 64},  {false, 64, 128},
                                   {false, 64, 192}, {false, 128, 128},
                                   {true, 64, 64},   {true, 128, 128}};
  EXPECT_THAT(widths, ::testing::IsSupersetOf(all));
}

// So many more bytes may be taken at a time, and pieces.
struct {
  int64_t bytes;
  int pieces;
} left;

void* Take(int64_t bytes) {
  if (bytes > left.bytes || left.pieces == 0) return nullptr;
  --left.pieces;
  return aligned_alloc(64, (bytes + 127) / 64 * 64);
}

const char* Copy(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, bytes);
  return nullptr;
}

TEST(ProbeTest, AKernelIsNotWrongWhereMemoryIsTaken) {
  constexpr DeviceMemory kMemory = {Take, std::free, Copy};
  constexpr int64_t kMost = int64_t{1} << 40;
  for (const char* const row :
       {"attention/cpu_tiled", "update/cpu_fused", "rows/cpu_fused"}) {
    left = {kMost, 1 << 30};
    const auto right = ProbeRow(row, &kMemory);
    ASSERT_TRUE(right.ok()) << right.status();
    EXPECT_FALSE(right->miss.has_value()) << row << ": " << right->miss->what;
    // From the begin on, and from the first, the fifth and a later tensor on.
    for (const auto& few : {decltype(left){1 << 20, 1 << 30},
                            {kMost, 1},
                            {kMost, 5},
                            {kMost, 40}}) {
      left = few;
      const absl::Status status = ProbeRow(row, &kMemory).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << row;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("too little free memory"));
    }
  }
}

TEST(ProbeTest, AnUnknownRowIsNotFound) {
  const absl::Status status = ProbeRow("attention/none", nullptr).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("attention/none"));
}

}  // namespace
}  // namespace ordo::kernels::probe
