#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ATen/ops/zeros.h"
#include "base/status/status.h"
#include "model/catalog/pattern.h"
#include "model/encodings/registry.h"

// A pattern of encodings, one for each layer, again and again (Yang et al.
// 2025, "Rope to Nope and back again", for one). Layers whose encodings are
// equal share one object, and with it the parameters that its layers share.

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;

class PerLayer : public Encoding {
 public:
  // `member_of_layer` has the number of a member for each layer.
  PerLayer(std::vector<std::unique_ptr<Encoding>> members,
           std::vector<int> member_of_layer)
      : members_(std::move(members)),
        member_of_layer_(std::move(member_of_layer)) {}

  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    Carried carried;
    for (const auto& member : members_) {
      carried.parts.push_back(member->Start(x_BTC, pass));
    }
    return carried;
  }

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    Member(input).TransformQK(Of(input), q_BHTD, k_BGTD);
  }

  int64_t CachedLength() const override {
    int64_t length = Encoding::CachedLength();
    for (const auto& member : members_) {
      length = std::min(length, member->CachedLength());
    }
    return length;
  }

  int NumExtraKeys() const override {
    int most = 0;
    for (const auto& member : members_) {
      most = std::max(most, member->NumExtraKeys());
    }
    return most;
  }

  // Every layer has as many as the layer that needs most; those that nobody
  // reads have no channels.
  std::vector<at::Tensor> ExtraKeys(const LayerInput& input) const override {
    std::vector<at::Tensor> keys = Member(input).ExtraKeys(Of(input));
    while (static_cast<int>(keys.size()) < NumExtraKeys()) {
      const at::Tensor& k = input.k_BGTD;
      keys.push_back(at::zeros({k.size(0), 1, k.size(2), 0}, k.options()));
    }
    return keys;
  }

  at::Tensor Product(const ScoresInput& input) const override {
    return Member(input.layer).Product(Of(input));
  }

  bool ReadsProduct() const override {
    return Any([](const Encoding& member) { return member.ReadsProduct(); });
  }

  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& product) const override {
    return Member(input.layer).Bias(Of(input), product);
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    return Member(input.layer).KernelTerms(Of(input));
  }

  bool HasValueTerm() const override {
    return Any([](const Encoding& member) { return member.HasValueTerm(); });
  }

  at::Tensor ValueTerm(const ScoresInput& input,
                       const at::Tensor& weights_BHTS) const override {
    const Encoding& member = Member(input.layer);
    if (!member.HasValueTerm()) return {};
    return member.ValueTerm(Of(input), weights_BHTS);
  }

  at::Tensor PositionState(int layer, const Carried& carried) const override {
    const int member = member_of_layer_[layer];
    return members_[member]->PositionState(layer, carried.parts[member]);
  }

 private:
  template <typename Predicate>
  bool Any(const Predicate& holds) const {
    return std::any_of(members_.begin(), members_.end(),
                       [&](const auto& member) { return holds(*member); });
  }

  const Encoding& Member(const LayerInput& input) const {
    return *members_[member_of_layer_[input.layer]];
  }

  LayerInput Of(const LayerInput& whole) const {
    return PartOf(whole, member_of_layer_[whole.layer]);
  }

  ScoresInput Of(const ScoresInput& whole) const {
    const int keys = Member(whole.layer).NumExtraKeys();
    return {Of(whole.layer),
            whole.q_BHTD,
            whole.k_BHSD,
            {whole.extra_keys.begin(), whole.extra_keys.begin() + keys}};
  }

  const std::vector<std::unique_ptr<Encoding>> members_;
  const std::vector<int> member_of_layer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakePerLayer(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Pattern pattern = catalog::PatternOf(component, shape.layers);
  std::vector<std::unique_ptr<Encoding>> members;
  for (size_t i = 0; i < pattern.members.size(); ++i) {
    ModelShape part = shape;
    part.acting = pattern.LayersOf(static_cast<int>(i));
    part.scope = shape.scope + "per_layer." + std::to_string(i) + ".";
    ORDO_ASSIGN_OR_RETURN(members.emplace_back(),
                          MakeResolved(*pattern.members[i], part, parameters));
  }
  return std::make_unique<PerLayer>(std::move(members),
                                    pattern.member_of_layer);
}

}  // namespace ordo::model::encodings
