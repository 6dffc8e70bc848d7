// A run on several ranks, beside the same run on one.

#include "model/training/testing/ranks.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::training {
namespace {

using ::ordo::training::v1::TrainSpec;
using testing::ForEachRank;
using testing::TinySpec;

TrainSpec Spec(const char* encoding, const char* precision = "fp32") {
  TrainSpec spec = TinySpec(encoding);
  spec.mutable_model()->set_dropout(0.1);
  spec.mutable_training()->set_precision(precision);
  spec.mutable_training()->set_micro_batch_size(2);
  return spec;
}

std::unique_ptr<Run> MakeRun(const TrainSpec& spec, Collective* collective) {
  ConfigureNumerics(1);
  auto run = Run::Create(spec, c10::Device(c10::DeviceType::CPU), collective);
  ORDO_EXPECT_OK(run);
  return *std::move(run);
}

// What a run comes to, and how.
struct Trace {
  std::vector<double> losses;
  std::vector<double> norms;
  Snapshot state;
};

Trace Train(Run* run) {
  Trace trace;
  while (run->cursors().step < run->spec().training().steps()) {
    const auto result = run->Step();
    ORDO_EXPECT_OK(result);
    if (!result.ok()) break;
    trace.losses.push_back(result->loss);
    trace.norms.push_back(result->gradient_norm);
  }
  trace.state = Copy(run->State());
  return trace;
}

std::vector<Trace> TrainOn(int ranks, const TrainSpec& spec) {
  std::vector<Trace> traces(ranks);
  if (ranks == 1) {
    const auto run = MakeRun(spec, nullptr);
    traces[0] = Train(run.get());
    return traces;
  }
  ForEachRank(ranks, [&](Collective& collective) {
    const auto run = MakeRun(spec, &collective);
    traces[collective.rank()] = Train(run.get());
  });
  return traces;
}

at::Tensor Flat(const TensorMap& tensors) {
  std::vector<at::Tensor> all;
  for (const auto& [name, tensor] : tensors) all.push_back(tensor.flatten());
  return at::cat(all).to(at::kDouble);
}

double Distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).norm().item<double>();
}

class SeveralRanks : public ::testing::TestWithParam<
                         std::tuple<int, const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(RanksEncodingsAndPrecisions, SeveralRanks,
                         ::testing::Combine(::testing::Values(2, 4),
                                            ::testing::Values("none", "rope",
                                                              "tape"),
                                            ::testing::Values("fp32", "bf16")));

// The bound of Run::Step, of which the sum of norms is at least the norm.
TEST_P(SeveralRanks, HaveTheGradientsOfOneWithinTheBound) {
  const auto [ranks, encoding, precision] = GetParam();
  const TrainSpec spec = Spec(encoding, precision);
  const auto trained = MakeRun(spec, nullptr);
  for (int step = 0; step < 5; ++step) ORDO_ASSERT_OK(trained->Step());
  const Snapshot start = Copy(trained->State());
  const auto gradients = [&](Collective* collective) {
    const auto run = MakeRun(spec, collective);
    ORDO_EXPECT_OK(run->Load(start));
    ORDO_EXPECT_OK(run->Step());
    std::vector<at::Tensor> all;
    for (const auto& named : run->model().Parameters()) {
      all.push_back(named.tensor.grad().flatten());
    }
    return at::cat(all).to(at::kDouble);
  };
  const at::Tensor one = gradients(nullptr);
  const double bound =
      std::string(precision) == "fp32" ? 1e-6 : std::pow(2.0, -7);
  ForEachRank(ranks, [&](Collective& collective) {
    EXPECT_LT(Distance(gradients(&collective), one),
              bound * one.norm().item<double>());
  });
}

// Adam divides by the gradient's own size, so a difference in a gradient that
// is nearly zero becomes one of the order of the learning rate: what differs
// after steps in a row is bounded by experience, not by a proof.
TEST_P(SeveralRanks, TrainAsOneDoes) {
  const auto [ranks, encoding, precision] = GetParam();
  const TrainSpec spec = Spec(encoding, precision);
  const Trace one = TrainOn(1, spec)[0];
  const bool is_fp32 = std::string(precision) == "fp32";
  const std::vector<Trace> traces = TrainOn(ranks, spec);
  EXPECT_EQ(traces[0].state.cursors.data_digest, one.state.cursors.data_digest);
  for (const Trace& trace : traces) {
    ASSERT_EQ(trace.losses.size(), one.losses.size());
    for (size_t step = 0; step < one.losses.size(); ++step) {
      EXPECT_NEAR(trace.losses[step], one.losses[step], is_fp32 ? 1e-5 : 1e-2)
          << step;
    }
    const at::Tensor expected = Flat(one.state.parameters);
    EXPECT_LT(Distance(Flat(trace.state.parameters), expected),
              (is_fp32 ? 1e-4 : 1e-2) * expected.norm().item<double>());
    EXPECT_EQ(trace.state.cursors.samples, one.state.cursors.samples);
    EXPECT_EQ(trace.state.cursors.tokens, one.state.cursors.tokens);
  }
}

TEST_P(SeveralRanks, ComeToTheSameBitsOnAllAndInReruns) {
  const auto [ranks, encoding, precision] = GetParam();
  const TrainSpec spec = Spec(encoding, precision);
  const std::vector<Trace> first = TrainOn(ranks, spec);
  const std::vector<Trace> second = TrainOn(ranks, spec);
  for (const std::vector<Trace>& traces : {first, second}) {
    for (const Trace& trace : traces) {
      EXPECT_EQ(StateDigest(trace.state), StateDigest(first[0].state));
      EXPECT_EQ(trace.losses, first[0].losses);
      EXPECT_EQ(trace.norms, first[0].norms);
    }
  }
}

// Every pass of a batch goes to some rank: with a pass left out or read twice
// the first loss would be another.
TEST(ManyPasses, AreDividedAmongTheRanks) {
  TrainSpec spec = Spec("rope");
  spec.mutable_training()->set_micro_batch_size(1);
  spec.mutable_training()->set_steps(1);
  const double expected = TrainOn(1, spec)[0].losses[0];
  for (const int ranks : {2, 4}) {
    for (const Trace& trace : TrainOn(ranks, spec)) {
      EXPECT_NEAR(trace.losses[0], expected, 1e-7) << ranks;
    }
  }
}

TEST(Wishes, OfOneRankReachAllAfterTheSameStep) {
  const TrainSpec spec = Spec("none");
  ForEachRank(3, [&](Collective& collective) {
    const auto run = MakeRun(spec, &collective);
    for (int step = 0; step < 4; ++step) {
      Wishes wishes;
      wishes.stop = step == 2 && collective.rank() == 1;
      wishes.pause = step == 1 && collective.rank() == 0;
      const auto result = run->Step(wishes);
      ORDO_ASSERT_OK(result);
      EXPECT_EQ(result->wishes.stop, step == 2);
      EXPECT_EQ(result->wishes.pause, step == 1);
    }
  });
}

TEST(NonFinite, LossOfOneRankIsSkippedByAll) {
  TrainSpec spec = Spec("none");
  spec.mutable_training()->set_non_finite("skip");
  ForEachRank(2, [&](Collective& collective) {
    const auto run = MakeRun(spec, &collective);
    ORDO_ASSERT_OK(run->Step());
    const Snapshot good = Copy(run->State());
    if (collective.rank() == 1) {
      const at::NoGradGuard no_grad;
      run->model().Parameters()[0].tensor.view(-1).fill_(
          std::numeric_limits<float>::quiet_NaN());
    }
    const auto result = run->Step();
    ORDO_ASSERT_OK(result);
    EXPECT_TRUE(result->skipped);
    EXPECT_EQ(run->cursors().skipped_in_a_row, 1);
    EXPECT_EQ(run->cursors().updates, 1);
  });
}

}  // namespace
}  // namespace ordo::model::training
