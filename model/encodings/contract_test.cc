#include <memory>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "gtest/gtest.h"
#include "model/encodings/registry.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/training/autocast.h"

// What every encoding has to keep, run over the registry: a new row is tested
// at once.

namespace ordo::model::encodings {
namespace {

using testing::Encoding;
using testing::Integers;
using testing::Logits;
using testing::Longs;
using testing::MaxDifference;
using testing::SameBits;
using transformer::Cache;
using transformer::ForwardOptions;
using transformer::Transformer;

// TAPE's bound is wider: its state adds up rounding from layer to layer.
double SingleBound(const std::string& name) {
  return name == "tape" ? 1e-3 : 1e-4;
}

class ContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Random in all parameters.
  static std::unique_ptr<Transformer> Make(at::ScalarType dtype = at::kDouble) {
    parameters::ParameterOptions options;
    options.dtype = dtype;
    auto transformer = testing::MakeTransformer(testing::SmallModel(),
                                                Encoding(GetParam()), options);
    testing::Randomize(transformer->Parameters());
    return transformer;
  }

  static at::Tensor Tokens(int64_t rows, int64_t length) {
    return Integers({rows, length}, 11, "tokens");
  }
};

TEST_P(ContractTest, LogitsHaveTheirShapeAtEveryLength) {
  const auto transformer = Make();
  for (int64_t length : {1, 2, 17, 300}) {
    const at::Tensor logits = Logits(*transformer, Tokens(2, length));
    EXPECT_EQ(logits.sizes(), (std::vector<int64_t>{2, length, 11}));
    EXPECT_TRUE(logits.isfinite().all().item<bool>()) << length;
  }
}

TEST_P(ContractTest, TheSameSeedGivesTheSameResult) {
  const at::Tensor tokens = Tokens(2, 6);
  EXPECT_TRUE(SameBits(Logits(*Make(), tokens), Logits(*Make(), tokens)));
}

TEST_P(ContractTest, GradientsEqualFiniteDifferences) {
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 6);
  const at::Tensor targets = Integers({12}, 11, "targets");
  const auto loss = [&] {
    return at::cross_entropy_loss(transformer->Forward(tokens).flatten(0, 1),
                                  targets);
  };
  loss().backward();
  const at::NoGradGuard no_grad;
  for (const auto& parameter : transformer->Parameters()) {
    // A token of the batch, where the parameter is the embedding.
    const int64_t index =
        parameter.name == "model.embed_tokens.weight"
            ? tokens[0][0].item<int64_t>() * parameter.tensor.size(1)
            : parameter.tensor.numel() / 2;
    const double exact =
        parameter.tensor.grad().flatten()[index].item<double>();
    at::Tensor value = parameter.tensor.flatten()[index];
    value.add_(1e-5);
    const double above = loss().item<double>();
    value.sub_(2e-5);
    const double below = loss().item<double>();
    value.add_(1e-5);
    EXPECT_NEAR((above - below) / 2e-5, exact, 1e-7) << parameter.name;
  }
}

TEST_P(ContractTest, CopiedParametersGiveTheSameLogits) {
  const auto one = Make();
  const auto other = testing::SmallTransformer(Encoding(GetParam()));
  {
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < one->Parameters().size(); ++i) {
      ASSERT_EQ(one->Parameters()[i].name, other->Parameters()[i].name);
      other->Parameters()[i].tensor.copy_(one->Parameters()[i].tensor);
    }
  }
  const at::Tensor tokens = Tokens(2, 6);
  EXPECT_TRUE(SameBits(Logits(*one, tokens), Logits(*other, tokens)));
}

// All of today's rows are relative.
TEST_P(ContractTest, AShiftOfAllPositionsChangesLogitsByRoundingOnly) {
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 6);
  ForwardOptions shifted;
  shifted.positions = Longs({1, 6}, {0, 1, 2, 3, 4, 5}) + 1537;
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, shifted),
                          Logits(*transformer, tokens)),
            1e-9);
}

TEST_P(ContractTest, PositionIdsThatSpellTheDefaultChangeNothing) {
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 4);
  ForwardOptions options;
  options.positions = Longs({2, 4}, {0, 1, 2, 3, 0, 1, 2, 3});
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, options),
                          Logits(*transformer, tokens)),
            1e-14);
}

TEST_P(ContractTest, PositionIdsMayDifferFromRowToRow) {
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 3);
  ForwardOptions both, second;
  both.positions = Longs({2, 3}, {0, 1, 2, 4, 9, 11});
  second.positions = Longs({1, 3}, {4, 9, 11});
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, both).narrow(0, 1, 1),
                          Logits(*transformer, tokens.narrow(0, 1, 1), second)),
            1e-13);
}

TEST_P(ContractTest, APaddedRowEqualsTheRowAlone) {
  const auto transformer = Make();
  const at::Tensor row = Tokens(1, 5);
  const at::Tensor alone = Logits(*transformer, row);
  const at::Tensor padding = Longs({1, 2}, {0, 0});
  ForwardOptions options;
  // One row padded on the left, one on the right.
  const at::Tensor batch =
      at::cat({at::cat({padding, row}, 1), at::cat({row, padding}, 1)}, 0);
  options.attention_mask =
      Longs({2, 7}, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  const at::Tensor padded = Logits(*transformer, batch, options);
  EXPECT_LT(MaxDifference(padded.narrow(0, 0, 1).narrow(1, 2, 5), alone),
            1e-13);
  EXPECT_LT(MaxDifference(padded.narrow(0, 1, 1).narrow(1, 0, 5), alone),
            1e-13);
  EXPECT_TRUE(padded.isfinite().all().item<bool>());
  // As transformer.h says: on the right no mask is needed.
  EXPECT_LT(
      MaxDifference(Logits(*transformer, batch.narrow(0, 1, 1)).narrow(1, 0, 5),
                    alone),
      1e-13);
}

TEST_P(ContractTest, PaddingGivesNoNanInGradients) {
  const auto transformer = Make();
  ForwardOptions options;
  options.attention_mask = Longs({1, 5}, {0, 0, 1, 1, 1});
  transformer->Forward(Tokens(1, 5), options).sum().backward();
  for (const auto& parameter : transformer->Parameters()) {
    EXPECT_TRUE(parameter.tensor.grad().isfinite().all().item<bool>())
        << parameter.name;
  }
}

// Decodes `tokens` in pieces of the given lengths.
at::Tensor Decode(const Transformer& transformer, const at::Tensor& tokens,
                  const std::vector<int64_t>& pieces,
                  const at::Tensor& mask = {}) {
  Cache cache;
  std::vector<at::Tensor> logits;
  int64_t start = 0;
  for (int64_t piece : pieces) {
    ForwardOptions options;
    options.cache = &cache;
    if (mask.defined()) options.attention_mask = mask.narrow(1, start, piece);
    logits.push_back(
        Logits(transformer, tokens.narrow(1, start, piece), options));
    start += piece;
  }
  return at::cat(logits, 1);
}

TEST_P(ContractTest, CachedDecodingEqualsTheFullPass) {
  const at::Tensor tokens = Tokens(3, 9);
  for (at::ScalarType dtype : {at::kDouble, at::kFloat}) {
    const auto transformer = Make(dtype);
    const double bound = dtype == at::kDouble ? 1e-12 : SingleBound(GetParam());
    const at::Tensor full = Logits(*transformer, tokens);
    EXPECT_LT(
        MaxDifference(Decode(*transformer, tokens, {4, 1, 1, 1, 1, 1}), full),
        bound);
    EXPECT_LT(MaxDifference(Decode(*transformer, tokens, {1, 3, 5}), full),
              bound);
  }
}

TEST_P(ContractTest, CachedDecodingOfPaddedRowsEqualsTheFullPass) {
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 6);
  const at::Tensor mask = Longs({2, 6}, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  ForwardOptions options;
  options.attention_mask = mask;
  const at::Tensor full = Logits(*transformer, tokens, options);
  EXPECT_LT(MaxDifference(Decode(*transformer, tokens, {3, 1, 2}, mask), full),
            1e-12);
  // Later pieces need no mask of their own.
  Cache cache;
  ForwardOptions first, later;
  first.cache = later.cache = &cache;
  first.attention_mask = mask.narrow(1, 0, 3);
  Logits(*transformer, tokens.narrow(1, 0, 3), first);
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens.narrow(1, 3, 3), later),
                          full.narrow(1, 3, 3)),
            1e-12);
}

TEST_P(ContractTest, ACacheWithSomeRowsGoesOnAsThoseRows) {
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(3, 6);
  const at::Tensor rows = Longs({2}, {2, 0});
  Cache cache;
  ForwardOptions options;
  options.cache = &cache;
  Logits(*transformer, tokens.narrow(1, 0, 4), options);
  cache.SelectRows(rows);
  const at::Tensor rest = Logits(
      *transformer, tokens.index_select(0, rows).narrow(1, 4, 2), options);
  EXPECT_LT(
      MaxDifference(
          rest,
          Logits(*transformer, tokens).index_select(0, rows).narrow(1, 4, 2)),
      1e-12);
}

TEST_P(ContractTest, SinglePrecisionIsNearDouble) {
  const at::Tensor tokens = Tokens(2, 12);
  EXPECT_LT(
      MaxDifference(Logits(*Make(at::kFloat), tokens), Logits(*Make(), tokens)),
      SingleBound(GetParam()));
}

// bf16 keeps 8 bits of each number: the bound is that, relative to the logits.
TEST_P(ContractTest, HalfPrecisionIsNearDouble) {
  const at::Tensor tokens = Tokens(2, 12);
  const at::Tensor exact = Logits(*Make(), tokens);
  const auto transformer = Make(at::kFloat);
  const training::AutocastScope autocast("bf16");
  const at::Tensor logits = Logits(*transformer, tokens);
  const double scale = exact.abs().max().item<double>();
  EXPECT_LT(MaxDifference(logits.to(at::kDouble), exact), 0.05 * scale);
  // It is bf16 at all.
  EXPECT_GT(MaxDifference(logits.to(at::kDouble), exact), 1e-4 * scale);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Row& row : Registry()) names.push_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, ContractTest, ::testing::ValuesIn(Names()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace ordo::model::encodings
