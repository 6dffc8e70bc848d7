#include "model/cost/cost.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace ordo::model::cost {
namespace {

using catalog::CostConvention;
using ordo::training::v1::Model;

// Operations of a softmax on each logit: scale, less the greatest, exponential,
// sum, division.
constexpr int64_t kSoftmaxFlops = 5;

// Sums up one part.
class Counter {
 public:
  Counter(std::string name, const CostOptions& options)
      : options_(options), part_{std::move(name)} {}

  // A matrix times each token's vector, and its bias.
  void Linear(int64_t in, int64_t out, bool bias) {
    part_.parameters += in * out + (bias ? out : 0);
    Product(options_.tokens * in * out);
    if (bias) Single(options_.tokens * out);
  }

  void Product(int64_t macs) {
    part_.macs += macs;
    part_.flops += 2 * macs;
  }

  // Operations on single values.
  void Single(int64_t flops) {
    if (!IsTable3()) part_.flops += flops;
  }

  // `values` activated by a function of so many operations each.
  void Activation(int64_t values, int64_t flops) {
    part_.flops += IsTable3() ? values : values * flops;
  }

  void Parameters(int64_t count) { part_.parameters += count; }
  void State(int64_t values) {
    part_.state_bytes += values * options_.bytes_per_value;
  }

  bool IsTable3() const {
    return options_.convention == CostConvention::kTapeTable3;
  }

  const PartCost& part() const { return part_; }

 private:
  const CostOptions& options_;
  PartCost part_;
};

class ModelCounter {
 public:
  ModelCounter(const CostSubject& subject, const CostOptions& options)
      : subject_(subject), model_(subject.model), options_(options) {
    shape_.layers = model_.layers();
    shape_.width = model_.width();
    shape_.heads = model_.heads();
    shape_.key_heads = model_.key_value_heads();
    shape_.own_head_width = model_.head_width();
    shape_.causal = model_.causal();
  }

  Cost Count() const {
    Cost cost;
    cost.parts.push_back(Embedding());
    for (int layer = 0; layer < model_.layers(); ++layer) {
      cost.parts.push_back(Layer(layer));
    }
    cost.parts.push_back(Head());
    cost.parts.push_back(EncodingPart());
    cost.whole.name = "whole";
    for (const PartCost& part : cost.parts) {
      cost.whole.parameters += part.parameters;
      cost.whole.macs += part.macs;
      cost.whole.flops += part.flops;
      cost.whole.state_bytes += part.state_bytes;
    }
    return cost;
  }

 private:
  // Pairs of a query and a key that count.
  int64_t Pairs() const {
    const int64_t n = options_.tokens;
    if (options_.convention == CostConvention::kTapeTable3) return n * n;
    const int64_t window = model_.sliding_window() == 0
                               ? n
                               : std::min<int64_t>(n, model_.sliding_window());
    // Each query sees so many tokens up to itself, but for the first ones.
    const int64_t up_to_own = window * n - window * (window - 1) / 2;
    return model_.causal() ? up_to_own : 2 * up_to_own - n;
  }

  // `rows` of `width` values each; norms of heads have no bias.
  void Norm(int64_t rows, int64_t width, bool bias, Counter* counter) const {
    const bool rms = model_.norm() == "rmsnorm";
    counter->Single(rows * width * (rms ? 4 : 6));
    if (bias) counter->Single(rows * width);
    counter->Parameters(bias ? 2 * width : width);
  }
  void Norm(Counter* counter) const {
    Norm(options_.tokens, model_.width(), model_.norm_bias(), counter);
  }

  // A matrix of a layer, and its adapter.
  struct Matrix {
    const char* name;
    int64_t in;
    int64_t out;
    bool bias;
  };
  void Linear(const Matrix& matrix, Counter* counter) const {
    counter->Linear(matrix.in, matrix.out, matrix.bias);
    if (subject_.lora == nullptr) return;
    const auto& targets = subject_.lora->targets();
    if (std::count(targets.begin(), targets.end(), matrix.name) == 0) return;
    counter->Linear(matrix.in, subject_.lora->rank(), false);
    counter->Linear(subject_.lora->rank(), matrix.out, false);
    counter->Single(2 * options_.tokens * matrix.out);
  }

  void Attention(Counter* counter) const {
    const int64_t n = options_.tokens, width = model_.width();
    const int64_t heads = shape_.heads, head = shape_.head_width();
    const int64_t keys = shape_.num_key_heads() * head;
    const bool biases = model_.attention_bias() != "none";
    Norm(counter);
    Linear({"q_proj", width, heads * head, biases}, counter);
    Linear({"k_proj", width, keys, biases}, counter);
    Linear({"v_proj", width, keys, biases}, counter);
    if (model_.qk_norm()) {
      Norm(n * heads, head, false, counter);
      Norm(n * shape_.num_key_heads(), head, false, counter);
    }
    counter->Product(2 * Pairs() * heads * head);
    counter->Activation(Pairs() * heads, kSoftmaxFlops);
    Linear({"o_proj", heads * head, width, model_.attention_bias() == "all"},
           counter);
    counter->Single(n * width);
    counter->State(n * 2 * keys);
  }

  bool IsGated() const {
    return model_.mlp() == "swiglu" || model_.mlp() == "geglu";
  }

  // Operations of an activation on each value.
  int64_t ActivationFlops() const {
    if (model_.mlp() == "relu") return 1;
    if (model_.mlp() == "gelu" || model_.mlp() == "geglu") return 5;
    // x / (1 + exp(-x)); the tanh approximation has a cube and a tanh.
    return model_.mlp() == "swiglu" ? 4 : 9;
  }

  // What stands between the matrices of an MLP.
  void Activate(Counter* counter) const {
    const int64_t values = options_.tokens * model_.mlp_width();
    counter->Activation(values, ActivationFlops());
    if (IsGated()) counter->Single(values);
  }

  void Mlp(Counter* counter) const {
    const int64_t n = options_.tokens, width = model_.width();
    const int64_t inner = model_.mlp_width();
    const bool gated = IsGated(), bias = model_.mlp_bias();
    Norm(counter);
    if (gated) Linear({"gate_proj", width, inner, bias}, counter);
    Linear({"up_proj", width, inner, bias}, counter);
    Activate(counter);
    Linear({"down_proj", inner, width, bias}, counter);
    counter->Single(n * width);
  }

  // It has no adapters; gate and up are one matrix here.
  void OutputMlp(Counter* counter) const {
    const int64_t width = model_.width(), inner = model_.mlp_width();
    counter->Linear(width, IsGated() ? 2 * inner : inner, model_.mlp_bias());
    Activate(counter);
    counter->Linear(inner, width, model_.mlp_bias());
  }

  void Encoding(int layer, Counter* counter) const {
    catalog::CostQuery query;
    query.convention = options_.convention;
    query.layer = layer;
    query.tokens = options_.tokens;
    query.pairs = Pairs();
    const catalog::ExtraCost extra =
        catalog::CountCost(subject_.encoding, shape_, query);
    counter->Product(extra.macs);
    // The catalogue has left out what the convention does not count.
    counter->Activation(extra.flops, 1);
    counter->State(options_.tokens * extra.state);
  }

  PartCost Embedding() const {
    Counter counter("embedding", options_);
    counter.Parameters(int64_t{model_.vocabulary_size()} * model_.width());
    if (model_.embedding_norm()) Norm(&counter);
    if (model_.input_noise() > 0) {
      counter.Single(options_.tokens * model_.width());
    }
    return counter.part();
  }

  PartCost Layer(int layer) const {
    Counter counter(absl::StrCat("layer ", layer), options_);
    Attention(&counter);
    Mlp(&counter);
    Encoding(layer, &counter);
    return counter.part();
  }

  PartCost Head() const {
    Counter counter("head", options_);
    const int64_t width = model_.width();
    const int64_t weights = width * model_.vocabulary_size();
    if (model_.output_mlp()) OutputMlp(&counter);
    // The last norm of a block takes its place.
    if (!model_.post_norm() || model_.output_mlp()) Norm(&counter);
    if (model_.output_projection()) counter.Linear(width, width, false);
    counter.Product(options_.tokens * weights);
    if (!model_.tie_embeddings()) counter.Parameters(weights);
    return counter.part();
  }

  PartCost EncodingPart() const {
    Counter counter("encoding", options_);
    counter.Parameters(catalog::CountParameters(subject_.encoding, shape_));
    Encoding(catalog::kInputLayer, &counter);
    return counter.part();
  }

  const CostSubject& subject_;
  const Model& model_;
  const CostOptions& options_;
  catalog::ModelShape shape_;
};

}  // namespace

std::string ConventionName(CostConvention convention) {
  return convention == CostConvention::kModel ? "model" : "tape_table3";
}

const std::vector<CostConvention>& Conventions() {
  static const auto* const conventions = new std::vector<CostConvention>{
      CostConvention::kModel, CostConvention::kTapeTable3};
  return *conventions;
}

Cost CountCost(const CostSubject& subject, const CostOptions& options) {
  ORDO_CHECK(options.tokens >= 1);
  return ModelCounter(subject, options).Count();
}

double TrainingFlops(const CostSubject& subject, int64_t tokens, int64_t rows) {
  CostOptions options;
  options.tokens = tokens;
  return 3.0 * static_cast<double>(CountCost(subject, options).whole.flops) *
         static_cast<double>(rows);
}

}  // namespace ordo::model::cost
