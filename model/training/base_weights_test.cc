#include "model/training/base_weights.h"

#include <memory>
#include <string>

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
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::training {
namespace {

using model::testing::Logits;
using model::testing::MaxDifference;
using model::testing::SameBits;
using ::ordo::base::testing::StatusIs;
using ::ordo::training::v1::TrainSpec;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TinySpec;

class BaseWeightsTest : public ::testing::Test {
 protected:
  BaseWeightsTest() { ConfigureNumerics(2); }

  static std::unique_ptr<training::Run> MakeRun(const TrainSpec& spec) {
    auto resolved = catalog::ResolveTrainSpec(spec);
    ORDO_EXPECT_OK(resolved);
    auto run = training::Run::Create(*resolved);
    ORDO_EXPECT_OK(run);
    return *std::move(run);
  }

  // A run after two steps, and its checkpoint.
  std::unique_ptr<training::Run> Trained(const TrainSpec& spec) {
    auto run = MakeRun(spec);
    ORDO_EXPECT_OK(run->Step());
    ORDO_EXPECT_OK(run->Step());
    ORDO_EXPECT_OK(WriteCheckpoint(files_, folder_.path(),
                                   {run->State(), run->spec(), {}, true}));
    return run;
  }

  LoadedModel Load(const std::string& name) {
    auto loaded = LoadModel(files_, folder_.Path(name), "");
    ORDO_EXPECT_OK(loaded);
    return *std::move(loaded);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  const at::Tensor tokens_ = model::testing::Integers({2, 7}, 11, "tokens");
};

TEST_F(BaseWeightsTest, RopeBecomesTapeWithoutChangingALogit) {
  const auto rope = Trained(TinySpec("rope"));
  const auto tape = MakeRun(TinySpec("tape"));
  EXPECT_FALSE(
      SameBits(Logits(tape->model(), tokens_), Logits(rope->model(), tokens_)));
  LoadedModel base = Load("2-1");
  ORDO_ASSERT_OK_AND_ASSIGN(const TakenWeights taken,
                            TakeWeights(&base, tape->model()));
  EXPECT_TRUE(
      SameBits(Logits(tape->model(), tokens_), Logits(rope->model(), tokens_)));
  EXPECT_THAT(taken.left, IsEmpty());
  EXPECT_THAT(taken.fresh, Not(IsEmpty()));
  for (const std::string& name : taken.fresh) {
    EXPECT_THAT(name, HasSubstr(".tape."));
  }
}

// 0 key heads: as many as heads.
class OwnRopeTest : public BaseWeightsTest,
                    public ::testing::WithParamInterface<int> {
 protected:
  static TrainSpec SpecOf(const std::string& encoding) {
    TrainSpec spec = TinySpec(encoding);
    if (GetParam() > 0) spec.mutable_model()->set_key_value_heads(GetParam());
    return spec;
  }
};
INSTANTIATE_TEST_SUITE_P(KeyHeads, OwnRopeTest, ::testing::Values(0, 1));

TEST_P(OwnRopeTest, TapeOverItChangesNoLogit) {
  TrainSpec of_rope = SpecOf("rope");
  (*of_rope.mutable_encoding()->mutable_params())["base"].set_number_value(
      500000);
  const auto rope = Trained(of_rope);
  const auto start = [&](const TrainSpec& spec) {
    const auto tape = MakeRun(spec);
    LoadedModel base = Load("2-1");
    ORDO_EXPECT_OK(TakeWeights(&base, tape->model()));
    return Logits(tape->model(), tokens_);
  };
  TrainSpec of_tape = SpecOf("tape");
  const at::Tensor logits = Logits(rope->model(), tokens_);
  // Over the rope that it has by default.
  EXPECT_FALSE(SameBits(start(of_tape), logits));
  *of_tape.mutable_encoding()->add_with() = of_rope.encoding();
  EXPECT_TRUE(SameBits(start(of_tape), logits));
}

TEST_F(BaseWeightsTest, ParametersOfAnotherEncodingAreLeft) {
  const auto tape = Trained(TinySpec("tape"));
  const auto rope = MakeRun(TinySpec("rope"));
  LoadedModel base = Load("2-1");
  ORDO_ASSERT_OK_AND_ASSIGN(const TakenWeights taken,
                            TakeWeights(&base, rope->model()));
  EXPECT_THAT(taken.left, Not(IsEmpty()));
  EXPECT_THAT(taken.fresh, IsEmpty());
  const auto of_tape = ParametersOf(tape->model());
  for (const auto& [name, tensor] : ParametersOf(rope->model())) {
    EXPECT_TRUE(SameBits(tensor, of_tape.at(name))) << name;
  }
}

TEST_F(BaseWeightsTest, AdaptersStartFreshAndThoseOfTheBaseAreMerged) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->mutable_lora()->set_rank(2);
  const auto first = Trained(spec);
  const auto second = MakeRun(spec);
  LoadedModel base = Load("2-1");
  ORDO_ASSERT_OK(TakeWeights(&base, second->model()));
  EXPECT_LT(MaxDifference(Logits(second->model(), tokens_),
                          Logits(first->model(), tokens_)),
            1e-6);
}

TEST_F(BaseWeightsTest, AnotherArchitectureIsRefusedAndNothingTaken) {
  Trained(TinySpec("rope"));
  TrainSpec spec = TinySpec("rope");
  spec.mutable_model()->set_layers(3);
  spec.mutable_model()->set_norm_epsilon(1e-6);
  const auto other = MakeRun(spec);
  const Snapshot before = Copy(other->State());
  LoadedModel base = Load("2-1");
  EXPECT_THAT(TakeWeights(&base, other->model()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("model.layers was 2 and is 3"),
                             HasSubstr("model.norm_epsilon"))));
  EXPECT_EQ(StateDigest(before), StateDigest(other->State()));
}

TEST_F(BaseWeightsTest, HowWeightsStartIsNoArchitecture) {
  const auto first = Trained(TinySpec("rope"));
  TrainSpec spec = TinySpec("rope");
  spec.mutable_model()->set_init("deepnorm");
  const auto second = MakeRun(spec);
  LoadedModel base = Load("2-1");
  ORDO_ASSERT_OK(TakeWeights(&base, second->model()));
  EXPECT_TRUE(SameBits(Logits(second->model(), tokens_),
                       Logits(first->model(), tokens_)));
}

TEST_F(BaseWeightsTest, AnotherShapeOfTheEncodingIsRefused) {
  Trained(TinySpec("tape"));
  TrainSpec spec = TinySpec("tape");
  (*spec.mutable_encoding()->mutable_params())["position_size"]
      .set_number_value(8);
  const auto other = MakeRun(spec);
  LoadedModel base = Load("2-1");
  EXPECT_THAT(TakeWeights(&base, other->model()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has another shape in the base")));
}

TEST_F(BaseWeightsTest, AMergedFolderIsAModelOfItsOwn) {
  TrainSpec spec = TinySpec("rope");
  spec.mutable_training()->mutable_lora();
  const auto run = Trained(spec);
  LoadedModel model = Load("2-1");
  ORDO_ASSERT_OK(WriteMerged(files_, folder_.Path("merged"), &model));
  const LoadedModel merged = Load("merged");
  EXPECT_FALSE(merged.config.lora.has_value());
  EXPECT_EQ(merged.config.data.task(), "addition");
  EXPECT_LT(MaxDifference(Logits(*merged.transformer, tokens_),
                          Logits(run->model(), tokens_)),
            1e-6);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string config,
      base::ReadFile(files_, folder_.Path("merged/config.json"), 1 << 20));
  EXPECT_THAT(config, HasSubstr("LlamaForCausalLM"));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string with_adapters,
      base::ReadFile(files_, folder_.Path("2-1/config.json"), 1 << 20));
  EXPECT_THAT(with_adapters, Not(HasSubstr("LlamaForCausalLM")));
}

}  // namespace
}  // namespace ordo::model::training
