#include "worker/trainer/convert.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/checkpoint.h"
#include "model/training/model_config.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using model::training::LoadModel;
using ::ordo::training::v1::TrainSpec;

class ConvertTest : public ::testing::Test {
 protected:
  // A checkpoint of the spec's model after a step.
  std::string Save(const TrainSpec& spec) {
    auto run = model::training::Run::Create(spec);
    ORDO_EXPECT_OK(run.status());
    ORDO_EXPECT_OK((*run)->Step());
    ORDO_EXPECT_OK(model::training::WriteCheckpoint(
        files_, folder_.path(), {(*run)->State(), spec, {}, true}));
    return folder_.Path("1-1");
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

// A GPT-2, whose tensors have other names and layouts.
TrainSpec Gpt2() {
  TrainSpec spec = model::training::testing::TinySpec("learned");
  spec.mutable_model()->set_norm("layernorm");
  spec.mutable_model()->set_norm_bias(true);
  spec.mutable_model()->set_mlp("gelu_tanh");
  spec.mutable_model()->set_mlp_bias(true);
  spec.mutable_model()->set_attention_bias("all");
  return spec;
}

TEST_F(ConvertTest, WhatIsWrittenLoadsAsTheSameModel) {
  const std::string checkpoint = Save(Gpt2());
  const std::string out = folder_.Path("out");
  ORDO_ASSERT_OK(Convert(files_, {checkpoint, out}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto before,
                            LoadModel(files_, checkpoint, ""));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto after, LoadModel(files_, out, ""));
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = at::arange(4, 12, at::kLong).view({1, 8});
  EXPECT_TRUE(at::equal(after.transformer->Forward(tokens),
                        before.transformer->Forward(tokens)));
  // Not into a folder that is there.
  EXPECT_EQ(ExitCodeOf(Convert(files_, {checkpoint, out})),
            ordo::training::v1::BAD_SPEC);
}

TEST_F(ConvertTest, WhatHasNoEquivalentIsRefused) {
  const std::string checkpoint =
      Save(model::training::testing::TinySpec("tape"));
  const absl::Status status =
      Convert(files_, {checkpoint, folder_.Path("out")});
  EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("tape"));
}

TEST_F(ConvertTest, AFieldThatNoKindHasIsNamed) {
  TrainSpec spec = model::training::testing::TinySpec("rope");
  spec.mutable_model()->set_post_norm(true);
  const absl::Status status =
      Convert(files_, {Save(spec), folder_.Path("out")});
  EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("has the model.post_norm of"));
}

// As a checkpoint whose files do not say its encoding.
TEST_F(ConvertTest, AGivenEncodingWithoutAnEquivalentIsWrittenAsOrdosOwn) {
  const std::string checkpoint =
      Save(model::training::testing::TinySpec("rope"));
  const std::string out = folder_.Path("out");
  ordo::training::v1::Component alibi;
  alibi.set_name("alibi");
  ORDO_ASSERT_OK(Convert(files_, {checkpoint, out, alibi}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto before,
                            LoadModel(files_, checkpoint, "", {&alibi}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto after, LoadModel(files_, out, ""));
  EXPECT_EQ(after.config.encoding.name(), "alibi");
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = at::arange(4, 12, at::kLong).view({1, 8});
  EXPECT_TRUE(at::equal(after.transformer->Forward(tokens),
                        before.transformer->Forward(tokens)));
}

}  // namespace
}  // namespace ordo::worker::trainer
