#include "worker/trainer/inference.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/checkpoint.h"
#include "model/training/run.h"
#include "model/training/safetensors.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::ordo::model::training::ReadSafetensors;
using ::ordo::model::training::TensorMap;
using ::ordo::model::training::WriteSafetensors;
using ::ordo::model::training::testing::TinySpec;
using ::testing::HasSubstr;

class InferenceTest : public ::testing::Test {
 protected:
  InferenceTest() {
    const auto spec = TinySpec("tape");
    run_ = *model::training::Run::Create(spec);
    ORDO_EXPECT_OK(run_->Step());
    ORDO_EXPECT_OK(model::training::WriteCheckpoint(
        files_, folder_.path(), {run_->State(), spec, {}, true}));
    generate_.checkpoint = folder_.Path("1-1");
    logits_ = {folder_.Path("1-1"), folder_.Path("tokens.safetensors"),
               folder_.Path("logits.safetensors")};
  }

  absl::Status LogitsOf(const TensorMap& tensors) {
    ORDO_EXPECT_OK(WriteSafetensors(files_, logits_.tokens_file, tensors));
    return Logits(files_, logits_);
  }

  void ExpectBad(const TensorMap& tensors, const std::string& message) {
    const absl::Status status = LogitsOf(tensors);
    EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::BAD_SPEC);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::unique_ptr<model::training::Run> run_;
  GenerateOptions generate_;
  LogitsOptions logits_;
};

TEST_F(InferenceTest, LogitsAreThoseOfTheModel) {
  const at::Tensor tokens = at::arange(4, 16, at::kLong).view({2, 6});
  ORDO_ASSERT_OK(LogitsOf({{"tokens", tokens}}));
  ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap read,
                            ReadSafetensors(files_, logits_.out_file));
  const at::NoGradGuard no_grad;
  EXPECT_EQ(read.size(), 1u);
  EXPECT_TRUE(at::equal(read.at("logits"), run_->model().Forward(tokens)));
}

TEST_F(InferenceTest, LogitsTakePositionsAndAMask) {
  const at::Tensor tokens = at::arange(4, 16, at::kLong).view({2, 6});
  const at::Tensor positions =
      at::arange(6, at::kLong).mul(3).unsqueeze(0).repeat({2, 1});
  at::Tensor mask = at::ones({2, 6}, at::kLong);
  mask.index_put_({at::tensor({0}), at::tensor({0})},
                  at::tensor({0}, at::kLong));
  ORDO_ASSERT_OK(LogitsOf({{"tokens", tokens},
                           {"positions", positions},
                           {"attention_mask", mask}}));
  ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap read,
                            ReadSafetensors(files_, logits_.out_file));
  const at::NoGradGuard no_grad;
  model::transformer::ForwardOptions options;
  options.positions = positions;
  options.attention_mask = mask;
  EXPECT_TRUE(
      at::equal(read.at("logits"), run_->model().Forward(tokens, options)));
}

TEST_F(InferenceTest, LogitsNameABadTensor) {
  const at::Tensor tokens = at::ones({1, 2}, at::kLong);
  ExpectBad({{"toknes", tokens}}, "tokens: is missing");
  ExpectBad({{"tokens", tokens.to(at::kInt)}}, "tokens: must be int64");
  ExpectBad({{"tokens", at::ones({3}, at::kLong)}}, "tokens: must be int64");
  ExpectBad({{"tokens", at::full({1, 2}, 19, at::kLong)}}, "must be 0..18");
  ExpectBad({{"tokens", at::full({1, 2}, -1, at::kLong)}}, "has -1");
  ExpectBad({{"tokens", tokens}, {"x", tokens}}, "x: is not known");
  ExpectBad({{"tokens", tokens}, {"positions", at::ones({1, 3}, at::kLong)}},
            "positions: must be of the shape of tokens");
}

TEST_F(InferenceTest, LogitsRefusePositionsThatGoBackWhereOrderIsNeeded) {
  const auto spec = TinySpec("t5");
  const auto run = *model::training::Run::Create(spec);
  ORDO_ASSERT_OK(run->Step());
  ORDO_ASSERT_OK(model::training::WriteCheckpoint(
      files_, folder_.Path("t5"), {run->State(), spec, {}, true}));
  logits_.checkpoint = folder_.Path("t5/1-1");
  const at::Tensor tokens = at::arange(4, 7, at::kLong).view({1, 3});
  ExpectBad({{"tokens", tokens},
             {"positions", at::tensor({0, 2, 1}, at::kLong).view({1, 3})}},
            "positions: row 0 goes back to 1 at token 2 after 2; under the "
            "causal mask t5 has no distances below 0: give ids that do not "
            "decrease");
}

TEST_F(InferenceTest, LogitsNameAMissingFile) {
  logits_.tokens_file = folder_.Path("none");
  const absl::Status status = Logits(files_, logits_);
  EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--tokens"));
}

TEST_F(InferenceTest, GeneratesUpToTheLimit) {
  generate_.prompt = "12+3=";
  generate_.max_tokens = 1;
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string text,
                            Generate(files_, generate_));
  EXPECT_LE(text.size(), 1u);
}

TEST_F(InferenceTest, GenerateRefusesABadPromptOrCheckpoint) {
  EXPECT_THAT(Generate(files_, generate_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--prompt: must not be empty")));
  generate_.prompt = "12 and 3";
  EXPECT_THAT(Generate(files_, generate_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'a'")));
  generate_.checkpoint = folder_.Path("2-1");
  EXPECT_EQ(ExitCodeOf(Generate(files_, generate_).status()),
            ordo::training::v1::CHECKPOINT_DAMAGED);
}

}  // namespace
}  // namespace ordo::worker::trainer
