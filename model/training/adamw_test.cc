#include "model/training/adamw.h"

#include <cmath>
#include <vector>

#include <ATen/ATen.h>

#include "absl/status/status.h"
#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int kValues = 6;

// The formula of the header, in double, on one list of values.
struct Reference {
  std::vector<double> p, m, v;
  int t = 0;

  void Step(const std::vector<double>& g, const AdamWOptions& options,
            double rate) {
    ++t;
    for (size_t i = 0; i < p.size(); ++i) {
      m[i] = options.beta1 * m[i] + (1 - options.beta1) * g[i];
      v[i] = options.beta2 * v[i] + (1 - options.beta2) * g[i] * g[i];
      const double m_hat = m[i] / (1 - std::pow(options.beta1, t));
      const double v_hat = v[i] / (1 - std::pow(options.beta2, t));
      p[i] = p[i] * (1 - rate * options.weight_decay) -
             rate * m_hat / (std::sqrt(v_hat) + options.epsilon);
    }
  }
};

parameters::NamedTensor Parameter(const std::string& name,
                                  const std::vector<int64_t>& shape) {
  return {name, at::arange(1, kValues + 1, at::kFloat)
                    .view(shape)
                    .clone()
                    .requires_grad_(true)};
}

void CompareWithReference(const std::vector<int64_t>& shape, double decay) {
  AdamWOptions options;
  options.weight_decay = 0.1;
  const parameters::NamedTensor parameter = Parameter("p", shape);
  AdamW adamw({parameter}, options);
  Reference reference{{1, 2, 3, 4, 5, 6},
                      std::vector<double>(kValues),
                      std::vector<double>(kValues)};
  AdamWOptions reference_options = options;
  reference_options.weight_decay = decay;
  const base::RandomStream random(1, "test");
  for (int step = 0; step < 50; ++step) {
    std::vector<double> gradient(kValues);
    random.FillNormals(step * kValues, gradient.data(), kValues);
    parameter.tensor.mutable_grad() =
        at::tensor(gradient, at::kDouble).to(at::kFloat).view(shape).mul(4);
    const double rate = 0.05 / (1 + step);
    adamw.Step(rate, 0.25);
    reference.Step(gradient, reference_options, rate);
    for (int i = 0; i < kValues; ++i) {
      ASSERT_NEAR(parameter.tensor.view(-1)[i].item<double>(), reference.p[i],
                  2e-5 * std::abs(reference.p[i]))
          << "step " << step << " value " << i;
    }
  }
  EXPECT_EQ(adamw.num_updates(), 50);
}

TEST(AdamW, FollowsTheFormulaOnAMatrix) { CompareWithReference({2, 3}, 0.1); }

// Of parameters of one type, some with decay, some without a gradient, none of
// a length that vectors go into.
TEST(AdamW, ParametersTogetherHaveTheBitsOfEachAlone) {
  const auto make = [] {
    std::vector<parameters::NamedTensor> all;
    int64_t seed = 1;
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
             {131, 3}, {7}, {2, 2}, {70, 301}, {129}, {1}, {5, 5}}) {
      at::manual_seed(seed++);
      all.push_back(
          {"p" + std::to_string(seed), at::randn(shape).requires_grad_(true)});
    }
    return all;
  };
  const auto all = make(), alone = make();
  AdamW together(all, {});
  std::vector<std::unique_ptr<AdamW>> each;
  for (const auto& one : alone) {
    each.push_back(std::make_unique<AdamW>(std::vector{one}, AdamWOptions()));
  }
  for (int step = 0; step < 3; ++step) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (i == 2) continue;
      for (const auto& one : {all[i], alone[i]}) {
        one.tensor.mutable_grad() = one.tensor.detach().sin().mul(step + 1);
      }
    }
    together.Step(0.01, 0.3);
    for (const auto& one : each) one->Step(0.01, 0.3);
  }
  const TensorMap state = together.State();
  EXPECT_EQ(state.size(), 2 * all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(at::equal(all[i].tensor, alone[i].tensor)) << i;
    for (const auto& [name, tensor] : each[i]->State()) {
      EXPECT_TRUE(at::equal(state.at(name), tensor)) << name;
    }
  }
}

TEST(AdamW, DoesNotDecayVectors) { CompareWithReference({kValues}, 0); }

TEST(AdamW, LeavesAParameterWithoutAGradientAlone) {
  const parameters::NamedTensor parameter = Parameter("p", {2, 3});
  AdamW adamw({parameter}, {});
  adamw.Step(0.1, 1);
  EXPECT_TRUE(at::equal(parameter.tensor.detach(),
                        at::arange(1, 7, at::kFloat).view({2, 3})));
}

TEST(AdamW, GoesOnFromASavedStateBitForBit) {
  const auto run = [](int stop_at) {
    parameters::NamedTensor parameter = Parameter("p", {2, 3});
    auto adamw =
        std::make_unique<AdamW>(std::vector{parameter}, AdamWOptions());
    for (int step = 0; step < 10; ++step) {
      if (step == stop_at) {
        TensorMap state;
        for (const auto& [name, tensor] : adamw->State()) {
          state[name] = tensor.clone();
        }
        const int64_t updates = adamw->num_updates();
        parameter.tensor =
            parameter.tensor.detach().clone().requires_grad_(true);
        adamw = std::make_unique<AdamW>(std::vector{parameter}, AdamWOptions());
        ORDO_EXPECT_OK(adamw->Load(state, updates));
      }
      parameter.tensor.mutable_grad() =
          at::arange(6, at::kFloat).view({2, 3}).sin().mul(step + 1);
      adamw->Step(0.01, 1);
    }
    return parameter.tensor.detach();
  };
  EXPECT_TRUE(at::equal(run(5), run(-1)));
}

TEST(AdamW, RefusesAStateThatDoesNotFit) {
  AdamW adamw({Parameter("p", {2, 3})}, {});
  TensorMap state = adamw.State();
  state.erase("p.exp_avg");
  EXPECT_THAT(adamw.Load(state, 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("p.exp_avg")));
  state = adamw.State();
  state["q"] = at::zeros({1});
  EXPECT_THAT(adamw.Load(state, 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("'q'")));
  state = adamw.State();
  state["p.exp_avg_sq"] = at::zeros({3, 2});
  EXPECT_THAT(adamw.Load(state, 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("p.exp_avg_sq")));
}

}  // namespace
}  // namespace ordo::model::training
