#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/training/checkpoint.h"
#include "model/training/model_config.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"
#include "model/training/trainable.h"

// Runs that train a part of the model only, and with sparse attention.

namespace ordo::model::training {
namespace {

using model::testing::SameBits;
using ::ordo::base::testing::StatusIs;
using ::ordo::training::v1::TrainSpec;
using ::testing::HasSubstr;
using testing::TinySpec;

TrainSpec Resolved(const TrainSpec& spec) {
  auto resolved = catalog::ResolveTrainSpec(spec);
  ORDO_EXPECT_OK(resolved);
  return *std::move(resolved);
}

// Adapters of rank 2, with embeddings and norms.
TrainSpec LoraSpec(const std::string& encoding) {
  TrainSpec spec = TinySpec(encoding);
  spec.mutable_training()->set_steps(6);
  spec.mutable_training()->mutable_lora()->set_rank(2);
  spec.mutable_training()->add_trainable("embeddings");
  spec.mutable_training()->add_trainable("norms");
  return Resolved(spec);
}

std::unique_ptr<Run> MakeRun(const TrainSpec& spec) {
  ConfigureNumerics(2);
  auto run = Run::Create(spec);
  ORDO_EXPECT_OK(run);
  return *std::move(run);
}

void StepToEnd(Run* run) {
  while (run->cursors().step < run->spec().training().steps()) {
    ORDO_ASSERT_OK(run->Step());
  }
}

TEST(FineTuningTest, OnlyWhatTrainsChangesItsBits) {
  const auto run = MakeRun(LoraSpec("rope"));
  const Snapshot before = Copy(run->State());
  StepToEnd(run.get());
  const Snapshot after = run->State();
  for (const auto& [name, tensor] : before.parameters) {
    const std::string part = PartOf(name);
    const bool trains =
        part == kAdapterPart || part == "embeddings" || part == "norms";
    EXPECT_EQ(SameBits(tensor, after.parameters.at(name)), !trains) << name;
    EXPECT_EQ(after.optimizer.count(name + ".exp_avg") == 1, trains) << name;
  }
}

TEST(FineTuningTest, OneEncodingTrainsAlone) {
  TrainSpec spec = TinySpec("tape");
  spec.mutable_training()->set_steps(3);
  spec.mutable_training()->add_trainable("encoding");
  const auto run = MakeRun(Resolved(spec));
  const Snapshot before = Copy(run->State());
  StepToEnd(run.get());
  bool any = false;
  for (const auto& [name, tensor] : run->State().parameters) {
    if (PartOf(name) == "encoding") {
      any = any || !SameBits(tensor, before.parameters.at(name));
    } else {
      EXPECT_TRUE(SameBits(tensor, before.parameters.at(name))) << name;
    }
  }
  EXPECT_TRUE(any);
}

TEST(FineTuningTest, ARunWithoutParametersToTrainIsRefused) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->add_trainable("encoding");
  EXPECT_THAT(Run::Create(Resolved(spec)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("training.trainable")));
}

TEST(FineTuningTest, ResumedAtAnyStepGivesTheBitsOfAnUndisturbedRun) {
  TrainSpec spec = LoraSpec("tape");
  spec.mutable_training()->mutable_shifted_sparse()->set_group(4);
  spec = Resolved(spec);
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
    StepToEnd(resumed.get());
    EXPECT_EQ(StateDigest(resumed->State()), expected)
        << "resumed at step " << stop.cursors.step;
  }
}

TEST(FineTuningTest, ACheckpointHoldsAdaptersAndBase) {
  const TrainSpec spec = LoraSpec("rope");
  const auto run = MakeRun(spec);
  StepToEnd(run.get());
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  ORDO_ASSERT_OK(WriteCheckpoint(files, folder.path(),
                                 {run->State(), spec, {}, /*exact=*/true}));
  ORDO_ASSERT_OK_AND_ASSIGN(const LoadedModel loaded,
                            LoadModel(files, folder.Path("6-1"), ""));
  ASSERT_TRUE(loaded.config.lora.has_value());
  EXPECT_EQ(loaded.config.lora->rank(), 2);
  const at::Tensor tokens = model::testing::Integers({2, 7}, 11, "tokens");
  EXPECT_TRUE(SameBits(model::testing::Logits(*loaded.transformer, tokens),
                       model::testing::Logits(run->model(), tokens)));
}

TEST(FineTuningTest, SparseAttentionChangesTrainingAndNotEvaluation) {
  TrainSpec spec = TinySpec("rope");
  const auto full = MakeRun(spec);
  spec.mutable_training()->mutable_shifted_sparse()->set_group(2);
  const auto sparse = MakeRun(Resolved(spec));
  const at::Tensor tokens = model::testing::Integers({2, 7}, 11, "tokens");
  EXPECT_TRUE(SameBits(model::testing::Logits(full->model(), tokens),
                       model::testing::Logits(sparse->model(), tokens)));
  ORDO_ASSERT_OK_AND_ASSIGN(const StepResult of_full, full->Step());
  ORDO_ASSERT_OK_AND_ASSIGN(const StepResult of_sparse, sparse->Step());
  EXPECT_NE(of_full.loss, of_sparse.loss);
}

}  // namespace
}  // namespace ordo::model::training
