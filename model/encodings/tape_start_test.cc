#include "model/encodings/tape_start.h"

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/ones.h"
#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/encodings/rotary_scaling.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Integers;
using model::testing::Logits;
using model::testing::Longs;
using model::testing::MaxDifference;
using model::testing::SmallTransformer;
using ordo::training::v1::Component;
using ::testing::ElementsAre;
using testing::FromText;
using ::testing::HasSubstr;
using transformer::Cache;
using transformer::ForwardOptions;

constexpr double kPi = 3.14159265358979323846;

Component Resolved(const std::string& yaml) {
  Component component = FromText(yaml);
  std::vector<base::FieldViolation> violations;
  catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &component,
                            &violations);
  EXPECT_TRUE(violations.empty());
  return component;
}

Component Yarn(const std::string& more = "") {
  return Resolved(
      "{name: yarn, params: {trained_length: 64, factor: 4, base: "
      "500" +
      more + "}}");
}

at::Tensor Frequencies(double base, int64_t channels) {
  return model::testing::Doubles({channels / 2},
                                 GeometricFrequencies(base, channels));
}

std::vector<double> Scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

void ExpectNear(const std::vector<double>& actual,
                const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t f = 0; f < actual.size(); ++f) {
    EXPECT_NEAR(actual[f], expected[f], 1e-15) << f;
  }
}

TEST(TapeStartTest, YarnUpToItsTrainedLengthIsPlain) {
  for (const int64_t length : {1, 63, 64}) {
    const Rotation plain = TapeYarnRotation(Yarn(), 16, length);
    ExpectNear(plain.frequencies, GeometricFrequencies(500, 16));
    EXPECT_EQ(plain.attention_factor, 1.0);
    // The public code multiplies by that of the longest length there, too.
    const TrainedRotation released =
        ReleasedYarnRotation(Yarn(), Frequencies(500, 16), length);
    EXPECT_EQ(MaxDifference(released.frequencies, Frequencies(500, 16)), 0.0);
    EXPECT_NEAR(released.attention_factor, 0.1 * std::log(4.0) + 1.0, 1e-15);
  }
}

TEST(TapeStartTest, YarnPastItsTrainedLengthScalesByTheLength) {
  const Rotation rotation = TapeYarnRotation(Yarn(), 16, 160);
  const Rotation yarn = RotationOf(
      Resolved("{name: yarn, params: {trained_length: 64, factor: 2.5, base: "
               "500}}"),
      16, 1);
  ExpectNear(rotation.frequencies, yarn.frequencies);
  EXPECT_NE(rotation.frequencies, GeometricFrequencies(500, 16));
  EXPECT_NEAR(rotation.attention_factor, 0.1 * std::log(2.5) + 1.0, 1e-15);
}

TEST(TapeStartTest, TheReleasedRampIsLinearInTurns) {
  // Not those of a base: they are trained.
  const std::vector<double> plain = Scaled(GeometricFrequencies(500, 16), 1.1);
  const TrainedRotation rotation =
      ReleasedYarnRotation(Yarn(", beta_fast: 8, beta_slow: 0.25"),
                           model::testing::Doubles({8}, plain), 160);
  std::vector<double> expected;
  int between = 0;
  for (const double frequency : plain) {
    const double turns = 64 * frequency / (2 * kPi);
    if (turns > 8) {
      expected.push_back(frequency);
    } else if (turns < 0.25) {
      expected.push_back(frequency / 2.5);
    } else {
      ++between;
      const double share = (turns - 0.25) / (8 - 0.25);
      expected.push_back(frequency * (share + (1 - share) / 2.5));
    }
  }
  EXPECT_GT(between, 1);
  EXPECT_LT(MaxDifference(rotation.frequencies,
                          model::testing::Doubles({8}, expected)),
            1e-15);
  EXPECT_NEAR(rotation.attention_factor, 0.1 * std::log(2.5) + 1.0, 1e-15);
}

TEST(TapeStartTest, SpansCountWhatIsSeenAndNoShift) {
  Pass pass;
  // The second row sees neither its first token nor its last.
  pass.seen_BS = Longs({2, 4}, {1, 1, 1, 1, 0, 1, 1, 0}).to(at::kBool);
  pass.positions_BS = Longs({2, 4}, {0, 1, 2, 3, 0, 7, 9, 30});
  EXPECT_THAT(VisibleSpans(pass), ElementsAre(4, 3));
  pass.positions_BS = pass.positions_BS + 1537;
  EXPECT_THAT(VisibleSpans(pass), ElementsAre(4, 3));
  pass.seen_BS = at::zeros({2, 4}, at::kBool);
  EXPECT_THAT(VisibleSpans(pass), ElementsAre(1, 1));
  pass.seen_BS = at::Tensor();
  EXPECT_THAT(VisibleSpans(pass), ElementsAre(4, 31));
}

std::string Over(const std::string& start, const std::string& params = "") {
  return "{name: tape, params: {" + params + "}, with: [" + start + "]}";
}

at::Tensor Tokens(int64_t rows, int64_t length) {
  return Integers({rows, length}, 11, "tokens");
}

// With both updates at their zero start.
TEST(TapeStartTest, AtItsZeroStartItIsTheRotaryEncodingThatItStartsFrom) {
  for (const std::string start :
       {"{name: rope, params: {base: 50, layout: interleaved}}",
        "{name: linear, params: {factor: 3}}",
        "{name: ntk, params: {factor: 3, partial: 0.5}}"}) {
    EXPECT_LT(
        MaxDifference(
            Logits(*SmallTransformer(FromText(Over(start))), Tokens(2, 9)),
            Logits(*SmallTransformer(FromText(start)), Tokens(2, 9))),
        1e-14)
        << start;
  }
  // Of 10 tokens where 4 are trained.
  EXPECT_LT(
      MaxDifference(
          Logits(*SmallTransformer(FromText(Over(
                     "{name: yarn, params: {trained_length: 4, factor: 8}}"))),
                 Tokens(2, 10)),
          Logits(*SmallTransformer(FromText("{name: yarn, params: "
                                            "{trained_length: 4, factor: "
                                            "2.5}}")),
                 Tokens(2, 10))),
      1e-14);
}

TEST(TapeStartTest, PastYarnsTrainedLengthAPaddedRowEqualsTheRowAlone) {
  const auto model = SmallTransformer(
      FromText(Over("{name: yarn, params: {trained_length: 4}}")));
  model::testing::Randomize(model->Parameters());
  const at::Tensor row = Tokens(1, 6);
  ForwardOptions padded;
  padded.attention_mask = Longs({2, 8}, {0, 0, 1, 1, 1, 1, 1, 1,  //
                                         1, 1, 1, 1, 1, 1, 1, 1});
  at::Tensor batch = Tokens(2, 8);
  batch[0].narrow(0, 2, 6).copy_(row[0]);
  EXPECT_LT(MaxDifference(
                Logits(*model, batch, padded).narrow(0, 0, 1).narrow(1, 2, 6),
                Logits(*model, row)),
            1e-12);
}

TEST(TapeStartTest, PastYarnsTrainedLengthACacheIsRefused) {
  const auto model = SmallTransformer(
      FromText(Over("{name: yarn, params: {trained_length: 4}}")));
  Cache cache;
  ForwardOptions options;
  options.cache = &cache;
  Logits(*model, Tokens(1, 3), options);
  Logits(*model, Tokens(1, 1), options);
  try {
    Logits(*model, Tokens(1, 1), options);
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(),
                HasSubstr("trained_length of 4"));
  }
}

// The state of [1,1,T,W] at the given positions.
at::Tensor StateAt(const std::string& yaml, const at::Tensor& positions,
                   parameters::ParameterSet* parameters) {
  RotaryOptions options;
  options.channels = 8;
  const auto form = MakeComplexForm(options);
  ModelShape shape;
  shape.layers = 2;
  shape.width = 16;
  shape.heads = 2;
  const auto start = MakeTapeStart(Resolved(yaml), shape, *form, parameters);
  Pass pass;
  pass.positions_BT = pass.positions_BS = positions;
  return start->State(pass, at::kDouble);
}

parameters::ParameterOptions InDouble() {
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  return options;
}

TEST(TapeStartTest, RandomFourierFeaturesAreRotationsOfRandomFrequency) {
  const auto state = [](const std::string& params, int64_t position) {
    parameters::ParameterSet none(InDouble());
    const at::Tensor result =
        StateAt("{name: tape, params: {start: random_fourier" + params + "}}",
                Longs({1, 1}, {position}), &none);
    EXPECT_TRUE(none.all().empty());
    return result.flatten();
  };
  const at::Tensor one = state("", 1), two = state("", 2);
  for (int64_t f = 0; f < 4; ++f) {
    const std::complex<double> e(one[f].item<double>(),
                                 one[f + 4].item<double>());
    EXPECT_NEAR(std::abs(e), 1.0, 1e-14);
    const std::complex<double> square = e * e;
    EXPECT_NEAR(two[f].item<double>(), square.real(), 1e-14);
    EXPECT_NEAR(two[f + 4].item<double>(), square.imag(), 1e-14);
  }
  EXPECT_LT(MaxDifference(state("", 0),
                          Longs({8}, {1, 1, 1, 1, 0, 0, 0, 0}).to(at::kDouble)),
            1e-15);
  EXPECT_GT(MaxDifference(state(", start_seed: 2", 1), one), 1e-3);
  // Twice the deviation is twice the angle.
  EXPECT_LT(MaxDifference(state(", start_std: 0.2", 1), two), 1e-14);
}

TEST(TapeStartTest, ALearnedTableIsReadByPosition) {
  parameters::ParameterSet parameters(InDouble());
  const std::string tape =
      "{name: tape, params: {start: learned, max_length: 1000}}";
  const at::Tensor state =
      StateAt(tape, Longs({2, 2}, {0, 999, 5, 5}), &parameters);
  ASSERT_EQ(parameters.all().size(), 1u);
  EXPECT_EQ(parameters.all()[0].name, "model.tape.start.weight");
  const at::Tensor table = parameters.all()[0].tensor.detach();
  EXPECT_EQ(table.sizes(), (std::vector<int64_t>{1000, 8}));
  EXPECT_NEAR(table.std().item<double>(), std::sqrt(0.5), 0.02);
  EXPECT_EQ(state.sizes(), (std::vector<int64_t>{2, 1, 2, 8}));
  EXPECT_EQ(MaxDifference(state[0][0][1], table[999]), 0.0);
  EXPECT_EQ(MaxDifference(state[1][0][0], table[5]), 0.0);
  parameters::ParameterSet other(InDouble());
  EXPECT_THROW(StateAt(tape, Longs({1, 1}, {1000}), &other), c10::Error);
}

}  // namespace
}  // namespace ordo::model::encodings
