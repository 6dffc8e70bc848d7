#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Integers;
using model::testing::Logits;
using model::testing::MakeTransformer;
using model::testing::MaxDifference;
using model::testing::SmallModel;
using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

const std::string kQuery = "model.layers.1.self_attn.rope_bias.query";
const std::string kKey = "model.layers.1.self_attn.rope_bias.key";

ModelShape Shape() { return {2, 16, 2}; }

at::Tensor Scores(const std::string& yaml, const Attention& attention) {
  return Probe(FromText(yaml), Shape()).Scores(attention);
}

// The encoding `plain` on q + a and k + b is `yaml` on q and k.
void ExpectBiasesBefore(const std::string& plain, const std::string& yaml) {
  Probe probe(FromText(yaml), Shape());
  probe.Randomize();
  Attention attention = RandomAttention(2, 2, 6, 8);
  attention.layer = 1;
  const at::Tensor scores = probe.Scores(attention);
  attention.q_BHTD =
      attention.q_BHTD + probe.Parameter(kQuery).detach().unsqueeze(1);
  attention.k_BHTD =
      attention.k_BHTD + probe.Parameter(kKey).detach().unsqueeze(1);
  EXPECT_LT(MaxDifference(scores, Scores(plain, attention)), 1e-13) << yaml;
}

TEST(RopeBiasTest, BiasesAreAddedBeforeRotation) {
  ExpectBiasesBefore("{name: rope}", "{name: rope_bias}");
}

TEST(RopeBiasTest, ItsOwnParametersTurn) {
  ExpectBiasesBefore(
      "{name: rope, params: {base: 50, partial: 0.5, layout: interleaved}}",
      "{name: rope_bias, params: {base: 50, partial: 0.5, layout: "
      "interleaved}}");
}

TEST(RopeBiasTest, EitherMayBeNamedFirst) {
  for (const std::string rotation :
       {"{name: yarn", "{name: xpos", "{name: rope_2d",
        "{name: rerope, params: {window: 2}",
        "{name: dynamic_ntk, params: {trained_length: 4}"}) {
    ExpectBiasesBefore(rotation + "}",
                       rotation + ", with: [{name: rope_bias}]}");
    ExpectBiasesBefore(rotation + "}",
                       "{name: rope_bias, with: [" + rotation + "}]}");
  }
}

TEST(RopeBiasTest, ABiasOnLogitsIsAdded) {
  const Attention attention = RandomAttention(2, 2, 6, 8);
  EXPECT_EQ(MaxDifference(
                Scores("{name: rope_bias, with: [{name: alibi}]}", attention),
                Scores("{name: rope, with: [{name: alibi}]}", attention)),
            0.0);
}

TEST(RopeBiasTest, ItStartsAsRope) {
  const Attention attention = RandomAttention(2, 2, 6, 8);
  EXPECT_EQ(MaxDifference(Scores("{name: rope_bias}", attention),
                          Scores("{name: rope}", attention)),
            0.0);
}

// b belongs to heads of keys.
TEST(RopeBiasTest, KeyBiasesAreOfKeyHeads) {
  auto model = SmallModel();
  model.set_key_value_heads(1);
  const auto transformer =
      MakeTransformer(model, FromText("{name: rope_bias}"));
  int64_t seen = 0;
  for (const auto& parameter : transformer->Parameters()) {
    if (parameter.name == kQuery) {
      EXPECT_EQ(parameter.tensor.sizes(), (std::vector<int64_t>{2, 8}));
      ++seen;
    }
    if (parameter.name == kKey) {
      EXPECT_EQ(parameter.tensor.sizes(), (std::vector<int64_t>{1, 8}));
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
  Logits(*transformer, Integers({2, 5}, 11, "tokens"));
}

}  // namespace
}  // namespace ordo::model::encodings
