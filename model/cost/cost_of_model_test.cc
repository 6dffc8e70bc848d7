#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/fine_tuning.h"
#include "model/catalog/resolve_model.h"
#include "model/cost/cost.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/transformer/transformer.h"

// Counted numbers against the model itself.

namespace ordo::model::cost {
namespace {

using encodings::testing::Example;
using ::ordo::training::v1::Component;
using ::ordo::training::v1::Model;
using ::testing::IsEmpty;
using transformer::Transformer;

Component Resolved(const Model& model, Component encoding) {
  catalog::Violations violations;
  catalog::ResolveEncoding("encoding", model, &encoding, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return encoding;
}

int64_t NumValues(const Transformer& transformer) {
  int64_t count = 0;
  for (const auto& named : transformer.Parameters()) {
    count += named.tensor.numel();
  }
  return count;
}

std::unique_ptr<Transformer> OnMeta(const Model& model,
                                    const Component& encoding) {
  parameters::ParameterOptions options;
  options.device = at::kMeta;
  return testing::MakeTransformer(model, encoding, options);
}

class EveryEncoding : public ::testing::TestWithParam<Example> {};
INSTANTIATE_TEST_SUITE_P(Encodings, EveryEncoding,
                         ::testing::ValuesIn(encodings::testing::Examples()),
                         [](const auto& info) { return info.param.label; });

TEST_P(EveryEncoding, ParametersAreThoseOfTheModel) {
  const Model model = testing::SmallModel();
  const Component encoding = Resolved(model, GetParam().encoding);
  EXPECT_EQ(CountCost({model, encoding}, {}).whole.parameters,
            NumValues(*OnMeta(model, encoding)));
}

// Whatever is not refused.
TEST_P(EveryEncoding, HeadsMayHaveAWidthOfTheirOwn) {
  for (const int width : {20, 21}) {
    Model model = testing::SmallModel();
    model.set_width(width);
    Component encoding = GetParam().encoding;
    catalog::Violations violations;
    catalog::ResolveEncoding("encoding", model, &encoding, &violations);
    if (!violations.empty()) continue;
    const auto transformer = testing::MakeTransformer(model, encoding);
    EXPECT_EQ(CountCost({model, encoding}, {}).whole.parameters,
              NumValues(*transformer))
        << width;
    const at::Tensor logits =
        testing::Logits(*transformer, testing::Integers({2, 5}, 11, "tokens"));
    EXPECT_TRUE(logits.isfinite().all().item<bool>()) << width;
  }
}

TEST_P(EveryEncoding, StateIsWhatDecodingKeeps) {
  const Model model = testing::SmallModel();
  const Component encoding = Resolved(model, GetParam().encoding);
  if (catalog::Find(catalog::Kind::kEncoding, encoding.name())
          ->encoding.decoding == catalog::Decoding::kNone) {
    return;
  }
  CostOptions options;
  options.tokens = 5;
  options.bytes_per_value = 8;
  transformer::Cache cache;
  transformer::ForwardOptions forward;
  forward.cache = &cache;
  forward.final_length = 5;
  testing::Logits(*testing::SmallTransformer(encoding),
                  testing::Integers({1, 5}, 11, "tokens"), forward);
  const Cost cost = CountCost({model, encoding}, options);
  ASSERT_EQ(cache.layers.size(), 3u);
  for (size_t layer = 0; layer < 3; ++layer) {
    int64_t bytes = 0;
    for (const auto* kept :
         {&cache.layers[layer].keys, &cache.layers[layer].values}) {
      for (const at::Tensor& tensor : *kept) bytes += tensor.nbytes();
    }
    EXPECT_EQ(cost.parts[1 + layer].state_bytes, bytes) << "layer " << layer;
  }
}

TEST(CostOfModelTest, EveryOptionOfTheModelHasItsParameters) {
  const auto with = [](void (*change)(Model*)) {
    Model model = testing::SmallModel();
    change(&model);
    return model;
  };
  const Model models[] = {
      with([](Model* model) { model->set_mlp("gelu"); }),
      with([](Model* model) { model->set_tie_embeddings(true); }),
      with([](Model* model) { model->set_qk_norm(true); }),
      with([](Model* model) { model->set_key_value_heads(1); }),
      with([](Model* model) { model->set_head_width(4); }),
      with([](Model* model) { model->set_attention_bias("qkv"); }),
      with([](Model* model) { model->set_attention_bias("all"); }),
      with([](Model* model) { model->set_mlp_bias(true); }),
      with([](Model* model) {
        model->set_norm("layernorm");
        model->set_norm_bias(true);
        model->set_embedding_norm(true);
      }),
      with([](Model* model) { model->set_parallel_residual(true); }),
      with([](Model* model) { model->set_mlp("geglu"); }),
      with([](Model* model) { model->set_post_norm(true); }),
      with([](Model* model) { model->set_input_noise(0.1); }),
      with([](Model* model) { model->set_output_mlp(true); }),
      with([](Model* model) {
        model->set_post_norm(true);
        model->set_output_mlp(true);
        model->set_mlp("relu");
        model->set_mlp_bias(true);
      }),
      with([](Model* model) { model->set_output_projection(true); })};
  for (const Model& model : models) {
    const Component encoding = Resolved(model, testing::Encoding("rope"));
    EXPECT_EQ(CountCost({model, encoding}, {}).whole.parameters,
              NumValues(*OnMeta(model, encoding)))
        << model.ShortDebugString();
  }
}

// As the code of its origin has it: 16 blocks of 7 matrices of 1024 x 1024 and
// two norms, and what is around them.
TEST(CostOfModelTest, TheAdditionModelHasTheParametersOfItsOrigin) {
  Model model;
  model.set_preset("addition");
  catalog::Violations violations;
  catalog::ResolveModel("model", 19, &model, &violations);
  ASSERT_THAT(violations, IsEmpty());
  const Component encoding = Resolved(model, testing::Encoding("rope"));
  EXPECT_EQ(CountCost({model, encoding}, {}).whole.parameters, 121743360);
  EXPECT_EQ(NumValues(*OnMeta(model, encoding)), 121743360);
}

TEST(CostOfModelTest, AdaptersAreCounted) {
  Model model = testing::SmallModel();
  // Which has none.
  model.set_output_mlp(true);
  const Component encoding = Resolved(model, testing::Encoding("rope"));
  ordo::training::v1::Training training;
  training.mutable_lora()->set_rank(3);
  training.mutable_lora()->add_targets("v_proj");
  training.mutable_lora()->add_targets("down_proj");
  catalog::Violations violations;
  catalog::ResolveFineTuning("training", &training, &violations);
  ASSERT_THAT(violations, IsEmpty());
  const auto transformer = OnMeta(model, encoding);
  transformer->AddAdapters(training.lora());
  EXPECT_EQ(CountCost({model, encoding, &training.lora()}, {}).whole.parameters,
            NumValues(*transformer));
}

}  // namespace
}  // namespace ordo::model::cost
