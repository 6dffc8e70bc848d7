#include "model/evaluation/decode.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/check.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve.h"
#include "model/encodings/testing/examples.h"
#include "model/tasks/task.h"
#include "model/testing/models.h"
#include "model/training/model_config.h"
#include "model/training/run.h"
#include "model/training/safetensors.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::evaluation {
namespace {

// A model whose weights are large enough for its answers to vary.
std::unique_ptr<transformer::Transformer> MakeModel(
    const std::string& encoding) {
  auto spec = training::testing::TinySpec(encoding);
  spec.mutable_model()->set_init_std(0.5);
  auto model =
      transformer::Transformer::Create(spec.model(), spec.encoding(), {});
  ORDO_CHECK(model.ok()) << model.status();
  return *std::move(model);
}

// The slow way: a whole pass for each token.
std::vector<int64_t> DecodeWithoutCache(const transformer::Transformer& model,
                                        std::vector<int64_t> row,
                                        int num_tokens) {
  const at::NoGradGuard no_grad;
  transformer::ForwardOptions options;
  options.final_length = static_cast<int64_t>(row.size()) + num_tokens;
  std::vector<int64_t> produced;
  for (int n = 0; n < num_tokens; ++n) {
    const at::Tensor logits =
        model.Forward(at::tensor(row, at::kLong).unsqueeze(0), options);
    produced.push_back(logits[0][-1].argmax().item<int64_t>());
    row.push_back(produced.back());
    if (produced.back() == tasks::kEnd) break;
  }
  return produced;
}

class EveryEncoding : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Encodings, EveryEncoding,
                         ::testing::Values("none", "rope", "tape"));

TEST_P(EveryEncoding, CachedDecodingGivesTheTokensOfWholePasses) {
  const auto model = MakeModel(GetParam());
  const Rows prompts = {{5, 14, 6, 17}, {9, 14, 13, 17}, {4, 4, 4, 4}};
  DecodeOptions options;
  options.num_tokens = 12;
  const Rows produced = Decode(*model, prompts, options);
  ASSERT_EQ(produced.size(), prompts.size());
  for (size_t row = 0; row < prompts.size(); ++row) {
    EXPECT_EQ(produced[row], DecodeWithoutCache(*model, prompts[row], 12))
        << row;
  }
}

// Written to a folder and read back, as a checkpoint is.
std::unique_ptr<transformer::Transformer> ThroughAFolder(
    const transformer::Transformer& model,
    const ordo::training::v1::Component& encoding) {
  const base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  training::TensorMap weights;
  for (const auto& named : model.Parameters()) {
    weights[named.name] = named.tensor.detach();
  }
  training::ModelConfig config;
  config.model = model.model();
  config.encoding = encoding;
  absl::Status status = training::WriteSafetensors(
      files, folder.Path(training::kModelFile), weights);
  ORDO_CHECK(status.ok()) << status;
  status = base::AtomicWrite(files, folder.Path(training::kConfigFile),
                             training::WriteModelConfig(config));
  ORDO_CHECK(status.ok()) << status;
  auto loaded = training::LoadModel(files, folder.Path(""), "");
  ORDO_CHECK(loaded.ok()) << loaded.status();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
      loaded->config.encoding, encoding));
  return std::move(loaded->transformer);
}

// Whether all rows of a pass, the cache's too, are of one length's making, with
// `encoding` and all that it is made of.
bool IsTheSameAtEveryLength(const ordo::training::v1::Component& encoding) {
  const auto* entry = catalog::Find(catalog::Kind::kEncoding, encoding.name());
  return entry->encoding.decoding != catalog::Decoding::kLastRow &&
         std::all_of(encoding.with().begin(), encoding.with().end(),
                     IsTheSameAtEveryLength);
}

class EveryExample
    : public ::testing::TestWithParam<encodings::testing::Example> {};
INSTANTIATE_TEST_SUITE_P(Encodings, EveryExample,
                         ::testing::ValuesIn(encodings::testing::Examples()),
                         [](const auto& info) { return info.param.label; });

TEST_P(EveryExample, OfACheckpointDecodesAsWholePassesOfTheModelItIsOf) {
  auto spec = training::testing::TinySpec("none");
  *spec.mutable_encoding() = GetParam().encoding;
  // Deeper than one, what earlier tokens left behind was made at their own
  // length.
  spec.mutable_model()->set_layers(IsTheSameAtEveryLength(spec.encoding()) ? 3
                                                                           : 1);
  std::vector<base::FieldViolation> violations;
  catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding",
                            spec.mutable_encoding(), &violations);
  ASSERT_TRUE(violations.empty());
  const auto model =
      model::testing::MakeTransformer(spec.model(), spec.encoding());
  // Those that start at zero act, too.
  model::testing::Randomize(model->Parameters());
  const auto loaded = ThroughAFolder(*model, spec.encoding());
  const Rows prompts = {{5, 14, 6, 17}, {4, 4, 4, 4}};
  const int64_t limit = catalog::MaxLength(spec.encoding());
  DecodeOptions options;
  options.num_tokens = limit == 0 ? 8 : std::min<int64_t>(8, limit - 4);
  const Rows produced = Decode(*loaded, prompts, options);
  ASSERT_EQ(produced.size(), prompts.size());
  for (size_t row = 0; row < prompts.size(); ++row) {
    EXPECT_EQ(produced[row],
              DecodeWithoutCache(*model, prompts[row], options.num_tokens))
        << row;
  }
}

// A model of `encoding` decodes as whole passes do, within 8 tokens and beyond.
void ExpectWholePasses(const std::string& encoding, int64_t cached_length) {
  auto spec = training::testing::TinySpec("none");
  spec.mutable_model()->set_init_std(0.5);
  *spec.mutable_encoding() = encodings::testing::FromText(encoding);
  ORDO_ASSERT_OK_AND_ASSIGN(spec, catalog::ResolveTrainSpec(spec));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto model,
      transformer::Transformer::Create(spec.model(), spec.encoding(), {}));
  EXPECT_EQ(model->CachedLength(), cached_length);
  const Rows prompts = {{5, 14, 6, 17}, {9, 14, 13, 17}};
  DecodeOptions options;
  for (const int num_tokens : {4, 12}) {
    options.num_tokens = num_tokens;
    const Rows produced = Decode(*model, prompts, options);
    for (size_t row = 0; row < prompts.size(); ++row) {
      EXPECT_EQ(produced[row],
                DecodeWithoutCache(*model, prompts[row], num_tokens))
          << row;
    }
  }
}

constexpr char kTapeOverYarn[] =
    "{name: tape, with: [{name: yarn, params: {trained_length: 8}}]}";

TEST(Decode, WhatCannotBeCachedIsDecodedByWholePasses) {
  ExpectWholePasses(kTapeOverYarn, 8);
}

// A row of few tokens may span more positions than yarn was trained on.
TEST(Decode, DrawnPositionsAreCachedOnlyWhereAllOfThemMayBe) {
  const auto over = [](const std::string& params) {
    return "{name: random_positions, params: {" + params + "}, with: [" +
           kTapeOverYarn + "]}";
  };
  ExpectWholePasses(over("max_position: 2048"), 0);
  ExpectWholePasses(over("max_position: 2048, eval: arange"), 8);
}

TEST(Decode, DrawnTokensAreThoseOfTheirStreamInWhateverCompany) {
  const auto model = MakeModel("rope");
  const Rows prompts = {{5, 14, 6, 17}, {9, 14, 13, 17}, {4, 4, 4, 4}};
  DecodeOptions options;
  options.num_tokens = 12;
  options.end.reset();
  const Rows likeliest = Decode(*model, prompts, options);
  options.top_k = 3;
  options.streams = {base::RandomStream(7, "a"), base::RandomStream(7, "b")};
  const Rows drawn = Decode(*model, prompts, options);
  EXPECT_NE(drawn[0], likeliest[0]);
  // Of a row without a stream nothing is drawn.
  EXPECT_EQ(drawn[2], likeliest[2]);
  options.streams = {base::RandomStream(7, "b")};
  EXPECT_EQ(Decode(*model, {prompts[1]}, options)[0], drawn[1]);
  options.streams = {base::RandomStream(8, "b")};
  EXPECT_NE(Decode(*model, {prompts[1]}, options)[0], drawn[1]);
  options.top_k = 1;
  EXPECT_EQ(Decode(*model, {prompts[1]}, options)[0], likeliest[1]);
}

TEST(Decode, EndsARowAtItsEndMark) {
  const auto model = MakeModel("none");
  {
    // Every logit but the end mark's is zero or less.
    const at::NoGradGuard no_grad;
    for (const auto& named : model->Parameters()) {
      if (named.name == "lm_head.weight") named.tensor.fill_(0);
      if (named.name == "model.norm.weight") named.tensor.fill_(1);
    }
  }
  // All logits are equal: the lowest id, padding, is taken each time.
  DecodeOptions options;
  options.num_tokens = 3;
  EXPECT_EQ(Decode(*model, {{5, 6}}, options),
            (Rows{{tasks::kPad, tasks::kPad, tasks::kPad}}));
  const at::NoGradGuard no_grad;
  for (const auto& named : model->Parameters()) {
    if (named.name == "model.embed_tokens.weight") named.tensor.fill_(1);
    if (named.name == "lm_head.weight") named.tensor[tasks::kEnd].fill_(1);
    if (named.name.find("layers") != std::string::npos) named.tensor.fill_(0);
  }
  EXPECT_EQ(Decode(*model, {{5, 6}, {7, 8}}, options),
            (Rows{{tasks::kEnd}, {tasks::kEnd}}));
}

}  // namespace
}  // namespace ordo::model::evaluation
