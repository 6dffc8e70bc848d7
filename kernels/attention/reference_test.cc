#include "kernels/attention/reference.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/case.h"
#include "kernels/attention/check/crossed.h"
#include "kernels/attention/check/problems.h"

namespace ordo::kernels::attention {
namespace {

Problem Small() {
  Problem p = check::Plain(5, 3);
  p.queries = 3;
  p.num_values = kMaxValues;
  p.values[1] = {2, p.heads};
  p.values[2] = {1, p.key_heads};
  return p;
}

// What the gradients are of: sum over all outputs of their gradient times them.
double Loss(const Problem& problem, Tensors* x) {
  ReferenceForward(problem, x);
  double loss = 0;
  for (int o = 0; o < kNumOutputs; ++o) {
    for (size_t i = 0; i < x->outputs[o].size(); ++i) {
      loss += x->outputs[o][i] * x->d_outputs[o][i];
    }
  }
  return loss;
}

// Central differences of the loss by every so many elements of an input.
void ExpectGradient(const Problem& problem, Input input, size_t every,
                    Tensors* x) {
  constexpr double kStep = 1e-6;
  const std::vector<double> found = x->d_inputs[input];
  ASSERT_EQ(found.size(), x->inputs[input].size());
  for (size_t i = 0; i < found.size(); i += every) {
    double& at = x->inputs[input][i];
    const double before = at;
    at = before + kStep;
    const double above = Loss(problem, x);
    at = before - kStep;
    const double below = Loss(problem, x);
    at = before;
    EXPECT_NEAR(found[i], (above - below) / (2 * kStep), 1e-7)
        << NameOf(input) << " " << i;
  }
}

class GradientTest : public ::testing::TestWithParam<check::Change> {};

TEST_P(GradientTest, IsThatOfFiniteDifferences) {
  Problem problem = Small();
  GetParam().apply(&problem);
  Tensors x = check::MakeTensors(problem, 7);
  ReferenceBackward(problem, &x);
  for (int i = 0; i < kNumInputs; ++i) {
    ExpectGradient(problem, static_cast<Input>(i), 1, &x);
  }
}

INSTANTIATE_TEST_SUITE_P(Changes, GradientTest,
                         ::testing::ValuesIn(check::Changes()),
                         [](const auto& info) { return info.param.label; });

// With groups of three tokens.
check::CrossedSizes SmallSizes() { return {{2, 3}, {9}, /*one_query=*/true}; }

Tensors MakeTensors(const check::Case& c) {
  Tensors x = check::MakeTensors(c.problem, 7);
  if (c.draw != nullptr) c.draw(c.problem, &x);
  return x;
}

class CrossedGradientTest : public ::testing::TestWithParam<check::Crossed> {};

// Of large inputs of a part, in steps that take every head and channel in turn.
TEST_P(CrossedGradientTest, IsThatOfFiniteDifferences) {
  const Problem& problem = GetParam().of.problem;
  Tensors x = MakeTensors(GetParam().of);
  ReferenceBackward(problem, &x);
  for (int i = 0; i < kNumInputs; ++i) {
    constexpr size_t kMost = 64;
    size_t every = 1 + x.inputs[i].size() / kMost;
    while (every > 1 && (every % 2 == 0 || every % 3 == 0)) ++every;
    ExpectGradient(problem, static_cast<Input>(i), every, &x);
  }
}

// The inputs that have a gradient other than 0 from one output alone.
std::set<std::string> InputsWithGradient(const check::Case& c, Output output) {
  Tensors x = MakeTensors(c);
  for (int other = 0; other < kNumOutputs; ++other) {
    if (other != output) x.d_outputs[other].clear();
  }
  ReferenceBackward(c.problem, &x);
  std::set<std::string> names;
  for (int i = 0; i < kNumInputs; ++i) {
    const auto input = static_cast<Input>(i);
    if (check::Largest(x.d_inputs[i]) > 1e-6) names.insert(NameOf(input));
  }
  return names;
}

// All that the problem has but other values than the output's own.
std::set<std::string> InputsOf(const Problem& problem, Output output) {
  std::set<std::string> names;
  for (int i = 0; i < kNumInputs; ++i) {
    const auto input = static_cast<Input>(i);
    const bool is_value = input >= kValue && input < kValue + kMaxValues;
    if (is_value && input - kValue != output - kMixed) continue;
    if (ShapeOf(problem, input).count() > 0) names.insert(NameOf(input));
  }
  return names;
}

// A difference of nothing and nothing would show nothing.
TEST(CrossedGradientsTest, OfAKindEveryInputHasSomeFromEveryOutput) {
  const std::vector<check::Variant> kinds =
      check::CrossedAxes(SmallSizes()).front().variants;
  // "kind: input from output".
  std::set<std::string> missing, seen;
  for (const check::Crossed& c : check::CrossedProblems({SmallSizes()})) {
    for (int i = 0; i < kNumOutputs; ++i) {
      const auto output = static_cast<Output>(i);
      if (ShapeOf(c.of.problem, output).count() == 0) continue;
      const auto text = [&](const std::string& input) {
        return kinds[c.choices[0]].label + ": " + input + " from " +
               NameOf(output);
      };
      for (const auto& input : InputsOf(c.of.problem, output)) {
        missing.insert(text(input));
      }
      for (const auto& input : InputsWithGradient(c.of, output)) {
        seen.insert(text(input));
      }
    }
  }
  EXPECT_GT(missing.size(), 0U);
  for (const std::string& text : seen) missing.erase(text);
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, CrossedGradientTest,
    ::testing::ValuesIn(check::CrossedProblems({SmallSizes()})),
    [](const auto& info) { return info.param.of.label; });

// One query of width 1 whose logits, and with them weights, are known.
struct Known {
  explicit Known(int64_t keys) {
    problem = check::Plain(keys, 1);
    problem.batch = problem.heads = problem.key_heads = 1;
    problem.values[0].heads = 1;
    problem.queries = 1;
    x.inputs[kQ] = {1};
  }
  Problem problem;
  Tensors x;
};

// Two keys with logits ln 1 and ln 3, by the bias: weights 1/4 and 3/4.
TEST(ReferenceTest, WeightsAreTheSoftmaxOfTheLogits) {
  Known known(2);
  known.problem.biased = true;
  known.problem.reach = 1;
  known.x.inputs[kK] = {0.5, 1};
  known.x.inputs[kValue] = {10, 20};
  // Of the key before the query, and of its own.
  known.x.inputs[kBias] = {std::log(1.0) - 0.5, std::log(3.0) - 1};
  ReferenceForward(known.problem, &known.x);
  EXPECT_NEAR(known.x.outputs[kMixed][0], 17.5, 1e-12);
  EXPECT_NEAR(known.x.lse_BHT[0], std::log(4.0), 1e-12);
}

// The logit of key 0 of `known`, where key 1 has 0.
double LogitOfFirst(Known known) {
  known.x.inputs[kValue] = {1, 0};
  ReferenceForward(known.problem, &known.x);
  const double weight = known.x.outputs[kMixed][0];
  return std::log(weight / (1 - weight));
}

TEST(ReferenceTest, AMultiplierIsOfTheRectifiedProduct) {
  Known known(2);
  known.problem.multiplied = known.problem.rectified = true;
  known.problem.reach = 1;
  known.x.inputs[kK] = {2, -7};
  known.x.inputs[kMultiplier] = {1.5, 4};
  EXPECT_NEAR(LogitOfFirst(known), 3, 1e-12);
}

TEST(ReferenceTest, BandsAndChannelsActBeforeTheScale) {
  Known known(2);
  known.problem.scale = 0.5;
  known.problem.reach = 1;
  known.problem.by_channel = true;
  known.problem.query_band = known.problem.key_band = 1;
  known.x.inputs[kK] = {3, 0};
  known.x.inputs[kChannel] = {2, 5};
  known.x.inputs[kQueryBand] = {7};
  known.x.inputs[kQueryVector] = {1, 0};
  known.x.inputs[kKeyBand] = {-1, 9};
  known.x.inputs[kKeyVector] = {4, 0};
  EXPECT_NEAR(LogitOfFirst(known), 0.5 * (6 + 7 - 4), 1e-12);
}

TEST(ReferenceTest, FarKeysMeetTheFarQuery) {
  Known known(3);
  known.problem.far_from = 2;
  known.x.inputs[kK] = {100, 5, 5};
  known.x.inputs[kFarQ] = {2};
  known.x.inputs[kFarK] = {4, 100, 100};
  known.x.inputs[kValue] = {1, 0, 0};
  ReferenceForward(known.problem, &known.x);
  EXPECT_NEAR(known.x.outputs[kMixed][0],
              std::exp(8.0) / (std::exp(8.0) + 2 * std::exp(5.0)), 1e-12);
}

TEST(ReferenceTest, FarDistancesCountAsTheFarthestOfTheTable) {
  Known known(4);
  known.problem.biased = true;
  known.problem.reach = 1;
  known.x.inputs[kK] = {0, 0, 0, 0};
  known.x.inputs[kBias] = {std::log(2.0), 0};
  known.x.inputs[kValue] = {1, 1, 0, 0};
  ReferenceForward(known.problem, &known.x);
  EXPECT_NEAR(known.x.outputs[kMixed][0], 4.0 / 7, 1e-12);
}

// f(x) is x below 1 and 1 + 3 (x - 1) above.
TEST(ReferenceTest, AScoreModIsOfItsPieceAndOfTheNumbersOfDistanceAndQuery) {
  Known known(2);
  known.problem.mod = ScoreMod::kRamp;
  known.problem.pieces = 2;
  known.problem.reach = 1;
  known.x.knots = {1};
  known.x.inputs[kK] = {0, 0};
  known.x.inputs[kModDistance] = {4, 0};
  known.x.inputs[kModQuery] = {0.5};
  known.x.inputs[kModParameter] = {1, 3, 0, -2};
  EXPECT_NEAR(LogitOfFirst(known), 4, 1e-12);
}

// Gates of logit 0 are half open: counts are 1.5, 1 and 0.5.
TEST(ReferenceTest, CountsInterpolateBetweenPositions) {
  Known known(3);
  known.problem.gates = Gates::kLogits;
  known.problem.positions = 2;
  known.x.inputs[kK] = {0, 0, 0};
  known.x.inputs[kPositionTerm] = {std::log(4.0), 0};
  known.x.inputs[kValue] = {0, 0, 1};
  ReferenceForward(known.problem, &known.x);
  // Counts of 1 and more have the last position's term, 0.5 half of each.
  EXPECT_NEAR(known.x.outputs[kMixed][0], 2.0 / 4, 1e-12);
  known.problem.positions = 0;
  known.x.inputs[kPositionTerm].clear();
  known.x.inputs[kPositionSlope] = {std::log(4.0)};
  ReferenceForward(known.problem, &known.x);
  EXPECT_NEAR(known.x.outputs[kMixed][0], 2.0 / (8 + 4 + 2), 1e-12);
}

TEST(ReferenceTest, WeightsOfADistanceAreSummed) {
  Known known(3);
  known.problem.summed = true;
  known.problem.reach = 1;
  known.x.inputs[kK] = {0, 0, std::log(2.0)};
  known.x.inputs[kValue] = {0, 0, 0};
  ReferenceForward(known.problem, &known.x);
  ASSERT_EQ(known.x.outputs[kSummed].size(), 2U);
  EXPECT_NEAR(known.x.outputs[kSummed][0], 0.5, 1e-12);
  EXPECT_NEAR(known.x.outputs[kSummed][1], 0.5, 1e-12);
}

TEST(ReferenceTest, KeysBeforeTheFirstAreNotSeen) {
  Known known(3);
  known.problem.bounded = true;
  known.x.first_BHT = {1};
  known.x.inputs[kK] = {9, 0, 0};
  known.x.inputs[kValue] = {100, 1, 2};
  ReferenceForward(known.problem, &known.x);
  EXPECT_NEAR(known.x.outputs[kMixed][0], 1.5, 1e-12);
}

TEST(ReferenceTest, PositionIdsMakeTheDistance) {
  Known known(2);
  known.problem.positioned = known.problem.biased = true;
  known.problem.reach = 9;
  known.x.positions_BS = {3, 8};
  known.x.inputs[kK] = {0, 0};
  known.x.inputs[kBias] = {0, 0, 0, 0, 7, 0, 0, 0, 0, 0};
  EXPECT_NEAR(LogitOfFirst(known), 7, 1e-12);
}

TEST(ReferenceTest, AQueryThatSeesNoKeyGetsZeros) {
  Problem problem = Small();
  problem.padded = true;
  Tensors x = check::MakeTensors(problem, 8);
  x.real_BS.assign(x.real_BS.size(), 0);
  ReferenceBackward(problem, &x);
  for (const double value : x.outputs[kMixed]) EXPECT_EQ(value, 0);
  for (const double value : x.d_inputs[kK]) EXPECT_EQ(value, 0);
  EXPECT_EQ(x.lse_BHT[0], std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace ordo::kernels::attention
