#include "model/transformer/mixing.h"

#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "absl/strings/str_cat.h"
#include "c10/util/Exception.h"
#include "gtest/gtest.h"
#include "model/benchmark/counting_allocator.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/transformer/transformer.h"

// That both ways give the same, for every encoding:
// model/encodings/contract_test.cc.

namespace ordo::model::transformer {
namespace {

using encodings::testing::FromText;
using model::benchmark::CountingAllocator;
using ordo::training::v1::Model;
using testing::Integers;
using testing::MaxDifference;
using testing::SmallModel;

// Of eight queries among 1024 tokens, with two heads.
constexpr int64_t kLogits = int64_t{1} << 14;

Model OneLayer() {
  Model model = SmallModel();
  model.set_layers(1);
  return model;
}

// What a step of so many tokens takes at its peak beyond the model.
int64_t PeakBytes(const Transformer& transformer, int64_t length,
                  const ForwardOptions& options) {
  const at::Tensor tokens = Integers({1, length}, 11, "tokens");
  CountingAllocator& memory = CountingAllocator::Installed();
  memory.Restart();
  const int64_t before = memory.now();
  transformer.Forward(tokens, options).sum().backward();
  return memory.most() - before;
}

struct Case {
  const char* label;
  const char* encoding;
  bool causal = true;
  int sliding_window = 0;
  int64_t shifted_sparse_group = 0;
  bool has_gaps = false;
};

// A byte for each pair would be 1 MiB, about as much as all there is.
TEST(MixingTest, MemoryOfPlainOperationsIsLinearInTokens) {
  CountingAllocator::Installed();
  const std::vector<Case> cases = {
      {"a bias", "{name: alibi}"},
      {"gates", "{name: cope}"},
      {"lengths", "{name: dynamic_ntk, params: {trained_length: 64}}"},
      {"far keys", "{name: rerope, params: {window: 32}}"},
      {"both ways", "{name: rerope, params: {window: 32}}", false},
      {"a window both ways", "{name: shaw}", false, 40},
      {"groups", "{name: t5}", true, 0, 64},
      {"a memory",
       "{name: transformer_xl, params: {segment_length: 64, memory_length: "
       "64}}"},
      {"gaps", "{name: rerope, params: {window: 32}}", true, 0, 0, true},
  };
  for (const Case& c : cases) {
    Model model = OneLayer();
    model.set_causal(c.causal);
    model.set_sliding_window(c.sliding_window);
    const auto transformer =
        testing::MakeTransformer(model, FromText(c.encoding));
    const auto bytes = [&](int64_t length) {
      ForwardOptions options;
      options.kernel = "reference";
      options.logits_at_once = kLogits;
      options.shifted_sparse_group = c.shifted_sparse_group;
      if (c.has_gaps) {
        options.positions = at::arange(length).unsqueeze(0) * 2;
      }
      return PeakBytes(*transformer, length, options);
    };
    const int64_t half = bytes(512), whole = bytes(1024);
    EXPECT_LT(whole, 2.1 * static_cast<double>(half)) << c.label << " " << half;
  }
}

// Kernels would read a number for each pair of query and position.
TEST(MixingTest, MemoryOfPositionsForTheWholeContextIsLinearInTokens) {
  CountingAllocator::Installed();
  const auto bytes = [](int64_t length) {
    const auto transformer = testing::MakeTransformer(
        OneLayer(),
        FromText(absl::StrCat(
            "{name: cope, params: {max_position: ", length + 1, "}}")));
    ForwardOptions options;
    options.logits_at_once = kLogits;
    return PeakBytes(*transformer, length, options);
  };
  const int64_t half = bytes(1088), whole = bytes(2 * 1088);
  EXPECT_LT(whole, 2.1 * static_cast<double>(half)) << half;
}

TEST(MixingTest, ASmallPassIsOneBlockAndAnyOtherDiffersByRounding) {
  const auto transformer = testing::SmallTransformer(testing::Encoding("fire"));
  const at::Tensor tokens = Integers({2, 9}, 11, "tokens");
  const auto logits = [&](int64_t at_once) {
    ForwardOptions options;
    options.logits_at_once = at_once;
    return testing::Logits(*transformer, tokens, options);
  };
  const at::Tensor right = testing::Logits(*transformer, tokens);
  // Two rows and two heads.
  EXPECT_TRUE(testing::SameBits(logits(4 * 9 * 9), right));
  for (const int64_t at_once : {4 * 9 * 9 - 1, 4 * 9, 1}) {
    EXPECT_LT(MaxDifference(logits(at_once), right), 1e-13) << at_once;
  }
}

TEST(MixingTest, GradientsNeedTheModelNoMore) {
  auto transformer = testing::SmallTransformer(testing::Encoding("t5"));
  const auto parameters = transformer->Parameters();
  ForwardOptions options;
  options.logits_at_once = 1;
  const at::Tensor sum =
      transformer->Forward(Integers({1, 9}, 11, "tokens"), options).sum();
  transformer.reset();
  sum.backward();
  for (const auto& parameter : parameters) {
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
  }
}

TEST(MixingTest, AKernelThatIsNamedRunsOrSaysWhyNot) {
  const auto transformer = testing::SmallTransformer(testing::Encoding("rope"));
  ForwardOptions options;
  options.kernel = "cpu_tiled";
  EXPECT_THROW(
      testing::Logits(*transformer, Integers({1, 9}, 11, "tokens"), options),
      c10::ValueError);
}

}  // namespace
}  // namespace ordo::model::transformer
