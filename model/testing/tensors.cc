#include "model/testing/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/from_blob.h"
#include "base/check.h"
#include "base/random/random.h"

namespace ordo::model::testing {
namespace {

constexpr uint64_t kSeed = 20251;

int64_t Product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (int64_t size : shape) product *= size;
  return product;
}

double Value(const ScalarFunction& function,
             const std::vector<at::Tensor>& inputs) {
  const at::NoGradGuard no_grad;
  return function(inputs).item<double>();
}

}  // namespace

at::Tensor Normals(const std::vector<int64_t>& shape, const std::string& name) {
  std::vector<double> values(Product(shape));
  base::RandomStream(kSeed, name).FillNormals(0, values.data(), values.size());
  return Doubles(shape, values);
}

at::Tensor Integers(const std::vector<int64_t>& shape, int64_t n,
                    const std::string& name) {
  base::RandomSequence sequence(kSeed, name);
  std::vector<int64_t> values(Product(shape));
  for (int64_t& value : values) {
    value = static_cast<int64_t>(sequence.Int(static_cast<uint64_t>(n)));
  }
  return Longs(shape, values);
}

at::Tensor Longs(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& values) {
  ORDO_CHECK(static_cast<int64_t>(values.size()) == Product(shape));
  return at::from_blob(const_cast<int64_t*>(values.data()), shape, at::kLong)
      .clone();
}

at::Tensor Doubles(const std::vector<int64_t>& shape,
                   const std::vector<double>& values) {
  ORDO_CHECK(static_cast<int64_t>(values.size()) == Product(shape));
  return at::from_blob(const_cast<double*>(values.data()), shape, at::kDouble)
      .clone();
}

double MaxDifference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  if (a.numel() == 0) return 0.0;
  const double difference =
      (a.detach().to(at::kDouble) - b.detach().to(at::kDouble))
          .abs()
          .max()
          .item<double>();
  return std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                : difference;
}

bool SameBits(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) {
    return false;
  }
  const at::Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

double GradientError(const ScalarFunction& function,
                     const std::vector<at::Tensor>& inputs,
                     int64_t max_values) {
  constexpr double kStep = 1e-6;
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(input.detach().clone().requires_grad_(true));
  }
  function(leaves).backward();
  double worst = 0.0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const at::Tensor gradient = leaves[i].grad().defined()
                                    ? leaves[i].grad().flatten().contiguous()
                                    : leaves[i].detach().flatten() * 0.0;
    std::vector<at::Tensor> moved;
    for (const at::Tensor& leaf : leaves) {
      moved.push_back(leaf.detach().clone());
    }
    double* value = moved[i].data_ptr<double>();
    const int64_t count = leaves[i].numel();
    const int64_t stride = std::max<int64_t>(1, count / max_values);
    for (int64_t j = 0; j < count; j += stride) {
      const double start = value[j];
      value[j] = start + kStep;
      const double above = Value(function, moved);
      value[j] = start - kStep;
      const double below = Value(function, moved);
      value[j] = start;
      const double exact = gradient.data_ptr<double>()[j];
      const double error = std::abs((above - below) / (2.0 * kStep) - exact);
      worst = std::max(worst, error / std::max(1.0, std::abs(exact)));
    }
  }
  return worst;
}

}  // namespace ordo::model::testing
