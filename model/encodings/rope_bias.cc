#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "base/status/status.h"
#include "model/catalog/entries.h"
#include "model/encodings/registry.h"

// RoPE with bias (Su 2023, kexue.fm/archives/9577): learned a and b are added
// to q and k before they turn. What turns them is the encoding that this one
// stands beside, or that stands `with` it, or rope with this one's parameters.

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;

// The biases alone. They act before the rotation, because what stands `with` an
// encoding transforms q and k first (sum.h).
class QueryKeyBias : public Encoding {
 public:
  QueryKeyBias(const ModelShape& shape, parameters::ParameterSet* parameters)
      : layers_(shape.layers) {
    const int64_t width = shape.head_width();
    for (const int layer : shape.ActingLayers()) {
      const std::string prefix = LayerScope(layer) + "rope_bias.";
      layers_[layer] = {
          parameters->Add(prefix + "query", {shape.heads, width}, {}),
          parameters->Add(prefix + "key", {shape.num_key_heads(), width}, {})};
    }
  }

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    const Layer& layer = layers_[input.layer];
    Add(layer.query_HD, q_BHTD);
    Add(layer.key_GD, k_BGTD);
  }

 private:
  struct Layer {
    at::Tensor query_HD;
    at::Tensor key_GD;
  };

  static void Add(const at::Tensor& bias, at::Tensor* x) {
    *x = (*x + bias.unsqueeze(1)).to(x->scalar_type());
  }

  std::vector<Layer> layers_;
};

// What turns q and k where this encoding stands alone.
Component OwnRope(const Component& component) {
  Component rope;
  rope.set_name("rope");
  for (const char* name : {"base", "partial", "layout"}) {
    (*rope.mutable_params())[name] = component.params().at(name);
  }
  return rope;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeRopeBias(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  if (shape.turned) return std::make_unique<QueryKeyBias>(shape, parameters);
  // The same encoding, said the other way round.
  Component biases = component;
  biases.clear_with();
  const bool turns =
      component.with_size() > 0 && catalog::IsRotary(component.with(0).name());
  Component rotation = turns ? component.with(0) : OwnRope(component);
  *rotation.add_with() = biases;
  if (!turns && component.with_size() > 0) {
    *rotation.add_with() = component.with(0);
  }
  return MakeResolved(rotation, shape, parameters);
}

}  // namespace ordo::model::encodings
