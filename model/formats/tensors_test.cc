#include "model/formats/tensors.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/equal.h"
#include "ATen/ops/ones.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ordo::training::v1::Component;
using ordo::training::v1::Model;
using ::testing::HasSubstr;

// Two heads of two channels, width 4.
Model SmallModel() {
  Model model;
  model.set_layers(1);
  model.set_heads(2);
  model.set_key_value_heads(2);
  model.set_head_width(2);
  return model;
}

Component Encoding(const std::string& name) {
  Component encoding;
  encoding.set_name(name);
  std::vector<base::FieldViolation> violations;
  catalog::ResolveComponent(catalog::Kind::kEncoding, "", &encoding,
                            &violations);
  return encoding;
}

const std::vector<std::string> kOurs = {"model.layers.#.q", "model.layers.#.k",
                                        "model.layers.#.v"};

// [12,4], rows numbered from 0.
at::Tensor Rows() {
  return at::arange(12, at::kFloat).unsqueeze(1).expand({12, 4}).contiguous();
}

// First channels of the rows.
std::vector<float> Numbers(const at::Tensor& tensor) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < tensor.size(0); ++i) {
    numbers.push_back(tensor[i].flatten()[0].item<float>());
  }
  return numbers;
}

TensorNames Names(Layout layout) {
  TensorNames names;
  names.prefix = "gpt.";
  names.rules = {{"/head.weight", {"lm_head.weight"}}, {"h.#.unused", {}}};
  AddRules("h.#.qkv", kOurs, layout, &names.rules);
  return names;
}

TEST(TensorsTest, EachLayoutIsTakenApartAndPutTogetherAgain) {
  const struct {
    Layout layout;
    std::vector<float> k;
  } cases[] = {{Layout::kJoined, {4, 5, 6, 7}},
               {Layout::kJoinedTransposed, {4, 5, 6, 7}},
               {Layout::kJoinedByHead, {2, 3, 8, 9}}};
  for (const auto& [layout, k] : cases) {
    const bool transposed = layout == Layout::kJoinedTransposed;
    const TensorMap theirs = {
        {"gpt.h.0.qkv.weight", transposed ? Rows().t().contiguous() : Rows()},
        {"gpt.h.0.qkv.bias", at::arange(12, at::kFloat)},
        {"head.weight", at::ones({3, 4})}};
    ORDO_ASSERT_OK_AND_ASSIGN(
        const TensorMap ours,
        ImportTensors(Names(layout), SmallModel(), Encoding("none"), theirs));
    EXPECT_EQ(Numbers(ours.at("model.layers.0.k.weight")), k);
    EXPECT_EQ(Numbers(ours.at("model.layers.0.k.bias")), k);
    EXPECT_EQ(ours.at("model.layers.0.q.weight").size(1), 4);
    ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap back,
                              ExportTensors(Names(layout), SmallModel(), ours));
    ASSERT_EQ(back.size(), theirs.size());
    for (const auto& [name, tensor] : theirs) {
      EXPECT_TRUE(at::equal(back.at(name), tensor)) << name;
    }
  }
}

TEST(TensorsTest, FewerKeysThanQueriesAreJoinedByTheirOwnRows) {
  Model model = SmallModel();
  model.set_key_value_heads(1);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TensorMap ours,
      ImportTensors(Names(Layout::kJoined), model, Encoding("none"),
                    {{"h.0.qkv.weight", at::ones({8, 4})}}));
  EXPECT_EQ(ours.at("model.layers.0.q.weight").size(0), 4);
  EXPECT_EQ(ours.at("model.layers.0.v.weight").size(0), 2);
}

TEST(TensorsTest, UnknownNamesAndShapesAreNamed) {
  const auto import = [](const TensorMap& theirs) {
    return ImportTensors(Names(Layout::kJoined), SmallModel(), Encoding("none"),
                         theirs)
        .status();
  };
  EXPECT_THAT(import({{"gpt.h.0.other", at::ones({1})}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'gpt.h.0.other'")));
  EXPECT_THAT(
      import({{"h.3.qkv.weight", at::ones({11, 4})}}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("'h.3.qkv.weight'")));
  ORDO_EXPECT_OK(import({{"h.0.unused", at::ones({1})}}));
  EXPECT_THAT(ExportTensors(Names(Layout::kJoined), SmallModel(),
                            {{"model.norm.weight", at::ones({4})}})
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'model.norm.weight'")));
}

TEST(TensorsTest, TensorsOfTheEncodingHaveTheNamesOfThePapersCode) {
  TensorNames llama;
  llama.others_keep_theirs = true;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TensorMap ours,
      ImportTensors(
          llama, SmallModel(), Encoding("tape"),
          {{"model.layers.1.post_attention_linear.weight", at::ones({2, 2})},
           {"model.layers.1.pe.x_proj.weight", at::ones({3, 4})},
           {"model.norm.weight", at::ones({4})}}));
  EXPECT_EQ(ours.size(), 3u);
  EXPECT_EQ(ours.count("model.layers.1.self_attn.tape.mix.weight"), 1u);
  EXPECT_EQ(ours.count("model.layers.1.self_attn.tape.gate_proj.weight"), 1u);
  EXPECT_EQ(ours.count("model.norm.weight"), 1u);
}

TEST(TensorsTest, AConstantMustEqualTheEncodingsParameter) {
  TensorNames llama;
  llama.others_keep_theirs = true;
  const std::string prefix = "model.layers.0.self_attn.rotary_emb.";
  TensorMap theirs = {{prefix + "init_L", at::ones({}) * 512},
                      {prefix + "c", at::ones({})}};
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TensorMap ours,
      ImportTensors(llama, SmallModel(), Encoding("fire"), theirs));
  EXPECT_EQ(ours.size(), 1u);
  EXPECT_EQ(ours.at("model.layers.0.self_attn.fire.c").dim(), 1);
  theirs[prefix + "init_L"] = at::ones({});
  EXPECT_THAT(
      ImportTensors(llama, SmallModel(), Encoding("fire"), theirs).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("encoding.params.length")));
}

}  // namespace
}  // namespace ordo::model::formats
