#include "gtest/gtest.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using testing::Encoding;
using testing::Integers;
using testing::Logits;
using testing::MaxDifference;
using testing::SmallTransformer;

TEST(NoneTest, PositionIdsDoNotMatter) {
  const auto transformer = SmallTransformer(Encoding("none"));
  const at::Tensor tokens = Integers({2, 5}, 11, "tokens");
  transformer::ForwardOptions options;
  options.positions = Integers({2, 5}, 100, "positions");
  EXPECT_EQ(MaxDifference(Logits(*transformer, tokens),
                          Logits(*transformer, tokens, options)),
            0.0);
}

// Nothing tells the order of the tokens before the last one apart, in a model
// of one layer.
TEST(NoneTest, OneLayerDoesNotSeeTheOrderOfPastTokens) {
  ordo::training::v1::Model model = testing::SmallModel();
  model.set_layers(1);
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  const auto none = testing::MakeTransformer(model, Encoding("none"), options);
  const auto rope = testing::MakeTransformer(model, Encoding("rope"), options);
  testing::Randomize(none->Parameters());
  testing::Randomize(rope->Parameters());
  const at::Tensor one = testing::Longs({1, 4}, {1, 2, 3, 4});
  const at::Tensor other = testing::Longs({1, 4}, {3, 1, 2, 4});
  const auto last_moves = [&](const transformer::Transformer& transformer) {
    return MaxDifference(Logits(transformer, one).select(1, 3),
                         Logits(transformer, other).select(1, 3));
  };
  EXPECT_LT(last_moves(*none), 1e-14);
  EXPECT_GT(last_moves(*rope), 1e-3);
}

}  // namespace
}  // namespace ordo::model::encodings
