#include "model/benchmark/attention_classes.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "ATen/core/Tensor.h"
#include "ATen/ops/arange.h"
#include "gtest/gtest.h"
#include "kernels/attention/table.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"

namespace ordo::model::benchmark {
namespace {

using kernels::Type;
using kernels::attention::Problem;

// Three tokens, heads two wide: few enough to count by hand.
Problem Small(const AttentionClass& about) {
  AttentionShape shape;
  shape.batch = 1;
  shape.heads = 1;
  shape.length = 3;
  shape.width = 2;
  return about.problem(shape);
}

const AttentionClass& ClassOf(const std::string& name) {
  for (const AttentionClass& about : AttentionClasses()) {
    if (about.name == name) return about;
  }
  ADD_FAILURE() << name;
  return AttentionClasses().front();
}

TEST(AttentionClassesTest, TheSlopesOfABiasAreThoseOfItsPaper) {
  AttentionShape shape;
  shape.length = 9;
  const AttentionClass& alibi = ClassOf("alibi");
  shape.heads = 8;
  EXPECT_EQ(alibi.bias(alibi.problem(shape), 0, -1), -0.5);
  EXPECT_EQ(alibi.bias(alibi.problem(shape), 7, -4), -4.0 / 256);
  shape.heads = 12;
  EXPECT_EQ(alibi.bias(alibi.problem(shape), 7, -1), -1.0 / 256);
  EXPECT_DOUBLE_EQ(alibi.bias(alibi.problem(shape), 8, -1), -std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(alibi.bias(alibi.problem(shape), 11, -1), -std::exp2(-3.5));
}

// What is measured is what a model adds: nothing of it is learned, so whether
// keys are left out depends on these numbers.
TEST(AttentionClassesTest, AConstantBiasIsThatOfItsEncoding) {
  constexpr int kTokens = 9;
  int num_biases = 0;
  for (const AttentionClass& about : AttentionClasses()) {
    EXPECT_EQ(about.bias != nullptr,
              !IsLearned(about, kernels::attention::kBias))
        << about.name;
    if (about.bias == nullptr) continue;
    ++num_biases;
    for (const int heads : {1, 8, 12}) {
      AttentionShape shape;
      shape.heads = heads;
      shape.length = kTokens;
      const Problem problem = about.problem(shape);
      const encodings::testing::Probe probe(testing::Encoding(about.name),
                                            {1, 4 * heads, heads});
      const at::Tensor bias_HTT = probe.Scores(encodings::testing::NoProduct(
          at::arange(kTokens).unsqueeze(0), heads, 4))[0];
      for (int head = 0; head < heads; ++head) {
        for (int key = 0; key < kTokens; ++key) {
          EXPECT_NEAR(about.bias(problem, head, key - (kTokens - 1)),
                      bias_HTT[head][kTokens - 1][key].item<double>(), 1e-9)
              << about.name << " " << head << " of " << heads << " " << key;
        }
      }
    }
  }
  EXPECT_EQ(num_biases, 2);
}

TEST(CountPairsTest, AQueryBehindTheMaskSeesItselfAndWhatIsBefore) {
  const AttentionClass& rope = ClassOf("rope");
  Problem problem = Small(rope);
  EXPECT_EQ(CountPairs(rope, problem), 1 + 2 + 3);
  // The last two of three tokens.
  problem.queries = 2;
  EXPECT_EQ(CountPairs(rope, problem), 2 + 3);
  problem.causal = false;
  EXPECT_EQ(CountPairs(rope, problem), 6);
  problem.heads = 5;
  EXPECT_EQ(CountPairs(rope, problem), 30);
}

// Eight tokens in groups of two; in the second head they begin one earlier:
// 0 | 1 2 | 3 4 | 5 6 | 7.
TEST(CountPairsTest, AGroupIsSeenFromItsFirstToken) {
  const AttentionClass& sparse = ClassOf("shifted_sparse");
  AttentionShape shape;
  shape.heads = 2;
  shape.length = 8;
  shape.width = 2;
  const Problem problem = sparse.problem(shape);
  EXPECT_EQ(CountPairs(sparse, problem), 4 * (1 + 2) + 1 + 3 * (1 + 2) + 1);
  for (int64_t token = 0; token < 8; ++token) {
    EXPECT_EQ(sparse.first_key(problem, 0, token), token / 2 * 2);
    EXPECT_EQ(sparse.first_key(problem, 1, token),
              token == 0 ? 0 : (token + 1) / 2 * 2 - 1);
  }
}

// Six pairs. Forward, two multiplications and additions for q.k and two for the
// mix: 4 + 4. Backward five such products.
TEST(CountFlopTest, SoftmaxAttentionIsTwoProductsAndFive) {
  const AttentionClass& rope = ClassOf("rope");
  const Work flop = CountFlop(rope, Small(rope));
  EXPECT_EQ(flop.forward, 6 * (4 + 4));
  EXPECT_EQ(flop.backward, 6 * (4 + 4 + 4 + 4 + 4));
  EXPECT_EQ(flop.sum(), 6 * 28);
}

TEST(CountFlopTest, HeadsAndRowsMultiply) {
  for (const char* name : {"rope", "transformer_xl"}) {
    const AttentionClass& about = ClassOf(name);
    Problem problem = Small(about);
    const double one = CountFlop(about, problem).sum();
    problem.batch = 5;
    problem.heads = 7;
    EXPECT_EQ(CountFlop(about, problem).sum(), 5 * 7 * one) << name;
  }
}

// One more product forward (the mix) and two backward (its gradients).
TEST(CountFlopTest, AStateIsThreeMoreProductsHoweverItIsGiven) {
  for (const char* name : {"tape", "tape_joined"}) {
    const AttentionClass& tape = ClassOf(name);
    const Work flop = CountFlop(tape, Small(tape));
    EXPECT_EQ(flop.forward, 6 * (8 + 4)) << name;
    EXPECT_EQ(flop.backward, 6 * (20 + 8)) << name;
  }
}

TEST(CountFlopTest, WhatIsDoneToLogitsIsNoProduct) {
  for (const char* name : {"alibi", "sandwich", "t5", "fire", "da_transformer",
                           "cope", "rerope"}) {
    const AttentionClass& about = ClassOf(name);
    EXPECT_EQ(CountFlop(about, Small(about)).sum(), 6 * 28) << name;
  }
}

// Six products of two forward; backward three times as many.
TEST(CountFlopTest, AVectorForEveryDistanceIsAProductForEveryPair) {
  const AttentionClass& about = ClassOf("transformer_xl");
  const Work flop = CountFlop(about, Small(about));
  EXPECT_EQ(flop.forward, 6 * 8 + 6 * 4);
  EXPECT_EQ(flop.backward, 6 * 20 + 3 * 6 * 4);
}

// Vectors of q and of k, of two distances: 1 + 2 + 2 products each.
TEST(CountFlopTest, ClippedVectorsAreAProductForEachVector) {
  const AttentionClass& about = ClassOf("deberta");
  Problem problem = Small(about);
  problem.reach = 1;
  EXPECT_EQ(CountFlop(about, problem).forward, 6 * 8 + 2 * 5 * 4);
}

TEST(TypeNamedTest, EachTypeIsFoundByItsName) {
  for (const Type type : {Type::kFloat32, Type::kBfloat16, Type::kFloat16}) {
    EXPECT_EQ(TypeNamed(NameOf(type)).value(), type);
  }
  const absl::Status unknown = TypeNamed("fp64").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(unknown.message(), "'fp64' is not one of fp32, bf16, fp16");
}

// Four tensors of 3 x 2 numbers and three of the logsumexp.
TEST(CountBytesTest, EveryTensorOnceAPass) {
  const AttentionClass& rope = ClassOf("rope");
  Problem problem = Small(rope);
  EXPECT_EQ(CountBytes(rope, problem).forward, 4 * (4 * 6 + 3));
  EXPECT_EQ(CountBytes(rope, problem).backward, 4 * (8 * 6 + 3));
  problem.type = Type::kBfloat16;
  EXPECT_EQ(CountBytes(rope, problem).forward, 2 * 4 * 6 + 4 * 3);
  problem.type = Type::kFloat16;
  EXPECT_EQ(CountBytes(rope, problem).forward, 2 * 4 * 6 + 4 * 3);
  const AttentionClass& tape = ClassOf("tape");
  EXPECT_EQ(CountBytes(tape, Small(tape)).forward, 4 * (6 * 6 + 3));
}

// A table of three distances is fp32 whatever the type is.
TEST(CountBytesTest, OnlyWhatIsLearnedHasAGradient) {
  for (const auto& [name, gradients] :
       {std::pair("alibi", 0), std::pair("sandwich", 0),
        std::pair("kerple_log", 1)}) {
    const AttentionClass& about = ClassOf(name);
    Problem problem = Small(about);
    problem.type = Type::kBfloat16;
    EXPECT_EQ(CountBytes(about, problem).forward, 2 * 4 * 6 + 4 * 3 + 4 * 3)
        << name;
    EXPECT_EQ(CountBytes(about, problem).backward,
              2 * 8 * 6 + 4 * 3 + 4 * 3 + 4 * 3 * gradients)
        << name;
  }
}

TEST(AttentionClassesTest, AreProblemsThatMakeSense) {
  std::set<std::string> names;
  for (const AttentionClass& about : AttentionClasses()) {
    EXPECT_TRUE(names.insert(about.name).second) << about.name;
    EXPECT_FALSE(TextOf(about).empty()) << about.name;
    const Problem problem = Small(about);
    EXPECT_TRUE(kernels::attention::CheckProblem(problem).ok()) << about.name;
    EXPECT_EQ(problem.bounded, about.first_key != nullptr) << about.name;
  }
}

}  // namespace
}  // namespace ordo::model::benchmark
