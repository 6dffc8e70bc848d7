#include "model/encodings/sum.h"

#include <algorithm>
#include <utility>

#include "ATen/TensorOperators.h"

namespace ordo::model::encodings {
namespace {

void AddTo(at::Tensor* sum, const at::Tensor& term) {
  if (!term.defined()) return;
  *sum = sum->defined() ? *sum + term : term;
}

// The tensors of part number `i`, when each has as many as `count` says.
template <typename Count>
std::vector<at::Tensor> Slice(const std::vector<at::Tensor>& all, size_t i,
                              const Count& count) {
  auto first = all.begin();
  for (size_t before = 0; before < i; ++before) first += count(before);
  return {first, first + count(i)};
}

}  // namespace

Sum::Sum(std::vector<std::unique_ptr<Encoding>> parts, int64_t num_drawn_from)
    : parts_(std::move(parts)), num_drawn_from_(num_drawn_from) {}

at::Tensor Sum::Positions(const PositionsInput& input) const {
  PositionsInput next = input;
  for (const auto& part : parts_) next.counted = part->Positions(next);
  return next.counted;
}

Segments Sum::segments() const {
  for (const auto& part : parts_) {
    if (part->segments().length > 0) return part->segments();
  }
  return {};
}

at::Tensor Sum::Embed(const at::Tensor& x_BTC, const Pass& pass) const {
  at::Tensor x = x_BTC;
  for (const auto& part : parts_) x = part->Embed(x, pass);
  return x;
}

Carried Sum::Start(const at::Tensor& x_BTC, const Pass& pass) const {
  Carried carried;
  for (const auto& part : parts_) {
    carried.parts.push_back(part->Start(x_BTC, pass));
  }
  return carried;
}

void Sum::TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                      at::Tensor* k_BGTD) const {
  for (size_t i = parts_.size(); i-- > 0;) {
    parts_[i]->TransformQK(PartOf(input, i), q_BHTD, k_BGTD);
  }
}

int64_t Sum::CachedLength() const {
  int64_t length = Encoding::CachedLength();
  for (const auto& part : parts_) {
    length = std::min(length, part->CachedLength());
  }
  // Two tokens may be as far apart as the ids that theirs are drawn from.
  return num_drawn_from_ > length ? 0 : length;
}

int Sum::NumExtraKeys() const {
  int number = 0;
  for (const auto& part : parts_) number += part->NumExtraKeys();
  return number;
}

std::vector<at::Tensor> Sum::ExtraKeys(const LayerInput& input) const {
  std::vector<at::Tensor> keys;
  for (size_t i = 0; i < parts_.size(); ++i) {
    for (at::Tensor& key : parts_[i]->ExtraKeys(PartOf(input, i))) {
      keys.push_back(std::move(key));
    }
  }
  return keys;
}

at::Tensor Sum::Product(const ScoresInput& input) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const at::Tensor product = parts_[i]->Product(ScoresOf(input, i));
    if (product.defined()) return product;
  }
  return {};
}

bool Sum::ReadsProduct() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->ReadsProduct(); });
}

at::Tensor Sum::Bias(const ScoresInput& input,
                     const at::Tensor& product) const {
  at::Tensor bias;
  for (size_t i = 0; i < parts_.size(); ++i) {
    AddTo(&bias, parts_[i]->Bias(ScoresOf(input, i), product));
  }
  return bias;
}

std::optional<kernels::torch::Terms> Sum::KernelTerms(
    const ScoresInput& input) const {
  kernels::torch::Terms sum;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto terms = parts_[i]->KernelTerms(ScoresOf(input, i));
    if (!terms.has_value() || !kernels::torch::Add(*terms, &sum)) return {};
  }
  return sum;
}

bool Sum::HasValueTerm() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->HasValueTerm(); });
}

at::Tensor Sum::ValueTerm(const ScoresInput& input,
                          const at::Tensor& weights_BHTS) const {
  at::Tensor term;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i]->HasValueTerm()) continue;
    AddTo(&term, parts_[i]->ValueTerm(ScoresOf(input, i), weights_BHTS));
  }
  return term;
}

int Sum::NumMixedValues(int layer) const {
  int number = 0;
  for (const auto& part : parts_) number += part->NumMixedValues(layer);
  return number;
}

std::vector<at::Tensor> Sum::MixedValues(const LayerInput& input) const {
  std::vector<at::Tensor> values;
  for (size_t i = 0; i < parts_.size(); ++i) {
    for (at::Tensor& value : parts_[i]->MixedValues(PartOf(input, i))) {
      values.push_back(std::move(value));
    }
  }
  return values;
}

at::Tensor Sum::PositionState(int layer, const Carried& carried) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const at::Tensor state = parts_[i]->PositionState(layer, carried.parts[i]);
    if (state.defined()) return state;
  }
  return {};
}

void Sum::AfterAttention(int layer, const AttentionOutput& output,
                         Carried* carried) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::vector<at::Tensor> attended =
        Slice(output.attended, i,
              [&](size_t part) { return parts_[part]->NumMixedValues(layer); });
    parts_[i]->AfterAttention(layer, {output.output_BTC, attended},
                              &carried->parts[i]);
  }
}

void Sum::AfterMlp(int layer, const at::Tensor& mlp_output_BTC,
                   Carried* carried) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->AfterMlp(layer, mlp_output_BTC, &carried->parts[i]);
  }
}

ScoresInput Sum::ScoresOf(const ScoresInput& whole, size_t i) const {
  return {PartOf(whole.layer, i), whole.q_BHTD, whole.k_BHSD,
          Slice(whole.extra_keys, i,
                [&](size_t part) { return parts_[part]->NumExtraKeys(); })};
}

}  // namespace ordo::model::encodings
