#include "model/transformer/transformer.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "ATen/ops/ones.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/transformer/layers.h"
#include "model/transformer/mixing.h"

namespace ordo::model::transformer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::ordo::training::v1::Component;
using ::ordo::training::v1::Model;
using ::testing::AllOf;
using testing::Encoding;
using ::testing::HasSubstr;
using testing::Integers;
using testing::Logits;
using testing::Longs;
using testing::MakeTransformer;
using testing::MaxDifference;
using testing::SameBits;
using testing::SmallModel;
using testing::SmallTransformer;

// Values in units of 2^20, as the papers' tables count them.
double MebiParameters(const Component& encoding) {
  Model model = SmallModel();
  model.set_vocabulary_size(32000);
  model.set_layers(12);
  model.set_width(768);
  model.set_heads(12);
  model.set_head_width(64);
  model.set_key_value_heads(12);
  model.set_mlp_width(3072);
  parameters::ParameterOptions options;
  options.device = at::Device(at::kMeta);
  int64_t count = 0;
  const auto transformer = MakeTransformer(model, encoding, options);
  for (const auto& parameter : transformer->Parameters()) {
    count += parameter.tensor.numel();
  }
  return static_cast<double>(count) / (1 << 20);
}

std::vector<at::Tensor> Gradients(const Transformer& transformer,
                                  const ForwardOptions& options = {}) {
  const at::Tensor tokens = Integers({4, 7}, 11, "tokens");
  const at::Tensor targets = Integers({4, 7}, 11, "targets");
  for (const auto& parameter : transformer.Parameters()) {
    parameter.tensor.mutable_grad() = at::Tensor();
  }
  at::cross_entropy_loss(transformer.Forward(tokens, options).flatten(0, 1),
                         targets.flatten())
      .backward();
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : transformer.Parameters()) {
    gradients.push_back(parameter.tensor.grad().clone());
  }
  return gradients;
}

TEST(TransformerTest, TheLossIsThatOfTheLogitsAtItsPlaces) {
  const auto transformer = MakeTransformer(SmallModel(), Encoding("rope"));
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  Targets targets;
  targets.targets_N = Integers({5}, 11, "targets");
  targets.places_N = Integers({5}, 14, "places");
  targets.factor = 0.5;
  const at::Tensor logits_NV =
      transformer->Forward(tokens).flatten(0, 1).index_select(0,
                                                              targets.places_N);
  const at::Tensor right = at::cross_entropy_loss(logits_NV, targets.targets_N,
                                                  {}, at::Reduction::Sum);
  EXPECT_NEAR(transformer->Loss(tokens, targets, {}).item<double>(),
              0.5 * right.item<double>(), 1e-5);
}

TEST(TransformerTest, LossesOfEachPlaceAddUpToTheLoss) {
  const auto transformer = MakeTransformer(SmallModel(), Encoding("rope"));
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  Targets targets;
  targets.targets_N = Integers({5}, 11, "targets");
  targets.places_N = Integers({5}, 14, "places");
  const at::Tensor losses = transformer->Losses(tokens, targets, {});
  EXPECT_EQ(losses.sizes(), targets.targets_N.sizes());
  EXPECT_EQ(losses.scalar_type(), at::kFloat);
  EXPECT_NEAR(losses.sum().item<double>(),
              transformer->Loss(tokens, targets, {}).item<double>(), 1e-4);
  // Logits for a few places at a time are no others.
  ForwardOptions few;
  few.logits_at_once = 30;
  EXPECT_LT(MaxDifference(transformer->Losses(tokens, targets, few), losses),
            1e-5);
}

// An evaluation's passes hold as many places as its questions happen to have.
TEST(TransformerTest, TheLossOfAPlaceKnowsNothingOfTheOthers) {
  const auto transformer = MakeTransformer(SmallModel(), Encoding("rope"));
  const at::Tensor tokens = Integers({4, 50}, 11, "tokens");
  Targets targets;
  targets.targets_N = Integers({150}, 11, "targets");
  targets.places_N = Integers({150}, 200, "places");
  const at::Tensor all = transformer->Losses(tokens, targets, {});
  for (const int64_t count : {1, 7, 64, 65, 149}) {
    Targets few;
    few.targets_N = targets.targets_N.narrow(0, 0, count);
    few.places_N = targets.places_N.narrow(0, 0, count);
    const at::Tensor losses = transformer->Losses(tokens, few, {});
    ASSERT_EQ(losses.size(0), count);
    EXPECT_EQ(MaxDifference(losses, all.narrow(0, 0, count)), 0) << count;
  }
}

// A question's places are anywhere among those of its pass.
TEST(TransformerTest, TheLossOfAPlaceIsItsOwnWhereverItStands) {
  const auto transformer = MakeTransformer(SmallModel(), Encoding("rope"));
  const at::Tensor tokens = Integers({4, 50}, 11, "tokens");
  Targets targets;
  targets.targets_N = Integers({150}, 11, "targets");
  targets.places_N = Integers({150}, 200, "places");
  const at::Tensor all = transformer->Losses(tokens, targets, {});
  const at::Tensor order = at::arange(150, at::TensorOptions(at::kLong));
  for (const at::Tensor& chosen :
       {order.flip({0}), order.narrow(0, 1, 149), order.narrow(0, 64, 86),
        order.narrow(0, 149, 1), order.slice(0, 3, 150, 7)}) {
    Targets some;
    some.targets_N = targets.targets_N.index_select(0, chosen);
    some.places_N = targets.places_N.index_select(0, chosen);
    const at::Tensor losses = transformer->Losses(tokens, some, {});
    ASSERT_EQ(losses.sizes(), chosen.sizes());
    EXPECT_LT(MaxDifference(losses, all.index_select(0, chosen)), 1e-5);
  }
}

TEST(TransformerTest, ParameterCountsEqualTheTapePapersTable3) {
  EXPECT_NEAR(MebiParameters(Encoding("none")), 154.893, 5e-4);
  EXPECT_NEAR(MebiParameters(Encoding("rope")), 154.893, 5e-4);
  // 38 160 values in each layer but the last.
  EXPECT_NEAR(MebiParameters(Encoding("tape")),
              (162417408.0 + 11 * 38160) / (1 << 20), 1e-9);
  EXPECT_NEAR(MebiParameters(Encoding("tape")), 155.29, 5e-3);
}

TEST(TransformerTest, NamesAndShapesAreHuggingFacesLlama) {
  const auto transformer = SmallTransformer(Encoding("rope"));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& parameter : transformer->Parameters()) {
    shapes[parameter.name] = parameter.tensor.sizes().vec();
  }
  std::map<std::string, std::vector<int64_t>> expected = {
      {"model.embed_tokens.weight", {11, 16}},
      {"model.norm.weight", {16}},
      {"lm_head.weight", {11, 16}},
  };
  for (int layer = 0; layer < 3; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    for (const char* name : {"q", "k", "v", "o"}) {
      expected[prefix + "self_attn." + name + "_proj.weight"] = {16, 16};
    }
    expected[prefix + "mlp.gate_proj.weight"] = {24, 16};
    expected[prefix + "mlp.up_proj.weight"] = {24, 16};
    expected[prefix + "mlp.down_proj.weight"] = {16, 24};
    expected[prefix + "input_layernorm.weight"] = {16};
    expected[prefix + "post_attention_layernorm.weight"] = {16};
  }
  EXPECT_EQ(shapes, expected);
}

TEST(TransformerTest, OptionsChangeTheParametersAndStillTrain) {
  Model model = SmallModel();
  model.set_mlp("gelu");
  model.set_norm("layernorm");
  model.set_tie_embeddings(true);
  model.set_qk_norm(true);
  const auto transformer = MakeTransformer(model, Encoding("rope"));
  std::set<std::string> names;
  for (const auto& parameter : transformer->Parameters()) {
    names.insert(parameter.name);
  }
  EXPECT_EQ(names.count("lm_head.weight"), 0u);
  EXPECT_EQ(names.count("model.layers.0.mlp.gate_proj.weight"), 0u);
  EXPECT_EQ(names.count("model.layers.0.self_attn.q_norm.weight"), 1u);
  for (const at::Tensor& gradient : Gradients(*transformer)) {
    EXPECT_GT(gradient.abs().max().item<double>(), 0.0);
  }
}

TEST(TransformerTest, BiasesAndNormsAreAddedWhereAskedFor) {
  Model model = SmallModel();
  model.set_norm("layernorm");
  model.set_head_width(6);
  model.set_attention_bias("qkv");
  model.set_mlp_bias(true);
  model.set_norm_bias(true);
  model.set_embedding_norm(true);
  model.set_parallel_residual(true);
  model.set_sliding_window(3);
  const auto transformer = MakeTransformer(model, Encoding("rope"));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& parameter : transformer->Parameters()) {
    shapes[parameter.name] = parameter.tensor.sizes().vec();
  }
  using Shape = std::vector<int64_t>;
  const std::string layer = "model.layers.1.";
  EXPECT_EQ(shapes.at("model.embed_norm.weight"), Shape({16}));
  EXPECT_EQ(shapes.at("model.embed_norm.bias"), Shape({16}));
  EXPECT_EQ(shapes.at("model.norm.bias"), Shape({16}));
  EXPECT_EQ(shapes.at(layer + "self_attn.q_proj.weight"), Shape({12, 16}));
  EXPECT_EQ(shapes.at(layer + "self_attn.q_proj.bias"), Shape({12}));
  EXPECT_EQ(shapes.at(layer + "self_attn.o_proj.weight"), Shape({16, 12}));
  EXPECT_EQ(shapes.count(layer + "self_attn.o_proj.bias"), 0u);
  EXPECT_EQ(shapes.at(layer + "mlp.gate_proj.bias"), Shape({24}));
  EXPECT_EQ(shapes.at(layer + "mlp.down_proj.bias"), Shape({16}));
  EXPECT_EQ(shapes.at(layer + "input_layernorm.bias"), Shape({16}));
  for (const at::Tensor& gradient : Gradients(*transformer)) {
    EXPECT_GT(gradient.abs().max().item<double>(), 0.0);
  }
  model.set_attention_bias("all");
  EXPECT_EQ(MakeTransformer(model, Encoding("rope"))->Parameters().size(),
            transformer->Parameters().size() + 3);
}

TEST(TransformerTest, AWindowOfThreeReachesTwoTokensBackInEachLayer) {
  Model model = SmallModel();
  model.set_layers(1);
  model.set_sliding_window(3);
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  const auto transformer = MakeTransformer(model, Encoding("none"), options);
  const at::Tensor logits =
      Logits(*transformer, Longs({1, 5}, {1, 2, 3, 4, 5}));
  const at::Tensor changed =
      Logits(*transformer, Longs({1, 5}, {9, 2, 3, 4, 5}));
  EXPECT_GT(MaxDifference(logits.select(1, 2), changed.select(1, 2)), 1e-9);
  EXPECT_TRUE(SameBits(logits.narrow(1, 3, 2), changed.narrow(1, 3, 2)));
  // With a cache, too.
  Cache cache;
  ForwardOptions cached;
  cached.cache = &cache;
  Logits(*transformer, Longs({1, 4}, {1, 2, 3, 4}), cached);
  EXPECT_LT(MaxDifference(Logits(*transformer, Longs({1, 1}, {5}), cached),
                          logits.narrow(1, 4, 1)),
            1e-13);
}

TEST(TransformerTest, ATextGivesTheLogitsThatItGivesAlone) {
  parameters::ParameterOptions in_double;
  in_double.dtype = at::kDouble;
  for (const char* encoding : {"rope", "alibi", "none"}) {
    const auto transformer =
        MakeTransformer(SmallModel(), Encoding(encoding), in_double);
    const at::Tensor alone = Logits(*transformer, Longs({1, 3}, {7, 8, 9}));
    ForwardOptions options;
    options.first_seen = Longs({1, 5}, {0, 0, 2, 2, 2});
    const at::Tensor row = Longs({1, 5}, {3, 4, 7, 8, 9});
    const at::Tensor packed = Logits(*transformer, row, options);
    EXPECT_LT(MaxDifference(packed.narrow(1, 2, 3), alone), 1e-12) << encoding;
    EXPECT_GT(MaxDifference(Logits(*transformer, row).narrow(1, 2, 3), alone),
              1e-6)
        << encoding;
    // As plain operations have it, too.
    options.kernel = "reference";
    EXPECT_LT(MaxDifference(Logits(*transformer, row, options), packed), 1e-12)
        << encoding;
  }
}

TEST(TransformerTest, TextsApartNeedTheCausalMask) {
  Model model = SmallModel();
  model.set_causal(false);
  const auto transformer = MakeTransformer(model, Encoding("none"));
  ForwardOptions options;
  options.first_seen = Longs({1, 2}, {0, 1});
  EXPECT_THROW(transformer->Forward(Longs({1, 2}, {3, 4}), options),
               c10::Error);
}

TEST(TransformerTest, AWindowWithoutTheCausalMaskHasTwoSides) {
  Model model = SmallModel();
  model.set_layers(1);
  model.set_causal(false);
  model.set_sliding_window(2);
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  const auto transformer = MakeTransformer(model, Encoding("none"), options);
  const at::Tensor logits =
      Logits(*transformer, Longs({1, 5}, {1, 2, 3, 4, 5}));
  const at::Tensor changed =
      Logits(*transformer, Longs({1, 5}, {1, 2, 3, 4, 9}));
  EXPECT_GT(MaxDifference(logits.select(1, 3), changed.select(1, 3)), 1e-9);
  EXPECT_TRUE(SameBits(logits.narrow(1, 0, 3), changed.narrow(1, 0, 3)));
}

TEST(TransformerTest, EncodingsShareAllOtherInitialWeightsBitForBit) {
  const auto rope = MakeTransformer(SmallModel(), Encoding("rope"));
  const auto tape = MakeTransformer(SmallModel(), Encoding("tape"));
  std::map<std::string, at::Tensor> of_tape;
  for (const auto& parameter : tape->Parameters()) {
    of_tape[parameter.name] = parameter.tensor;
  }
  ASSERT_LT(rope->Parameters().size(), of_tape.size());
  for (const auto& parameter : rope->Parameters()) {
    EXPECT_TRUE(SameBits(parameter.tensor, of_tape[parameter.name]))
        << parameter.name;
  }
}

TEST(TransformerTest, TheSeedDecidesTheWeights) {
  parameters::ParameterOptions options;
  options.seed = 2;
  const auto one = MakeTransformer(SmallModel(), Encoding("none"));
  const auto two = MakeTransformer(SmallModel(), Encoding("none"), options);
  EXPECT_FALSE(
      SameBits(one->Parameters()[0].tensor, two->Parameters()[0].tensor));
}

TEST(TransformerTest, GradientsAreEqualOnEveryRun) {
  for (const char* name : {"none", "rope", "tape"}) {
    const auto transformer = MakeTransformer(SmallModel(), Encoding(name));
    testing::Randomize(transformer->Parameters());
    const std::vector<at::Tensor> first = Gradients(*transformer);
    const std::vector<at::Tensor> again = Gradients(*transformer);
    for (size_t i = 0; i < first.size(); ++i) {
      EXPECT_TRUE(SameBits(first[i], again[i]))
          << name << " " << transformer->Parameters()[i].name;
    }
  }
}

TEST(TransformerTest, LaterTokensChangeNoEarlierLogits) {
  const auto transformer = SmallTransformer(Encoding("tape"));
  testing::Randomize(transformer->Parameters());
  const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
  at::Tensor other = tokens.clone();
  other.select(1, 4).fill_(10 - tokens.select(1, 4).max().item<int64_t>());
  const at::Tensor a = Logits(*transformer, tokens);
  const at::Tensor b = Logits(*transformer, other);
  EXPECT_LT(MaxDifference(a.narrow(1, 0, 4), b.narrow(1, 0, 4)), 1e-14);
  EXPECT_GT(MaxDifference(a.narrow(1, 4, 2), b.narrow(1, 4, 2)), 1e-3);
}

TEST(TransformerTest, PositionsCountTheRealTokensAndGoOnWithTheCache) {
  const auto transformer = SmallTransformer(Encoding("rope"));
  const at::Tensor tokens = Integers({2, 4}, 11, "tokens");
  Cache cache;
  ForwardOptions options;
  options.cache = &cache;
  options.attention_mask = testing::Longs({2, 4}, {0, 0, 1, 1, 1, 1, 1, 1});
  Logits(*transformer, tokens, options);
  options.attention_mask.reset();
  Logits(*transformer, tokens.narrow(1, 0, 2), options);
  EXPECT_TRUE(
      SameBits(cache.positions,
               testing::Longs({2, 6}, {0, 0, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5})));
  EXPECT_EQ(cache.length, 6);
}

TEST(TransformerTest, DropoutActsOnlyWhenAskedForAndRepeats) {
  Model model = SmallModel();
  model.set_dropout(0.3);
  const auto transformer = MakeTransformer(model, Encoding("rope"));
  testing::Randomize(transformer->Parameters());
  const auto plain = MakeTransformer(SmallModel(), Encoding("rope"));
  testing::Randomize(plain->Parameters());
  const at::Tensor tokens = Integers({2, 5}, 11, "tokens");
  EXPECT_TRUE(SameBits(Logits(*transformer, tokens), Logits(*plain, tokens)));
  ForwardOptions dropped;
  dropped.dropout = Dropout{};
  const at::Tensor once = Logits(*transformer, tokens, dropped);
  EXPECT_GT(MaxDifference(once, Logits(*plain, tokens)), 1e-3);
  EXPECT_TRUE(SameBits(once, Logits(*transformer, tokens, dropped)));
}

TEST(TransformerTest, SplittingABatchChangesNoDropout) {
  Model model = SmallModel();
  model.set_dropout(0.3);
  const auto transformer = MakeTransformer(model, Encoding("rope"));
  const at::Tensor tokens = Integers({4, 5}, 11, "tokens");
  ForwardOptions whole, part;
  whole.dropout = Dropout{};
  part.dropout = Dropout{};
  part.dropout->first_row = 2;
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, whole).narrow(0, 2, 2),
                          Logits(*transformer, tokens.narrow(0, 2, 2), part)),
            1e-5);
}

TEST(TransformerTest, AWrongModelOrEncodingNamesItsFields) {
  Model model = SmallModel();
  model.set_heads(5);
  model.clear_head_width();
  EXPECT_THAT(
      Transformer::Create(model, Encoding("rope"), {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("model.width")));
  EXPECT_THAT(Transformer::Create(SmallModel(), Encoding("ropes"), {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("encoding.name"), HasSubstr("rope"))));
}

// One layer over one token, which attends to itself.
TEST(TransformerTest, TheMlpReadsTheSumOrItsFirstTermWhereParallel) {
  for (const bool parallel : {false, true}) {
    Model model = SmallModel();
    model.set_layers(1);
    model.set_parallel_residual(parallel);
    parameters::ParameterOptions options;
    options.dtype = at::kDouble;
    const auto transformer = MakeTransformer(model, Encoding("none"), options);
    testing::Randomize(transformer->Parameters());
    const at::NoGradGuard no_grad;
    std::map<std::string, at::Tensor> weights;
    for (const auto& parameter : transformer->Parameters()) {
      weights[parameter.name] = parameter.tensor;
    }
    const auto linear = [&](const at::Tensor& x, const std::string& name) {
      return x.matmul(weights.at(name + ".weight").t());
    };
    const auto norm = [&](const at::Tensor& x, const std::string& name) {
      return RmsNorm(x, weights.at(name + ".weight"), model.norm_epsilon());
    };
    const std::string layer = "model.layers.0.";
    const at::Tensor x = weights.at("model.embed_tokens.weight");
    const at::Tensor middle =
        x + linear(linear(norm(x, layer + "input_layernorm"),
                          layer + "self_attn.v_proj"),
                   layer + "self_attn.o_proj");
    const at::Tensor inner =
        norm(parallel ? x : middle, layer + "post_attention_layernorm");
    const at::Tensor gate = linear(inner, layer + "mlp.gate_proj");
    const at::Tensor mlp =
        linear(gate * gate.sigmoid() * linear(inner, layer + "mlp.up_proj"),
               layer + "mlp.down_proj");
    const at::Tensor tokens = Longs({2, 1}, {3, 8});
    EXPECT_LT(MaxDifference(Logits(*transformer, tokens).squeeze(1),
                            linear(norm(middle + mlp, "model.norm"), "lm_head")
                                .index_select(0, tokens.squeeze(1))),
              1e-12)
        << parallel;
  }
}

// Copies each head of keys and values as often as it serves.
TEST(TransformerTest, GroupedKeysEqualTheSameKeysForEachHead) {
  for (const char* encoding :
       {"{name: none}", "{name: rope}", "{name: tape}",
        "{name: tape, params: {equivariant: false}}",
        "{name: tape, params: {embedding: vector}}",
        "{name: tape, params: {mix_axis: L}}",
        "{name: tape, params: {start: learned, max_length: 8}}"}) {
    SCOPED_TRACE(encoding);
    Model model = SmallModel();
    model.set_heads(4);
    model.set_head_width(4);
    model.set_key_value_heads(2);
    parameters::ParameterOptions options;
    options.dtype = at::kDouble;
    const auto few =
        MakeTransformer(model, encodings::testing::FromText(encoding), options);
    // What starts at zero acts, too.
    testing::Randomize(few->Parameters());
    model.set_key_value_heads(4);
    const auto all =
        MakeTransformer(model, encodings::testing::FromText(encoding), options);
    {
      const at::NoGradGuard no_grad;
      for (size_t i = 0; i < all->Parameters().size(); ++i) {
        const auto& [name, tensor] = all->Parameters()[i];
        const at::Tensor& theirs = few->Parameters()[i].tensor;
        const int64_t times = tensor.size(0) / theirs.size(0);
        EXPECT_EQ(times, name.find("k_proj") != std::string::npos ||
                                 name.find("v_proj") != std::string::npos
                             ? 2
                             : 1)
            << name;
        // Heads 0 and 1 share the first one, 2 and 3 the second.
        tensor.copy_(times == 1 ? theirs
                                : theirs.unflatten(0, {2, 4})
                                      .repeat_interleave(times, 0)
                                      .flatten(0, 1));
      }
    }
    const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
    EXPECT_LT(MaxDifference(Logits(*few, tokens), Logits(*all, tokens)), 1e-13);
    // With a cache, too.
    Cache cache;
    ForwardOptions cached;
    cached.cache = &cache;
    Logits(*few, tokens.narrow(1, 0, 4), cached);
    EXPECT_LT(MaxDifference(Logits(*few, tokens.narrow(1, 4, 2), cached),
                            Logits(*all, tokens).narrow(1, 4, 2)),
              1e-13);
  }
}

TEST(TransformerTest, WithoutTheCausalMaskTheFirstTokenSeesTheLast) {
  Model model = SmallModel();
  model.set_causal(false);
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  const auto transformer = MakeTransformer(model, Encoding("rope"), options);
  const at::Tensor tokens = Longs({1, 4}, {1, 2, 3, 4});
  const at::Tensor changed = Longs({1, 4}, {1, 2, 3, 9});
  EXPECT_GT(MaxDifference(Logits(*transformer, tokens).select(1, 0),
                          Logits(*transformer, changed).select(1, 0)),
            1e-9);
  Cache cache;
  ForwardOptions cached;
  cached.cache = &cache;
  EXPECT_THROW(Logits(*transformer, tokens, cached), c10::Error);
}

TEST(TransformerTest, InputsOfTheWrongShapeAreRefused) {
  const auto transformer = SmallTransformer(Encoding("rope"));
  const at::Tensor tokens = Integers({2, 5}, 11, "tokens");
  ForwardOptions mask, positions;
  mask.attention_mask = Integers({2, 4}, 2, "mask");
  positions.positions = Integers({3, 5}, 9, "positions");
  EXPECT_THROW(Logits(*transformer, tokens, mask), c10::Error);
  EXPECT_THROW(Logits(*transformer, tokens, positions), c10::Error);
  EXPECT_THROW(Logits(*transformer, tokens.flatten()), c10::Error);
}

// One layer, so that a token sees what its heads see and no more.
TEST(TransformerTest, ShiftedSparseTokensSeeTheirGroups) {
  ordo::training::v1::Model model = testing::SmallModel();
  model.set_layers(1);
  parameters::ParameterOptions double_precision;
  double_precision.dtype = at::kDouble;
  const auto transformer = testing::MakeTransformer(
      model, testing::Encoding("rope"), double_precision);
  testing::Randomize(transformer->Parameters());
  ForwardOptions options;
  options.shifted_sparse_group = 4;
  const at::Tensor tokens = testing::Integers({1, 11}, 11, "tokens");
  const at::Tensor logits = testing::Logits(*transformer, tokens, options);
  for (int64_t j = 0; j < 11; ++j) {
    at::Tensor other = tokens.clone();
    other[0][j] = (other[0][j] + 1).remainder(11);
    const at::Tensor changed = testing::Logits(*transformer, other, options);
    for (int64_t i = 0; i < 11; ++i) {
      const bool sees =
          j <= i && (i / 4 == j / 4 || (i + 2) / 4 == (j + 2) / 4);
      EXPECT_EQ(!testing::SameBits(logits[0][i], changed[0][i]), sees)
          << i << " sees " << j;
    }
  }
}

TEST(TransformerTest, ShiftedSparseGroupsCountRealTokensAndMayHoldAll) {
  const auto transformer = testing::SmallTransformer(testing::Encoding("rope"));
  testing::Randomize(transformer->Parameters());
  const at::Tensor tokens = testing::Integers({1, 6}, 11, "tokens");
  ForwardOptions sparse;
  sparse.shifted_sparse_group = 12;
  EXPECT_LT(
      testing::MaxDifference(testing::Logits(*transformer, tokens),
                             testing::Logits(*transformer, tokens, sparse)),
      1e-12);
  // Three tokens of padding on the left.
  sparse.shifted_sparse_group = 4;
  const at::Tensor plain = testing::Logits(*transformer, tokens, sparse);
  const at::Tensor padded = at::cat({at::zeros({1, 3}, at::kLong), tokens}, 1);
  sparse.attention_mask =
      at::cat({at::zeros({1, 3}, at::kLong), at::ones({1, 6}, at::kLong)}, 1);
  EXPECT_LT(
      testing::MaxDifference(
          plain, testing::Logits(*transformer, padded, sparse).narrow(1, 3, 6)),
      1e-12);
}

// What each layer shows in one pass over `tokens`.
std::vector<LayerView> Looked(const Transformer& transformer,
                              const at::Tensor& tokens,
                              ForwardOptions options = {}) {
  std::vector<LayerView> views;
  options.on_layer = [&](const LayerView& view) { views.push_back(view); };
  Logits(transformer, tokens, options);
  return views;
}

TEST(TransformerTest, WhoLooksSeesEachLayersWeightsAndChangesNothing) {
  const auto transformer = SmallTransformer(Encoding("rope"));
  testing::Randomize(transformer->Parameters());
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  std::vector<int> layers;
  std::set<std::string> kernels;
  ForwardOptions options;
  options.kernels_taken = &kernels;
  // Fewer than the logits of one query: blocks, but for who looks.
  options.logits_at_once = 1;
  options.on_layer = [&](const LayerView& view) {
    layers.push_back(view.layer);
    ASSERT_EQ(view.weights_BHTS.sizes(), at::IntArrayRef({2, 2, 7, 7}));
    EXPECT_LT(MaxDifference(view.weights_BHTS.sum(-1),
                            at::ones({2, 2, 7}, at::kDouble)),
              1e-12);
    EXPECT_EQ(view.weights_BHTS.triu(1).abs().max().item<double>(), 0.0);
    EXPECT_FALSE(view.of_bias_BHTS.defined());
  };
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, options),
                          Logits(*transformer, tokens)),
            1e-12);
  EXPECT_EQ(layers, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(kernels, std::set<std::string>{"reference"});
}

TEST(TransformerTest, WhoLooksSeesWhatTheBiasAloneWouldGive) {
  const auto transformer = SmallTransformer(Encoding("alibi"));
  testing::Randomize(transformer->Parameters());
  const std::vector<LayerView> views =
      Looked(*transformer, Integers({2, 2}, 11, "tokens"));
  ASSERT_EQ(views.size(), 3u);
  for (const LayerView& view : views) {
    EXPECT_FALSE(view.state.defined());
    ASSERT_EQ(view.of_bias_BHTS.sizes(), at::IntArrayRef({2, 2, 2, 2}));
    for (int head = 0; head < 2; ++head) {
      // Two heads have the slopes 2^-4 and 2^-8.
      const double far = std::exp(-std::exp2(-4.0 * (head + 1)));
      const at::Tensor weights = view.of_bias_BHTS[1][head];
      EXPECT_NEAR(weights[0][0].item<double>(), 1, 1e-12);
      EXPECT_NEAR(weights[1][0].item<double>(), far / (1 + far), 1e-12);
      EXPECT_NEAR(weights[1][1].item<double>(), 1 / (1 + far), 1e-12);
    }
  }
}

// sum_f cos((i - j) theta_f), theta_f = 10000^(-f/4): four frequencies.
TEST(TransformerTest, PositionsLieToEachOtherAsRopesAnglesDo) {
  for (const char* name : {"rope", "tape"}) {
    const auto transformer = SmallTransformer(Encoding(name));
    testing::Randomize(transformer->Parameters());
    const std::vector<LayerView> views =
        Looked(*transformer, Integers({1, 7}, 11, "tokens"));
    const at::Tensor start = views[0].state.flatten(0, -3)[0];
    double expected = 0;
    for (int f = 0; f < 4; ++f) {
      expected += std::cos(3 * std::pow(10000.0, -f / 4.0));
    }
    EXPECT_NEAR((start[5] * start[2]).sum().item<double>(), expected, 1e-12)
        << name;
    // TAPE's state is changed from layer to layer.
    const double change = MaxDifference(views[1].state.flatten(0, -3)[0],
                                        views[0].state.flatten(0, -3)[0]);
    EXPECT_EQ(change > 1e-6, std::string(name) == "tape") << name;
  }
}

TEST(TransformerTest, AdaptersTrainBesideTheirMatricesAndMerge) {
  const auto transformer = testing::MakeTransformer(testing::SmallModel(),
                                                    testing::Encoding("rope"));
  testing::Randomize(transformer->Parameters(), 0.1);
  const size_t before = transformer->Parameters().size();
  const at::Tensor tokens = testing::Integers({2, 7}, 11, "tokens");
  const at::Tensor plain = testing::Logits(*transformer, tokens);
  ordo::training::v1::Lora lora;
  lora.set_rank(2);
  lora.set_alpha(4);
  for (const char* target : {"q_proj", "k_proj", "v_proj", "o_proj",
                             "gate_proj", "up_proj", "down_proj"}) {
    lora.add_targets(target);
  }
  transformer->AddAdapters(lora);
  EXPECT_EQ(transformer->Parameters().size(), before + 3 * 7 * 2);
  EXPECT_TRUE(testing::SameBits(testing::Logits(*transformer, tokens), plain));
  std::vector<parameters::NamedTensor> adapters(
      transformer->Parameters().begin() + before,
      transformer->Parameters().end());
  EXPECT_EQ(adapters.front().name,
            "model.layers.0.self_attn.q_proj.lora_A.weight");
  testing::Randomize(adapters, 0.1);
  const at::Tensor adapted = testing::Logits(*transformer, tokens);
  EXPECT_GT(testing::MaxDifference(adapted, plain), 1e-3);
  transformer->MergeAdapters();
  EXPECT_LT(
      testing::MaxDifference(testing::Logits(*transformer, tokens), adapted),
      1e-6);
  transformer->UnmergeAdapters();
  EXPECT_TRUE(
      testing::SameBits(testing::Logits(*transformer, tokens), adapted));
  transformer->Forward(tokens).square().sum().backward();
  for (const auto& adapter : adapters) {
    EXPECT_TRUE(adapter.tensor.grad().defined()) << adapter.name;
    EXPECT_GT(adapter.tensor.grad().abs().max().item<float>(), 0.0)
        << adapter.name;
  }
}

}  // namespace
}  // namespace ordo::model::transformer
