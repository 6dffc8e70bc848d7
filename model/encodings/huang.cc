#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/matmul.h"
#include "model/catalog/catalog.h"
#include "model/encodings/layer_tensor.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"
#include "model/encodings/rows.h"

// The four methods of Huang et al. 2020 (arXiv:2009.13658), section 3: a
// learned number or vector for each clipped distance multiplies the product of
// q and k (methods 1 to 3), or meets both of them (method 4). All is divided by
// sqrt(D).
//
// Legend: R rows of a table.

namespace ordo::model::encodings {
namespace {

class Huang : public Encoding {
 public:
  // A table [R] or [R,D] for each layer; `max_distance` is K.
  Huang(int method, int64_t max_distance, bool causal,
        std::vector<at::Tensor> tables)
      : method_(method),
        max_distance_(max_distance),
        causal_(causal),
        tables_(std::move(tables)) {}

  at::Tensor Product(const ScoresInput& input) const override {
    if (method_ == 4) return {};
    const at::Tensor row = RowOf(Distances(input.layer.pass));
    const at::Tensor& table = tables_[input.layer.layer];
    const at::Tensor weight = table.index_select(0, row.flatten())
                                  .view(row.sizes().vec())
                                  .to(input.q_BHTD.scalar_type());
    return at::matmul(input.q_BHTD, input.k_BHSD.transpose(2, 3)) * weight *
           Scale(input);
  }

  // q_i . w + k_j . w.
  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& /*product*/) const override {
    if (method_ != 4) return {};
    const at::Tensor row = RowOf(Distances(input.layer.pass));
    const at::Tensor& table = tables_[input.layer.layer];
    const at::Tensor of_query =
        TakeRows(at::linear(input.layer.q_BHTD, table), row);
    const at::Tensor of_key =
        TakeRows(at::linear(input.k_BHSD, table), row.transpose(2, 3))
            .transpose(2, 3);
    return (of_query + of_key) * Scale(input);
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    kernels::torch::Terms terms;
    terms.reach = max_distance_ - 1;
    const at::Tensor table = tables_[input.layer.layer].index_select(
        0, RowOf(TableDistances(terms.reach, causal_,
                                input.layer.pass.positions_BS)));
    if (method_ < 4) {
      terms.inputs[kernels::attention::kMultiplier] = table.view({1, 1, 1, -1});
      return terms;
    }
    terms.inputs[kernels::attention::kQueryBand] = input.layer.q_BHTD;
    terms.inputs[kernels::attention::kKeyBand] = input.k_BHSD;
    terms.inputs[kernels::attention::kQueryVector] =
        terms.inputs[kernels::attention::kKeyVector] =
            table.unsqueeze(0).unsqueeze(0);
    return terms;
  }

 private:
  at::Tensor RowOf(const at::Tensor& distance) const {
    const int64_t last = max_distance_ - 1;
    return method_ == 1 ? distance.abs().clamp_max(last)
                        : distance.clamp(-last, last) + last;
  }

  static double Scale(const ScoresInput& input) {
    return 1.0 / std::sqrt(static_cast<double>(input.q_BHTD.size(3)));
  }

  const int method_;
  const int64_t max_distance_;
  const bool causal_;
  const std::vector<at::Tensor> tables_;
};

// Method 3 weighs each channel by the distance: sum_c q_c k_c w_c.
class HuangByChannel : public Encoding {
 public:
  HuangByChannel(int64_t max_distance, bool causal,
                 std::vector<at::Tensor> tables_RD)
      : max_distance_(max_distance),
        causal_(causal),
        tables_RD_(std::move(tables_RD)) {}

  // One product for each row that a pair takes; a pair keeps that of its own.
  at::Tensor Product(const ScoresInput& input) const override {
    const at::Tensor row = RowOf(Distances(input.layer.pass));
    const at::Tensor& table = tables_RD_[input.layer.layer];
    const at::Tensor k_BHDS = input.k_BHSD.transpose(2, 3);
    const int64_t first = row.min().item<int64_t>();
    const int64_t last = row.max().item<int64_t>();
    at::Tensor product;
    for (int64_t r = first; r <= last; ++r) {
      const at::Tensor taken = row.eq(r);
      const at::Tensor of_row = at::matmul(
          input.q_BHTD * table[r].to(input.q_BHTD.scalar_type()), k_BHDS);
      const at::Tensor kept = of_row.masked_fill(taken.logical_not(), 0.0);
      product = product.defined() ? product + kept : kept;
    }
    return product *
           (1.0 / std::sqrt(static_cast<double>(input.q_BHTD.size(3))));
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    kernels::torch::Terms terms;
    terms.reach = max_distance_ - 1;
    terms.inputs[kernels::attention::kChannel] =
        tables_RD_[input.layer.layer]
            .index_select(0,
                          RowOf(TableDistances(terms.reach, causal_,
                                               input.layer.pass.positions_BS)))
            .unsqueeze(0)
            .unsqueeze(0);
    return terms;
  }

 private:
  at::Tensor RowOf(const at::Tensor& distance) const {
    const int64_t last = max_distance_ - 1;
    return distance.clamp(-last, last) + last;
  }

  const int64_t max_distance_;
  const bool causal_;
  const std::vector<at::Tensor> tables_RD_;
};

absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang(
    int method, const ordo::training::v1::Component& component,
    const ModelShape& shape, parameters::ParameterSet* parameters) {
  constexpr double kInitialStd = 0.02;
  const catalog::Params params(component.params());
  const int64_t k = params.Integer("max_distance");
  std::vector<int64_t> sizes = {method == 1 ? k : 2 * k - 1};
  if (method >= 3) sizes.push_back(shape.head_width());
  const parameters::Initial initial = method == 4
                                          ? parameters::Initial{kInitialStd}
                                          : parameters::Initial{0.0, 1.0};
  std::vector<at::Tensor> tables = AddLayerTensor(
      {"huang.distance.weight", sizes, initial, /*per_layer=*/true}, shape,
      parameters);
  if (method == 3) {
    return std::make_unique<HuangByChannel>(k, shape.causal, std::move(tables));
  }
  return std::make_unique<Huang>(method, k, shape.causal, std::move(tables));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang1(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeHuang(1, component, shape, parameters);
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang2(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeHuang(2, component, shape, parameters);
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang3(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeHuang(3, component, shape, parameters);
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang4(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return MakeHuang(4, component, shape, parameters);
}

}  // namespace ordo::model::encodings
