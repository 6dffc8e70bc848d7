#ifndef ORDO_MODEL_ENCODINGS_SUM_H_
#define ORDO_MODEL_ENCODINGS_SUM_H_

#include <memory>
#include <vector>

#include "model/encodings/encoding.h"

namespace ordo::model::encodings {

// Several encodings that act beside each other: q and k pass through one after
// the other, the first one last, so that what stands `with` it acts on what it
// turns; terms of the logits and of the values add up. At most one of them
// replaces the product, at most one mixes values of its own, and at most one
// has segments.
class Sum : public Encoding {
 public:
  // `num_drawn_from`: how many position ids those of a row are drawn from in
  // evaluation; 0: they are counted.
  explicit Sum(std::vector<std::unique_ptr<Encoding>> parts,
               int64_t num_drawn_from = 0);

  at::Tensor Positions(const PositionsInput& input) const override;
  Segments segments() const override;
  at::Tensor Embed(const at::Tensor& x_BTC, const Pass& pass) const override;
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override;
  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override;
  int64_t CachedLength() const override;
  int NumExtraKeys() const override;
  std::vector<at::Tensor> ExtraKeys(const LayerInput& input) const override;
  at::Tensor Product(const ScoresInput& input) const override;
  bool ReadsProduct() const override;
  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& product) const override;
  // Unset where the terms of two parts do not go together in a kernel.
  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override;
  bool HasValueTerm() const override;
  at::Tensor ValueTerm(const ScoresInput& input,
                       const at::Tensor& weights_BHTS) const override;
  int NumMixedValues(int layer) const override;
  std::vector<at::Tensor> MixedValues(const LayerInput& input) const override;
  // Of the first part that has one.
  at::Tensor PositionState(int layer, const Carried& carried) const override;
  void AfterAttention(int layer, const AttentionOutput& output,
                      Carried* carried) const override;
  void AfterMlp(int layer, const at::Tensor& mlp_output_BTC,
                Carried* carried) const override;

 private:
  // What part number `i` sees of the logits.
  ScoresInput ScoresOf(const ScoresInput& whole, size_t i) const;

  const std::vector<std::unique_ptr<Encoding>> parts_;
  const int64_t num_drawn_from_;
};

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_SUM_H_
