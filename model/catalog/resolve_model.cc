#include "model/catalog/resolve_model.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

constexpr double kDefaultInitStd = 0.02;

// The sizes are in their ranges.
void ResolveHeadWidth(std::string_view field, v1::Model* model,
                      Violations* violations) {
  const int width = model->width(), heads = model->heads();
  if (model->has_head_width()) {
    if (ResolveNumber({"head_width", 2, 65536, {}}, field, model, violations) &&
        model->head_width() % 2 != 0) {
      violations->push_back(
          {FieldPath(field, "head_width"),
           absl::StrCat("must be even, is ", model->head_width())});
    }
    return;
  }
  if (width % heads != 0) {
    violations->push_back(
        {FieldPath(field, "width"),
         absl::StrCat("must be a multiple of heads, is ", width, " with ",
                      heads, " heads; or set head_width")});
  } else if (width / heads % 2 != 0) {
    violations->push_back(
        {FieldPath(field, "heads"),
         absl::StrCat("width / heads must be even, is ", width, " / ", heads,
                      " = ", width / heads)});
  } else {
    model->set_head_width(width / heads);
  }
}

// The code of the origin of TAPE's addition (McLeish et al. 2024,
// arXiv:2405.17399), whose state begins as noise that the embeddings are added
// to, and whose blocks come around once.
v1::Model AdditionFields() {
  v1::Model model;
  model.set_preset("base");
  model.set_mlp("geglu");
  model.set_norm("layernorm");
  model.set_norm_epsilon(1e-12);
  model.set_norm_bias(true);
  model.set_embedding_norm(true);
  model.set_post_norm(true);
  model.set_input_noise(0.02);
  model.set_output_mlp(true);
  model.set_output_projection(true);
  model.set_init("deepnorm");
  return model;
}

// What has its default is taken out, so that a model that asks for nothing of
// this is as before there was any.
void ResolveVariant(std::string_view field, v1::Model* model,
                    Violations* violations) {
  ResolveRequest({"input_noise", 0, 10, 0}, field, model, violations);
  if (!model->post_norm()) model->clear_post_norm();
  if (!model->output_mlp()) model->clear_output_mlp();
  if (!model->output_projection()) model->clear_output_projection();
  ResolveChoice({"init", {"normal", "deepnorm"}}, field, model, violations);
  if (model->init() == "normal") model->clear_init();
  if (model->init() == "deepnorm" && model->init_std() != kDefaultInitStd) {
    violations->push_back(
        {FieldPath(field, "init_std"),
         "has no effect with init: deepnorm; leave one of them out"});
  }
  if (model->post_norm() && model->parallel_residual()) {
    violations->push_back(
        {FieldPath(field, "post_norm"),
         "a norm cannot follow a sum of two parts that each have their own; "
         "leave out parallel_residual or post_norm"});
  }
}

// The switches of a block.
void ResolveBlock(std::string_view field, v1::Model* model,
                  Violations* violations) {
  ResolveChoice({"mlp", {"swiglu", "geglu", "gelu", "gelu_tanh", "relu"}},
                field, model, violations);
  const bool norm_valid = ResolveChoice({"norm", {"rmsnorm", "layernorm"}},
                                        field, model, violations);
  ResolveChoice({"attention_bias", {"none", "qkv", "all"}}, field, model,
                violations);
  if (!model->has_tie_embeddings()) model->set_tie_embeddings(false);
  if (!model->has_qk_norm()) model->set_qk_norm(false);
  if (!model->has_causal()) model->set_causal(true);
  if (!model->has_mlp_bias()) model->set_mlp_bias(false);
  if (!model->has_norm_bias()) model->set_norm_bias(false);
  if (!model->has_embedding_norm()) model->set_embedding_norm(false);
  if (!model->has_parallel_residual()) model->set_parallel_residual(false);
  if (norm_valid && model->norm_bias() && model->norm() != "layernorm") {
    violations->push_back({FieldPath(field, "norm_bias"),
                           absl::StrCat("needs norm: layernorm, is ",
                                        model->norm(), "; leave it out")});
  }
}

}  // namespace

const std::vector<Preset>& Presets() {
  static const auto* const presets = new std::vector<Preset>{
      {"tiny", 4, 128, 4, 0, "for a laptop: minutes on two CPU cores"},
      {"small", 12, 768, 12, 3072, "the 155 M model of the TAPE paper"},
      {"base", 16, 1024, 16, 2048,
       "sizes of the addition model of the TAPE paper"},
      {"addition", 16, 1024, 16, 1024, "the addition model of the TAPE paper",
       AdditionFields()},
  };
  return *presets;
}

ModelShape ShapeOf(const v1::Model& model) {
  return {model.layers(),          model.width(),  model.heads(),
          model.key_value_heads(), model.causal(), model.head_width()};
}

int DefaultMlpWidth(int width) {
  constexpr int64_t kMultiple = 32;
  // ceil(8 * width / 3), then up to the next multiple.
  const int64_t least = (int64_t{8} * width + 2) / 3;
  return static_cast<int>((least + kMultiple - 1) / kMultiple * kMultiple);
}

void ResolveModel(std::string_view field, int task_vocabulary_size,
                  v1::Model* model, Violations* violations) {
  ChoiceField choice{"preset", {}};
  for (const Preset& preset : Presets()) choice.choices.push_back(preset.name);
  const Preset* preset = &Presets().front();
  ResolveChoice(choice, field, model, violations);
  for (const Preset& known : Presets()) {
    if (known.name == model->preset()) preset = &known;
  }
  if (!preset->fields.preset().empty()) {
    v1::Model whole = preset->fields;
    model->clear_preset();
    whole.MergeFrom(*model);
    *model = std::move(whole);
  }

  const bool sizes_valid = ResolveNumbers({{"layers", 1, 256, preset->layers},
                                           {"width", 8, 65536, preset->width},
                                           {"heads", 1, 1024, preset->heads}},
                                          field, model, violations);
  if (sizes_valid) ResolveHeadWidth(field, model, violations);
  if (ResolveNumber(
          {"key_value_heads", 1, 1024, static_cast<double>(model->heads())},
          field, model, violations) &&
      sizes_valid && model->heads() % model->key_value_heads() != 0) {
    violations->push_back(
        {FieldPath(field, "key_value_heads"),
         absl::StrCat("must divide heads, is ", model->key_value_heads(),
                      " with ", model->heads(), " heads")});
  }
  // A preset's own MLP belongs to its width.
  const bool preset_mlp =
      preset->mlp_width != 0 && model->width() == preset->width;
  const int mlp_width =
      preset_mlp ? preset->mlp_width : DefaultMlpWidth(model->width());
  ResolveNumbers({{"mlp_width", 1, 262144, mlp_width},
                  // Less than this is lost in fp32.
                  {"norm_epsilon", 1e-30, 1e-1, 1e-5},
                  {"init_std", 1e-30, 1, kDefaultInitStd},
                  {"sliding_window", 0, 1e7, 0},
                  {"dropout", 0, 0.999999, 0}},
                 field, model, violations);
  ResolveBlock(field, model, violations);
  ResolveVariant(field, model, violations);

  const int vocabulary_size =
      task_vocabulary_size > 0 ? task_vocabulary_size : kDefaultVocabularySize;
  if (ResolveNumber({"vocabulary_size", 1, 1e7, vocabulary_size}, field, model,
                    violations) &&
      model->vocabulary_size() < task_vocabulary_size) {
    violations->push_back(
        {FieldPath(field, "vocabulary_size"),
         absl::StrCat("the task has ", task_vocabulary_size, " tokens, is ",
                      model->vocabulary_size(),
                      model->from().empty()
                          ? "; leave it out"
                          : ", as in the checkpoint of model.from; take "
                            "another task or checkpoint")});
  }
}

void ResolveEncoding(std::string_view field, const v1::Model& model,
                     v1::Component* encoding, Violations* violations) {
  const size_t num_before = violations->size();
  ResolveComponent(Kind::kEncoding, field, encoding, violations);
  // Sizes that do not fit each other have been complained about.
  const bool sizes_fit = model.heads() > 0 && model.head_width() > 0 &&
                         model.head_width() % 2 == 0;
  if (violations->size() == num_before && sizes_fit) {
    CheckShape(field, *encoding, ShapeOf(model), violations);
  }
}

}  // namespace ordo::model::catalog
