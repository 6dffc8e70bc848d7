#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/where.h"
#include "model/catalog/catalog.h"
#include "model/encodings/layer_tensor.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"

// T5's bias (Raffel et al. 2020, section 2.1): one learned number for each head
// and each bucket of distances. Near distances have buckets of their own, far
// ones share buckets whose widths grow geometrically. Where a query sees both
// sides, keys after it have the upper half of the buckets.

namespace ordo::model::encodings {
namespace {

struct T5Options {
  int64_t buckets = 0;
  int64_t max_distance = 0;
  bool both_sides = false;
  bool per_layer = false;
  bool scaled = true;
};

// Bucket of each distance 0 .. max_distance; all beyond have the last one's.
std::vector<int64_t> BucketOfDistance(const T5Options& options) {
  const int64_t buckets =
      options.both_sides ? options.buckets / 2 : options.buckets;
  const int64_t exact = buckets / 2;
  const double range =
      std::log(static_cast<double>(options.max_distance) / exact);
  std::vector<int64_t> bucket(options.max_distance + 1);
  for (int64_t n = 0; n <= options.max_distance; ++n) {
    bucket[n] = n;
    if (n < exact) continue;
    // The ratio is a whole number at some n, and must not round to below it.
    constexpr double kRounding = 1e-9;
    const double ratio = std::log(static_cast<double>(n) / exact) / range;
    const auto step = static_cast<int64_t>(
        ratio * static_cast<double>(buckets - exact) + kRounding);
    bucket[n] = std::min(exact + step, buckets - 1);
  }
  return bucket;
}

class T5 : public PositionBias {
 public:
  T5(const T5Options& options, const ModelShape& shape,
     std::vector<at::Tensor> tables, c10::Device device)
      : PositionBias(shape, options.per_layer),
        options_(options),
        tables_(std::move(tables)) {
    std::vector<int64_t> buckets = BucketOfDistance(options);
    bucket_of_distance_ =
        at::from_blob(buckets.data(), {static_cast<int64_t>(buckets.size())},
                      at::kLong)
            .clone()
            .to(device);
  }

  // Without the division: q is that much longer.
  void TransformQK(const LayerInput& /*input*/, at::Tensor* q_BHTD,
                   at::Tensor* /*k_BGTD*/) const override {
    if (options_.scaled) return;
    *q_BHTD = *q_BHTD * std::sqrt(static_cast<double>(q_BHTD->size(-1)));
  }

 private:
  // Buckets.
  at::Tensor Places(const Pass& pass, c10::ScalarType /*wide*/) const override {
    const at::Tensor distance = Distances(pass);
    const at::Tensor size =
        options_.both_sides ? distance.abs() : distance.clamp_min(0);
    const at::Tensor bucket =
        bucket_of_distance_
            .index_select(0, size.clamp_max(options_.max_distance).flatten())
            .view_as(distance);
    if (!options_.both_sides) return bucket;
    return at::where(distance < 0, bucket + options_.buckets / 2, bucket);
  }

  at::Tensor BiasOf(const at::Tensor& places, int layer) const override {
    return at::embedding(tables_[layer], places.squeeze(1))
        .permute({0, 3, 1, 2});
  }

  const T5Options options_;
  // By layer, each [buckets,H].
  const std::vector<at::Tensor> tables_;
  at::Tensor bucket_of_distance_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeT5(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  T5Options options;
  options.buckets = params.Integer("buckets");
  options.max_distance = params.Integer("max_distance");
  options.both_sides = !shape.causal;
  options.per_layer = params.Bool("per_layer");
  options.scaled = params.String("scale") != "none";
  LayerTensorOptions table;
  table.name = "t5.weight";
  table.shape = {options.buckets, shape.heads};
  table.per_layer = options.per_layer;
  if (params.String("init") == "normal") {
    table.initial.std = 1.0 / std::sqrt(static_cast<double>(shape.width));
  }
  return std::make_unique<T5>(options, shape,
                              AddLayerTensor(table, shape, parameters),
                              parameters->options().device);
}

}  // namespace ordo::model::encodings
