#include "model/transformer/config.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::model::transformer {
namespace {

// Limits of training.v1.Model.
constexpr int kMaxLayers = 256;
constexpr int kMaxWidth = 65536;
constexpr int kMaxHeads = 1024;
constexpr int kMaxMlpWidth = 262144;
constexpr int kMaxVocabulary = 1 << 24;

class Checker {
 public:
  void Range(std::string_view field, double value, double min, double max) {
    if (value >= min && value <= max) return;
    Refuse(field, absl::StrCat("must be ", min, "..", max, ", is ", value));
  }

  // `value` is `first` or `second`; returns whether it is the first.
  bool Choice(std::string_view field, const std::string& value,
              std::string_view first, std::string_view second) {
    if (value == first) return true;
    if (value != second) {
      Refuse(field,
             absl::StrCat("'", value, "' is neither ", std::string(first),
                          " nor ", std::string(second)));
    }
    return false;
  }

  void Refuse(std::string_view field, std::string description) {
    violations_.push_back(
        {absl::StrCat("model.", std::string(field)), std::move(description)});
  }

  absl::Status Result() const { return base::InvalidFields(violations_); }

 private:
  std::vector<base::FieldViolation> violations_;
};

}  // namespace

absl::StatusOr<Config> MakeConfig(const ordo::training::v1::Model& model) {
  Checker check;
  Config config;
  config.layers = model.layers();
  config.width = model.width();
  config.heads = model.heads();
  config.mlp_width = model.mlp_width();
  config.vocabulary_size = model.vocabulary_size();
  config.gated_mlp = check.Choice("mlp", model.mlp(), "swiglu", "gelu");
  config.rms_norm = check.Choice("norm", model.norm(), "rmsnorm", "layernorm");
  config.norm_epsilon = model.norm_epsilon();
  config.tie_embeddings = model.tie_embeddings();
  config.qk_norm = model.qk_norm();
  config.init_std = model.init_std();
  config.dropout = model.dropout();
  check.Range("layers", config.layers, 1, kMaxLayers);
  check.Range("width", config.width, 8, kMaxWidth);
  check.Range("heads", config.heads, 1, kMaxHeads);
  check.Range("mlp_width", config.mlp_width, 1, kMaxMlpWidth);
  check.Range("vocabulary_size", config.vocabulary_size, 1, kMaxVocabulary);
  check.Range("norm_epsilon", config.norm_epsilon, 1e-30, 1e-1);
  check.Range("init_std", config.init_std, 1e-30, 1);
  check.Range("dropout", config.dropout, 0, 0.999999);
  if (config.heads > 0 &&
      (config.width % config.heads != 0 || config.head_width() % 2 != 0)) {
    check.Refuse("width",
                 absl::StrCat("must be a multiple of twice the heads (",
                              config.heads, "), is ", config.width));
  }
  ORDO_RETURN_IF_ERROR(check.Result());
  return config;
}

}  // namespace ordo::model::transformer
