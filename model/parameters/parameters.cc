#include "model/parameters/parameters.h"

#include <utility>
#include <vector>

#include "ATen/ops/empty.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/full.h"
#include "base/check.h"
#include "base/random/random.h"

namespace ordo::model::parameters {
namespace {

int64_t Product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (int64_t size : shape) product *= size;
  return product;
}

// Drawn in double whatever the dtype, so that dtypes differ by rounding only.
at::Tensor Draw(const std::vector<int64_t>& shape, Initial initial,
                const base::RandomStream& stream) {
  std::vector<double> values(Product(shape));
  if (initial.uniform_width != 0.0) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = initial.mean + initial.uniform_width * stream.Double(i);
    }
  } else {
    stream.FillNormals(0, values.data(), values.size());
    for (double& value : values) value = initial.mean + initial.std * value;
  }
  return at::from_blob(values.data(), shape, at::kDouble).clone();
}

}  // namespace

at::Tensor ParameterSet::Add(const std::string& name,
                             const std::vector<int64_t>& shape,
                             Initial initial) {
  const auto options =
      at::TensorOptions().dtype(options_.dtype).device(options_.device);
  at::Tensor tensor;
  if (options_.device.is_meta()) {
    tensor = at::empty(shape, options);
  } else if (initial.std == 0.0 && initial.uniform_width == 0.0) {
    tensor = at::full(shape, initial.mean, options);
  } else {
    const base::RandomStream stream(options_.seed, "init/" + name);
    tensor = Draw(shape, initial, stream).to(options);
  }
  return Keep(name, std::move(tensor));
}

at::Tensor ParameterSet::Add(const std::string& name,
                             const at::Tensor& values) {
  const auto options =
      at::TensorOptions().dtype(options_.dtype).device(options_.device);
  return Keep(name, options_.device.is_meta()
                        ? at::empty(values.sizes(), options)
                        : values.detach().to(options, false, /*copy=*/true));
}

at::Tensor ParameterSet::Keep(const std::string& name, at::Tensor tensor) {
  ORDO_CHECK(!Find(name).defined()) << "parameter " << name << " added twice";
  tensor.requires_grad_(true);
  all_.push_back({name, tensor});
  return tensor;
}

at::Tensor ParameterSet::Find(std::string_view name) const {
  for (const NamedTensor& parameter : all_) {
    if (parameter.name == name) return parameter.tensor;
  }
  return at::Tensor();
}

int64_t ParameterSet::NumValues() const {
  int64_t count = 0;
  for (const NamedTensor& parameter : all_) count += parameter.tensor.numel();
  return count;
}

}  // namespace ordo::model::parameters
