#include "model/benchmark/attention_benchmark.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/common/left_out.h"
#include "model/benchmark/attention_results.h"

namespace ordo::model::benchmark {
namespace {

using kernels::Type;
using kernels::attention::Kernel;
using kernels::attention::Problem;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

// One round of tiny shapes.
AttentionOptions Tiny() {
  AttentionOptions options;
  options.shapes.clear();
  for (const int64_t length : {5, 70}) {
    AttentionShape& shape = options.shapes.emplace_back();
    shape.batch = 1;
    shape.heads = 2;
    shape.length = length;
    shape.width = 8;
  }
  options.min_rounds = options.max_rounds = 1;
  options.memory_lengths = {64, 128};
  options.memory_heads = 1;
  options.gemm_side = 16;
  options.copied_bytes = 1 << 10;
  return options;
}

AttentionResults RunOk(const AttentionOptions& options) {
  const auto results =
      RunAttention(options, [](const auto&, auto, const auto&) {});
  ORDO_EXPECT_OK(results);
  return results.value_or(AttentionResults());
}

TEST(RunAttentionTest, EveryRowThatSupportsAClassIsMeasuredAtEveryLength) {
  const AttentionOptions options = Tiny();
  const AttentionResults results = RunOk(options);
  for (const AttentionClass& about : options.classes) {
    for (const Type type : options.types) {
      for (AttentionShape shape : options.shapes) {
        shape.type = type;
        std::set<std::string> wanted;
        for (const Kernel& kernel : kernels::attention::Kernels()) {
          if (!kernel.supports(about.problem(shape)).ok()) continue;
          wanted.insert(kernel.name);
        }
        EXPECT_EQ(wanted.empty(), results.refused.count(about.name) == 1);
        if (!wanted.empty()) wanted.insert("libtorch_flash");
        if (!wanted.empty() && about.learned_bias) {
          wanted.insert("libtorch_materialised");
        }
        std::set<std::string> found;
        for (const AttentionRow& row : results.rows) {
          if (row.encoding != about.name || row.shape.type != type) continue;
          if (row.shape.length == shape.length) found.insert(row.kernel);
        }
        EXPECT_EQ(found, wanted) << about.name << " " << shape.length;
      }
    }
  }
}

TEST(RunAttentionTest, RatiosAreToTheFlashAttentionOfTheSameRound) {
  const AttentionResults results = RunOk(Tiny());
  const AttentionRow* flash = nullptr;
  for (const AttentionRow& row : results.rows) {
    if (row.runner == Runner::kFlash) flash = &row;
    ASSERT_NE(flash, nullptr);
    ASSERT_EQ(row.shape.length, flash->shape.length);
    ASSERT_EQ(row.total_s.size(), 1u);
    EXPECT_GT(row.forward_s[0], 0);
    EXPECT_GT(row.total_s[0], row.forward_s[0]);
    EXPECT_EQ(row.forward_ratio[0], row.forward_s[0] / flash->forward_s[0]);
    EXPECT_EQ(row.total_ratio[0], row.total_s[0] / flash->total_s[0]);
  }
}

// No list of kernels beside the table.
TEST(RunAttentionTest, AKernelThatIsNewInTheTableIsMeasured) {
  AttentionOptions options = Tiny();
  options.classes.resize(1);
  const AttentionShape& shape = options.shapes.front();
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Kernel* const known,
      kernels::attention::Select(options.classes[0].problem(shape), ""));
  options.kernels = {*known};
  options.kernels[0].name = "new";
  options.select = [&](const Problem&) { return &options.kernels[0]; };
  const AttentionResults results = RunOk(options);
  int selected = 0;
  for (const AttentionRow& row : results.rows) {
    if (row.runner == Runner::kFlash) continue;
    EXPECT_EQ(row.kernel, "new");
    EXPECT_EQ(row.runner, Runner::kSelected);
    ++selected;
  }
  EXPECT_EQ(selected, 4);
}

TEST(RunAttentionTest, LongLengthsAreForTheSelectedRowAlone) {
  AttentionOptions options = Tiny();
  options.other_rows_up_to = options.materialised_up_to = 5;
  for (const AttentionRow& row : RunOk(options).rows) {
    if (row.shape.length == 5) continue;
    EXPECT_TRUE(row.runner == Runner::kSelected || row.runner == Runner::kFlash)
        << row.kernel;
  }
}

TEST(RunAttentionTest, WithoutTimeEverythingIsMeasuredOnce) {
  AttentionOptions options = Tiny();
  options.classes.resize(1);
  options.min_rounds = options.max_rounds = 4;
  for (const AttentionRow& row : RunOk(options).rows) {
    EXPECT_EQ(row.total_s.size(), 4u) << row.kernel;
  }
  options.seconds_of_all = 0;
  for (const AttentionRow& row : RunOk(options).rows) {
    EXPECT_EQ(row.total_s.size(), 1u) << row.kernel;
  }
}

TEST(RunAttentionTest, AClassThatNoKernelTakesIsNamed) {
  AttentionOptions options = Tiny();
  options.select = [](const Problem& problem) {
    return problem.num_values == 2 ? absl::UnimplementedError("not two")
                                   : kernels::attention::Select(problem, "");
  };
  const AttentionResults results = RunOk(options);
  EXPECT_EQ(results.refused.at("tape"), "not two");
  EXPECT_THAT(HeadText(results), HasSubstr("no kernel for tape: not two"));
  for (const AttentionRow& row : results.rows) EXPECT_NE(row.encoding, "tape");
}

// As fp32 on a GPU.
TEST(RunAttentionTest, ATypeThatNoKernelTakesLeavesTheOthers) {
  AttentionOptions options = Tiny();
  options.classes.resize(2);
  options.select = [](const Problem& problem) {
    return problem.type == Type::kFloat32
               ? absl::UnimplementedError("its type must be bf16")
               : kernels::attention::Select(problem, "");
  };
  AttentionResults results = RunOk(options);
  EXPECT_TRUE(results.refused.empty());
  EXPECT_FALSE(results.rows.empty());
  EXPECT_FALSE(results.memory.empty());
  for (const auto& rows : {results.rows, results.memory}) {
    for (const AttentionRow& row : rows) {
      EXPECT_EQ(row.shape.type, Type::kBfloat16);
    }
  }
  options.types = {Type::kFloat32};
  results = RunOk(options);
  EXPECT_TRUE(results.rows.empty());
  EXPECT_EQ(results.refused.size(), 2u);
}

TEST(RunAttentionTest, AKernelThatFailedItsProbeDoesNotRun) {
  AttentionOptions options = Tiny();
  options.classes.resize(1);
  options.types = {Type::kFloat32};
  const auto num_rows = [&](const std::string& kernel) {
    int count = 0;
    for (const AttentionRow& row : RunOk(options).rows) {
      count += row.kernel == kernel ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(num_rows("cpu_tiled"), 2);
  kernels::LeaveOut({"attention/cpu_tiled"});
  EXPECT_EQ(num_rows("cpu_tiled"), 0);
  kernels::LeaveOut({});
}

TEST(RunAttentionTest, MapsThatWouldNotFitAreNotMade) {
  AttentionOptions options = Tiny();
  // Of 2 heads and 5 tokens, and not of 70.
  options.materialised_bytes = 4 * 4 * 2 * 5 * 5;
  int count = 0;
  for (const AttentionRow& row : RunOk(options).rows) {
    if (row.runner != Runner::kMaterialised) continue;
    EXPECT_EQ(row.shape.length, 5);
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(RunAttentionTest, BetweenTwoRunsItTellsWhereItIsAndStops) {
  AttentionOptions options = Tiny();
  options.classes.resize(1);
  int64_t told = 0, asked = 0;
  options.seconds_of_silence = 0;
  options.on_shape = [&](int64_t num_done, int64_t num_total) {
    EXPECT_EQ(num_done, 0);
    EXPECT_EQ(num_total, 4);
    ++told;
  };
  options.should_stop = [&] { return ++asked == 2; };
  EXPECT_THAT(RunAttention(options, [](const auto&, auto, const auto&) {}),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(told, 3);
}

TEST(RunAttentionTest, AMistakeIsAnError) {
  AttentionOptions options = Tiny();
  options.shapes[1].heads = 0;
  EXPECT_THAT(RunAttention(options, [](const auto&, auto, const auto&) {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("heads")));
}

TEST(StandardShapesTest, AGpuHasAsManyTokensAtEveryLength) {
  const auto shapes = StandardShapes(kernels::Device::kCuda);
  ASSERT_EQ(shapes.size(), 12u);
  for (const AttentionShape& shape : shapes) {
    EXPECT_EQ(shape.batch * shape.length, shape.width == 64 ? 32768 : 16384);
    EXPECT_EQ(shape.heads, shape.width == 64 ? 12 : 32);
  }
  EXPECT_EQ(shapes.front().length, 512);
  EXPECT_EQ(shapes.back().length, 16384);
  EXPECT_EQ(StandardShapes(kernels::Device::kCpu).size(), 5u);
}

// In each type: of a kernel its workspace, outputs and gradients of [1,1,N,8]
// and [1,1,N] of fp32 at least; of the way without one the map of weights, its
// gradient and that of the logits at a time.
TEST(RunAttentionTest, MemoryIsTheMostThatThereIsAtATime) {
  const AttentionOptions options = Tiny();
  const AttentionResults results = RunOk(options);
  std::multiset<Type> flash;
  std::map<Type, std::set<std::string>> measured;
  for (const AttentionRow& row : results.memory) {
    const int64_t n = row.shape.length;
    const Type type = row.shape.type;
    const int64_t size = type == Type::kFloat32 ? 4 : 2;
    int64_t least = size * 4 * n * 8 + 4 * n;
    if (row.runner == Runner::kMaterialised) least = 3 * size * n * n;
    if (row.runner == Runner::kFlash) flash.insert(type);
    if (row.runner == Runner::kSelected) measured[type].insert(row.encoding);
    for (const AttentionClass& about : options.classes) {
      if (about.name != row.encoding) continue;
      for (const Kernel& kernel : options.kernels) {
        if (kernel.name != row.kernel) continue;
        least += kernel.workspace_bytes(about.problem(row.shape),
                                        kernels::Way::kBackward, 1);
      }
    }
    EXPECT_GE(row.peak_bytes, least) << row.encoding << " " << row.kernel;
  }
  // The same for all classes: at two lengths.
  EXPECT_EQ(flash.size(), 2 * options.types.size());
  for (const Type type : options.types) {
    EXPECT_EQ(flash.count(type), 2U);
    EXPECT_EQ(measured[type].size(), options.classes.size());
  }
}

}  // namespace
}  // namespace ordo::model::benchmark
