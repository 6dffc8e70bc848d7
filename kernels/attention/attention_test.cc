// The one numeric test of all kernels: table x problems.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/table.h"
#include "kernels/attention/testing/case.h"
#include "kernels/attention/testing/naive.h"

namespace ordo::kernels::attention {
namespace {

struct Case {
  std::string label;
  Problem problem;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.label; }

Problem Plain(int64_t length, int64_t width) {
  Problem p;
  p.batch = 2;
  p.heads = p.key_heads = 3;
  p.queries = p.keys = length;
  p.width = width;
  p.values[0] = {width, p.heads};
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
  return p;
}

Problem With(Problem p, const std::function<void(Problem*)>& change) {
  change(&p);
  return p;
}

void Share(Problem* p) {
  p->heads = 6;
  p->key_heads = 2;
  p->values[0].heads = 2;
}

void AddState(Problem* p) {
  p->num_values = 2;
  p->values[1] = {2 * p->width, p->heads};
}

std::vector<Case> Problems() {
  std::vector<Case> cases;
  for (const int64_t length : {1, 2, 63, 64, 65, 130, 200}) {
    cases.push_back({"length_" + std::to_string(length), Plain(length, 32)});
  }
  for (const int64_t width : {5, 8, 24, 64, 72, 80, 96, 128, 256}) {
    cases.push_back({"width_" + std::to_string(width), Plain(70, width)});
  }
  const std::vector<std::pair<std::string, std::function<void(Problem*)>>>
      changes = {
          {"both_ways", [](Problem* p) { p->causal = false; }},
          {"padded",
           [](Problem* p) {
             p->batch = 3;
             p->padded = true;
           }},
          {"shared_keys", Share},
          {"state", AddState},
          {"shared_keys_and_state",
           [](Problem* p) {
             Share(p);
             AddState(p);
           }},
          {"three_values",
           [](Problem* p) {
             AddState(p);
             p->num_values = 3;
             p->values[2] = {7, p->heads};
           }},
          {"biased", [](Problem* p) { p->biased = true; }},
          {"biased_both_ways",
           [](Problem* p) {
             p->biased = true;
             p->causal = false;
           }},
          {"biased_padded_shared",
           [](Problem* p) {
             Share(p);
             p->batch = 3;
             p->biased = p->padded = true;
           }},
          {"chunk", [](Problem* p) { p->queries = 37; }},
          {"biased_chunk",
           [](Problem* p) {
             p->queries = 5;
             p->biased = true;
           }},
          {"biased_chunk_both_ways",
           [](Problem* p) {
             p->queries = 69;
             p->biased = true;
             p->causal = false;
           }},
          {"one_query", [](Problem* p) { p->queries = 1; }},
          {"steep", [](Problem* p) { p->scale = 30; }},
      };
  for (const auto& [label, change] : changes) {
    cases.push_back({label, With(Plain(131, 32), change)});
  }
  const size_t count = cases.size();
  for (size_t i = 0; i < count; ++i) {
    cases.push_back({cases[i].label + "_bf16", cases[i].problem});
    cases.back().problem.type = Type::kBfloat16;
  }
  return cases;
}

// Infinite where the sizes or the infinities differ.
double Distance(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    const double difference = std::abs(x[i] - y[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

using testing::Largest;

// What a problem's numbers are, rightly and naively.
struct Answers {
  Tensors inputs;
  Tensors judge;
  Tensors naive;
  double largest_logit;
  double largest_change;
};

// Computed once for all kernels.
const Answers& AnswersTo(const Case& c) {
  static auto* const known = new std::map<std::string, Answers>;
  const auto found = known->find(c.label);
  if (found != known->end()) return found->second;
  Answers answers;
  answers.inputs = answers.judge = testing::MakeTensors(c.problem, 1);
  ReferenceForward(c.problem, &answers.judge);
  ReferenceBackward(c.problem, &answers.judge);
  testing::Naive naive(c.problem, answers.inputs);
  answers.naive = naive.Run();
  answers.largest_logit = naive.largest_logit();
  answers.largest_change = naive.largest_change();
  return known->emplace(c.label, std::move(answers)).first->second;
}

class AttentionTest
    : public ::testing::TestWithParam<std::tuple<std::string, Case>> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : Kernels()) {
      if (kernel.name == std::get<0>(GetParam())) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    const absl::Status supported = kernel_->supports(problem());
    if (!supported.ok()) GTEST_SKIP() << supported.message();
  }

  const Problem& problem() const { return std::get<1>(GetParam()).problem; }

  const Kernel* kernel_ = nullptr;
};

// At most twice the naive computation's error and one rounding: of the result
// to the problem's type, of the logits and of the weights' gradients in fp32.
TEST_P(AttentionTest, IsNearTheReference) {
  const Answers& answers = AnswersTo(std::get<1>(GetParam()));
  const Tensors& inputs = answers.inputs;
  Tensors found = inputs;
  EXPECT_EQ(testing::RunKernel(problem(), *kernel_, 2, &found), "");

  const double fp32 = testing::Epsilon(Type::kFloat32);
  const double relative =
      testing::Epsilon(problem().type) + fp32 * answers.largest_logit;
  const double change = fp32 * answers.largest_change;
  using Member = std::function<const std::vector<double>&(const Tensors&)>;
  const auto expect_near = [&](const std::string& name, double absolute,
                               const Member& member) {
    const std::vector<double>& right = member(answers.judge);
    const double bound = 2 * Distance(member(answers.naive), right) +
                         relative * Largest(right) + absolute;
    EXPECT_LE(Distance(member(found), right), bound) << name;
  };
  for (int v = 0; v < problem().num_values; ++v) {
    expect_near(
        "mixed", 0, [v](const Tensors& x) -> auto& { return x.mixed[v]; });
    expect_near(
        "d_values",
        0, [v](const Tensors& x) -> auto& { return x.d_values[v]; });
  }
  expect_near(
      "dq", change * problem().scale * Largest(inputs.k_BGSD),
      [](const Tensors& x) -> auto& { return x.dq_BHTD; });
  expect_near(
      "dk", change * problem().scale * Largest(inputs.q_BHTD),
      [](const Tensors& x) -> auto& { return x.dk_BGSD; });
  expect_near(
      "d_bias", change, [](const Tensors& x) -> auto& { return x.d_bias_HL; });
  const double lse_bound = 4 * fp32 * (4 + answers.largest_logit);
  ASSERT_EQ(found.lse_BHT.size(), answers.judge.lse_BHT.size());
  for (size_t i = 0; i < found.lse_BHT.size(); ++i) {
    const double right = answers.judge.lse_BHT[i];
    if (std::isinf(right)) {
      EXPECT_EQ(found.lse_BHT[i], right);
    } else {
      EXPECT_NEAR(found.lse_BHT[i], right, lse_bound);
    }
  }
}

TEST_P(AttentionTest, ThreadsChangeNoBit) {
  Tensors one = testing::MakeTensors(problem(), 2), three = one;
  testing::RunKernel(problem(), *kernel_, 1, &one);
  testing::RunKernel(problem(), *kernel_, 3, &three);
  EXPECT_EQ(one.lse_BHT, three.lse_BHT);
  EXPECT_EQ(one.dq_BHTD, three.dq_BHTD);
  EXPECT_EQ(one.dk_BGSD, three.dk_BGSD);
  EXPECT_EQ(one.d_bias_HL, three.d_bias_HL);
  for (int v = 0; v < problem().num_values; ++v) {
    EXPECT_EQ(one.mixed[v], three.mixed[v]);
    EXPECT_EQ(one.d_values[v], three.d_values[v]);
  }
}

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const Kernel& kernel : Kernels()) names.push_back(kernel.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(
    Table, AttentionTest,
    ::testing::Combine(::testing::ValuesIn(KernelNames()),
                       ::testing::ValuesIn(Problems())),
    [](const ::testing::TestParamInfo<std::tuple<std::string, Case>>& info) {
      return std::get<0>(info.param) + "_" + std::get<1>(info.param).label;
    });

// TAPE's state gets no gradient in some layers.
TEST(MissingGradientTest, IsZero) {
  Problem problem = Plain(70, 24);
  AddState(&problem);
  Tensors judge = testing::MakeTensors(problem, 3);
  judge.d_mixed[1].clear();
  const Tensors inputs = judge;
  ReferenceForward(problem, &judge);
  ReferenceBackward(problem, &judge);
  for (const Kernel& kernel : Kernels()) {
    if (!kernel.supports(problem).ok()) continue;
    Tensors found = inputs;
    EXPECT_EQ(testing::RunKernel(problem, kernel, 1, &found), "");
    EXPECT_EQ(Largest(found.d_values[1]), 0) << kernel.name;
    EXPECT_LT(Distance(found.dq_BHTD, judge.dq_BHTD), 1e-5) << kernel.name;
    EXPECT_LT(Distance(found.dk_BGSD, judge.dk_BGSD), 1e-5) << kernel.name;
  }
}

}  // namespace
}  // namespace ordo::kernels::attention
