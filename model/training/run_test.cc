#include "model/training/run.h"

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/numerics.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::StatusIs;
using ::ordo::training::v1::TrainSpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TinySpec;

std::unique_ptr<Run> MakeRun(const TrainSpec& spec) {
  ConfigureNumerics(2);
  auto run = Run::Create(spec);
  ORDO_EXPECT_OK(run);
  return *std::move(run);
}

std::vector<double> Losses(const TrainSpec& spec, int num_steps) {
  const auto run = MakeRun(spec);
  std::vector<double> losses;
  for (int step = 0; step < num_steps; ++step) {
    const auto result = run->Step();
    ORDO_EXPECT_OK(result);
    losses.push_back(result->loss);
  }
  return losses;
}

void StepTo(Run* run, int64_t step) {
  while (run->cursors().step < step) ORDO_ASSERT_OK(run->Step());
}

void PoisonOneWeight(Run* run) {
  const at::NoGradGuard no_grad;
  run->model().Parameters()[0].tensor.view(-1).fill_(
      std::numeric_limits<float>::quiet_NaN());
}

class EveryEncoding : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Encodings, EveryEncoding,
                         ::testing::Values("none", "rope", "tape"));

TEST_P(EveryEncoding, ResumedAtAnyStepGivesTheBitsOfAnUndisturbedRun) {
  const TrainSpec spec = TinySpec(GetParam());
  const auto undisturbed = MakeRun(spec);
  std::vector<Snapshot> stops = {Copy(undisturbed->State())};
  while (undisturbed->cursors().step < spec.training().steps()) {
    ORDO_ASSERT_OK(undisturbed->Step());
    stops.push_back(Copy(undisturbed->State()));
  }
  const std::string expected = StateDigest(undisturbed->State());
  for (const Snapshot& stop : stops) {
    const auto resumed = MakeRun(spec);
    ORDO_ASSERT_OK(resumed->Load(stop));
    EXPECT_EQ(StateDigest(resumed->State()), StateDigest(stop));
    StepTo(resumed.get(), spec.training().steps());
    EXPECT_EQ(StateDigest(resumed->State()), expected)
        << "resumed at step " << stop.cursors.step;
  }
}

std::string DataDigest(const TrainSpec& spec, int64_t step) {
  const auto run = MakeRun(spec);
  StepTo(run.get(), step);
  return run->cursors().data_digest;
}

TEST(DataDigest, IsThatOfEveryEncodingAndDivisionOfTheBatch) {
  const TrainSpec rope = TinySpec("rope");
  const std::string wanted = DataDigest(rope, 3);
  EXPECT_EQ(wanted.size(), 64u);
  for (const char* const encoding : {"none", "alibi", "tape", "cope"}) {
    EXPECT_EQ(DataDigest(TinySpec(encoding), 3), wanted) << encoding;
  }
  TrainSpec divided = rope;
  divided.mutable_training()->set_micro_batch_size(2);
  EXPECT_EQ(DataDigest(divided, 3), wanted);
  // Twice as many rows in a step.
  divided.mutable_training()->set_batch_size(16);
  EXPECT_EQ(DataDigest(divided, 2), DataDigest(rope, 4));
}

TEST(DataDigest, IsAnotherAfterEachStepAndWithOtherData) {
  const TrainSpec spec = TinySpec("rope");
  const std::string three = DataDigest(spec, 3);
  EXPECT_NE(DataDigest(spec, 0), DataDigest(spec, 2));
  EXPECT_NE(DataDigest(spec, 2), three);
  TrainSpec other = spec;
  other.mutable_data()->set_seed(spec.data().seed() + 1);
  EXPECT_NE(DataDigest(other, 3), three);
  other = spec;
  (*other.mutable_data()->mutable_params())["max_digits"].set_number_value(3);
  EXPECT_NE(DataDigest(other, 3), three);
}

TEST(DataDigest, OfAResumedRunIsThatOfAnUndisturbedOne) {
  const TrainSpec spec = TinySpec("rope");
  const auto undisturbed = MakeRun(spec);
  StepTo(undisturbed.get(), 3);
  const Snapshot stop = Copy(undisturbed->State());
  StepTo(undisturbed.get(), 6);
  const auto resumed = MakeRun(spec);
  ORDO_ASSERT_OK(resumed->Load(stop));
  StepTo(resumed.get(), 6);
  EXPECT_EQ(resumed->cursors().data_digest, undisturbed->cursors().data_digest);
}

TEST(DataDigest, StaysUnknownWhereItsBeginningIs) {
  const TrainSpec spec = TinySpec("rope");
  const auto run = MakeRun(spec);
  Snapshot old = Copy(run->State());
  old.cursors.data_digest.clear();
  ORDO_ASSERT_OK(run->Load(old));
  StepTo(run.get(), 2);
  EXPECT_EQ(run->cursors().data_digest, "");
}

TEST(DataDigest, HoldsTheRowsOfASkippedStepAndNotOfAFailedOne) {
  TrainSpec spec = TinySpec("rope");
  const std::string wanted = DataDigest(spec, 1);
  const auto failing = MakeRun(spec);
  PoisonOneWeight(failing.get());
  EXPECT_FALSE(failing->Step().ok());
  EXPECT_EQ(failing->cursors().data_digest, DataDigest(spec, 0));
  spec.mutable_training()->set_non_finite("skip");
  spec.mutable_training()->set_max_non_finite(2);
  const auto skipping = MakeRun(spec);
  PoisonOneWeight(skipping.get());
  ORDO_ASSERT_OK_AND_ASSIGN(const StepResult result, skipping->Step());
  EXPECT_TRUE(result.skipped);
  EXPECT_EQ(skipping->cursors().data_digest, wanted);
}

TEST(RunTest, AStepSaysWhichKernelsComputedAttention) {
  for (const char* const kernel : {"cpu_tiled", "reference"}) {
    TrainSpec spec = TinySpec("rope");
    spec.mutable_training()->set_kernel(kernel);
    const auto run = MakeRun(spec);
    EXPECT_THAT(run->State().attention_kernels, IsEmpty());
    ORDO_ASSERT_OK_AND_ASSIGN(const StepResult result, run->Step());
    EXPECT_THAT(result.attention_kernels, ElementsAre(kernel));
    EXPECT_THAT(Copy(run->State()).attention_kernels, ElementsAre(kernel));
  }
  // Left out, it is what Select takes.
  const auto run = MakeRun(TinySpec("rope"));
  ORDO_ASSERT_OK_AND_ASSIGN(const StepResult result, run->Step());
  ASSERT_EQ(result.attention_kernels.size(), 1U);
  EXPECT_THAT(*result.attention_kernels.begin(),
              ::testing::StartsWith("cpu_tiled"));
}

// What can go wrong only with part of a recipe.
struct Recipe {
  const char* name;
  double dropout;
  const char* precision;
  int micro_batch_size;
  // The step at which the loss is not finite and is skipped; -1: none.
  int64_t skipped_step;
};

class EveryRecipe : public ::testing::TestWithParam<Recipe> {
 protected:
  static TrainSpec Spec() {
    TrainSpec spec = TinySpec("rope");
    spec.mutable_model()->set_dropout(GetParam().dropout);
    spec.mutable_training()->set_precision(GetParam().precision);
    spec.mutable_training()->set_micro_batch_size(GetParam().micro_batch_size);
    spec.mutable_training()->set_non_finite("skip");
    return spec;
  }
  // A step of a run of this recipe, whoever has come so far.
  static void Step(training::Run* run) {
    const Snapshot before = Copy(run->State());
    const bool skips = run->cursors().step == GetParam().skipped_step;
    if (skips) PoisonOneWeight(run);
    ORDO_ASSERT_OK_AND_ASSIGN(const StepResult result, run->Step());
    EXPECT_EQ(result.skipped, skips);
    if (!skips) return;
    const at::NoGradGuard no_grad;
    for (const auto& [name, tensor] : run->State().parameters) {
      at::Tensor(tensor).copy_(before.parameters.at(name));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(
    Recipes, EveryRecipe,
    ::testing::Values(Recipe{"Dropout", 0.1, "fp32", 8, -1},
                      Recipe{"Bfloat16", 0, "bf16", 8, -1},
                      Recipe{"Accumulation", 0, "fp32", 2, -1},
                      Recipe{"SkippedStep", 0, "fp32", 8, 7},
                      Recipe{"AllOfThem", 0.1, "bf16", 2, 7}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(EveryRecipe, ResumedAtAnyStepGivesTheBitsOfAnUndisturbedRun) {
  const TrainSpec spec = Spec();
  const auto undisturbed = MakeRun(spec);
  std::vector<Snapshot> stops = {Copy(undisturbed->State())};
  while (undisturbed->cursors().step < spec.training().steps()) {
    Step(undisturbed.get());
    stops.push_back(Copy(undisturbed->State()));
  }
  EXPECT_EQ(undisturbed->cursors().updates,
            spec.training().steps() - (GetParam().skipped_step >= 0 ? 1 : 0));
  const std::string expected = StateDigest(undisturbed->State());
  for (const Snapshot& stop : stops) {
    const auto resumed = MakeRun(spec);
    ORDO_ASSERT_OK(resumed->Load(stop));
    while (resumed->cursors().step < spec.training().steps()) {
      Step(resumed.get());
    }
    EXPECT_EQ(StateDigest(resumed->State()), expected)
        << "resumed at step " << stop.cursors.step;
  }
}

TEST_P(EveryEncoding, LossFalls) {
  TrainSpec spec = TinySpec(GetParam());
  spec.mutable_training()->set_steps(60);
  const std::vector<double> losses = Losses(spec, 60);
  EXPECT_NEAR(losses.front(), std::log(19), 0.2);
  EXPECT_LT(losses.back(), losses.front() - 0.5);
}

TEST_P(EveryEncoding, Bfloat16FollowsFp32Roughly) {
  TrainSpec spec = TinySpec(GetParam());
  const std::vector<double> fp32 = Losses(spec, 20);
  spec.mutable_training()->set_precision("bf16");
  const std::vector<double> bf16 = Losses(spec, 20);
  EXPECT_NE(bf16, fp32);
  for (size_t step = 0; step < fp32.size(); ++step) {
    EXPECT_NEAR(bf16[step], fp32[step], 0.05) << step;
  }
}

class SplitBatches
    : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(EncodingsAndPrecisions, SplitBatches,
                         ::testing::Combine(::testing::Values("none", "rope",
                                                              "tape"),
                                            ::testing::Values("fp32", "bf16")));

// The bounds of Run::Step, which allows more: passes whose gradients cancel add
// up to less than their norms.
TEST_P(SplitBatches, GiveTheGradientsOfTheWholeWithinTheBound) {
  const auto [encoding, precision] = GetParam();
  TrainSpec spec = TinySpec(encoding);
  spec.mutable_model()->set_dropout(0.1);
  spec.mutable_training()->set_precision(precision);
  // At the start canonical TAPE is RoPE.
  const auto trained = MakeRun(spec);
  StepTo(trained.get(), 5);
  const Snapshot start = Copy(trained->State());
  const auto gradients = [&](int micro_batch_size) {
    spec.mutable_training()->set_micro_batch_size(micro_batch_size);
    const auto run = MakeRun(spec);
    ORDO_EXPECT_OK(run->Load(start));
    ORDO_EXPECT_OK(run->Step());
    std::vector<at::Tensor> all;
    for (const auto& named : run->model().Parameters()) {
      all.push_back(named.tensor.grad().flatten());
    }
    return at::cat(all);
  };
  const at::Tensor whole = gradients(8);
  const double scale = whole.norm().item<double>();
  const double bound =
      spec.training().precision() == "fp32" ? 1e-6 : std::pow(2.0, -7);
  for (const int micro_batch_size : {4, 2, 1}) {
    const at::Tensor split = gradients(micro_batch_size);
    EXPECT_LT((split - whole).norm().item<double>(), bound * scale)
        << micro_batch_size;
  }
}

// Noise at the input that a row takes along, on all that surrounds the blocks.
TEST(Run, NoiseIsThatOfTheStepAndTheRow) {
  TrainSpec spec = TinySpec("rope");
  auto* model = spec.mutable_model();
  model->set_mlp("geglu");
  model->set_post_norm(true);
  model->set_input_noise(0.5);
  model->set_output_mlp(true);
  model->set_output_projection(true);
  model->set_init("deepnorm");
  const auto undisturbed = MakeRun(spec);
  StepTo(undisturbed.get(), 4);
  const Snapshot stop = Copy(undisturbed->State());
  StepTo(undisturbed.get(), 8);
  const auto resumed = MakeRun(spec);
  ORDO_ASSERT_OK(resumed->Load(stop));
  StepTo(resumed.get(), 8);
  EXPECT_EQ(StateDigest(resumed->State()), StateDigest(undisturbed->State()));
  const double whole = Losses(spec, 1)[0];
  for (const int micro_batch_size : {4, 1}) {
    spec.mutable_training()->set_micro_batch_size(micro_batch_size);
    EXPECT_NEAR(Losses(spec, 1)[0], whole, 1e-5) << micro_batch_size;
  }
}

// Rows of up to 12 tokens, each of another length, whose outputs are read in
// place by a model that sees all of a row.
TrainSpec UnevenSpec(int micro_batch_size) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_model()->set_causal(false);
  spec.clear_evaluations();
  spec.mutable_data()->set_task("ruoss");
  auto& params = *spec.mutable_data()->mutable_params();
  params.clear();
  params["task"].set_string_value("bucket_sort");
  params["max_length"].set_number_value(6);
  params["rows_per_length"].set_number_value(1);
  spec.mutable_training()->set_micro_batch_size(micro_batch_size);
  return spec;
}

// Alone, a row is not padded.
TEST(Run, PaddingIsNotSeenByAModelThatSeesAllOfARow) {
  const auto trained = MakeRun(UnevenSpec(1));
  StepTo(trained.get(), 10);
  const auto padded = MakeRun(UnevenSpec(8));
  ORDO_ASSERT_OK(padded->Load(Copy(trained->State())));
  ORDO_ASSERT_OK_AND_ASSIGN(const StepResult alone, trained->Step());
  ORDO_ASSERT_OK_AND_ASSIGN(const StepResult together, padded->Step());
  EXPECT_LT(alone.num_tokens, together.num_tokens);
  EXPECT_NEAR(together.loss, alone.loss, 1e-5);
  EXPECT_NEAR(together.gradient_norm, alone.gradient_norm,
              1e-4 * alone.gradient_norm);
}

TEST(Run, CountsTheTokensOfRowsOfUnequalLength) {
  const auto run = MakeRun(UnevenSpec(1));
  int64_t num_tokens = 0;
  for (int step = 0; step < 2; ++step) {
    ORDO_ASSERT_OK_AND_ASSIGN(const StepResult result, run->Step());
    EXPECT_LT(result.num_tokens, 8 * 12);
    num_tokens += result.num_tokens;
  }
  EXPECT_EQ(run->cursors().tokens, num_tokens);
}

TEST(Run, FirstLossesOfATinyModelAreFrozen) {
  const std::vector<double> losses = Losses(TinySpec("rope"), 10);
  const std::vector<double> golden = {2.949254, 2.926403, 2.884119, 2.850622,
                                      2.836119, 2.808437, 2.798862, 2.773406,
                                      2.724254, 2.729349};
  ASSERT_EQ(losses.size(), golden.size());
  for (size_t step = 0; step < golden.size(); ++step) {
    // What instruction sets and thread counts change.
    EXPECT_NEAR(losses[step], golden[step], 2e-5) << step;
  }
}

TEST(Run, AnotherDataSeedChangesTheLossesAndNotTheWeights) {
  TrainSpec spec = TinySpec("rope");
  const auto first = MakeRun(spec);
  spec.mutable_data()->set_seed(2);
  const auto second = MakeRun(spec);
  for (const auto& [name, tensor] : first->State().parameters) {
    EXPECT_TRUE(at::equal(tensor, second->State().parameters.at(name))) << name;
  }
  EXPECT_NE(StateDigest(first->State()), StateDigest(second->State()));
  EXPECT_NE(first->Step()->loss, second->Step()->loss);
}

TEST(Run, CountsWhatItHasSeen) {
  const auto run = MakeRun(TinySpec("none"));
  ORDO_ASSERT_OK(run->Step());
  ORDO_ASSERT_OK(run->Step());
  EXPECT_EQ(run->cursors().step, 2);
  EXPECT_EQ(run->cursors().samples, 16);
  EXPECT_EQ(run->cursors().tokens, 2 * 8 * 9);
  EXPECT_EQ(run->cursors().updates, 2);
}

// The first moments after the first step are (1 - beta1) times the gradient
// that the optimizer was given.
TEST(Run, ClippingScalesTheGradientToItsBound) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_clip_norm(1e-3);
  const auto run = MakeRun(spec);
  ORDO_ASSERT_OK_AND_ASSIGN(const StepResult result, run->Step());
  EXPECT_GT(result.gradient_norm, 1e-2);
  double squares = 0;
  for (const auto& [name, tensor] : run->State().optimizer) {
    if (!absl::EndsWith(name, ".exp_avg")) continue;
    squares += tensor.to(at::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(std::sqrt(squares) / (1 - spec.training().beta1()), 1e-3, 1e-8);
}

TEST(Run, ClippingBoundsTheUpdateAndLeavesSmallGradientsAlone) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_clip_norm(1e9);
  const std::vector<double> wide = Losses(spec, 5);
  spec.mutable_training()->set_clip_norm(0);
  EXPECT_EQ(Losses(spec, 5), wide);
  spec.mutable_training()->set_clip_norm(1e-3);
  EXPECT_NE(Losses(spec, 5), wide);
}

TEST(Run, NonFiniteLossEndsTheRunByDefaultAndChangesNothing) {
  const auto run = MakeRun(TinySpec("rope"));
  StepTo(run.get(), 3);
  PoisonOneWeight(run.get());
  const std::string before = StateDigest(run->State());
  const auto result = run->Step();
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("step 3: loss is nan")));
  EXPECT_EQ(base::GetErrorInfo(result.status())->reason, kNonFiniteReason);
  EXPECT_EQ(StateDigest(run->State()), before);
}

TEST(Run, NonFiniteStepsAreSkippedUpToTheLimit) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->set_non_finite("skip");
  spec.mutable_training()->set_max_non_finite(2);
  const auto run = MakeRun(spec);
  StepTo(run.get(), 3);
  const Snapshot good = Copy(run->State());
  PoisonOneWeight(run.get());
  EXPECT_TRUE(run->Step()->skipped);
  EXPECT_TRUE(run->Step()->skipped);
  EXPECT_EQ(run->cursors().step, 5);
  EXPECT_EQ(run->cursors().samples, 40);
  EXPECT_EQ(run->cursors().updates, 3);
  EXPECT_THAT(run->Step(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr("max_non_finite")));
  ORDO_ASSERT_OK(run->Load(good));
  EXPECT_FALSE(run->Step()->skipped);
}

TEST(Run, AStateWithADamagedPartIsNotTakenOverInPart) {
  const auto run = MakeRun(TinySpec("rope"));
  const auto other = MakeRun(TinySpec("rope"));
  StepTo(other.get(), 2);
  Snapshot damaged = Copy(other->State());
  damaged.optimizer.erase(damaged.optimizer.begin());
  const std::string before = StateDigest(run->State());
  EXPECT_THAT(run->Load(damaged),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("is missing")));
  EXPECT_EQ(StateDigest(run->State()), before);
}

TEST(Run, RefusesTheStateOfAnotherModel) {
  TrainSpec spec = TinySpec("rope");
  const auto run = MakeRun(spec);
  spec.mutable_model()->set_layers(1);
  EXPECT_THAT(MakeRun(spec)->Load(run->State()),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("does not belong to the model")));
  EXPECT_THAT(run->Load(MakeRun(spec)->State()),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("is missing")));
}

}  // namespace
}  // namespace ordo::model::training
