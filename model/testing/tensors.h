#ifndef ORDO_MODEL_TESTING_TENSORS_H_
#define ORDO_MODEL_TESTING_TENSORS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

// Tensors for tests: random ones that are equal on every run, and comparisons.

namespace ordo::model::testing {

// Standard normal doubles; a pure function of the shape and the stream's name.
at::Tensor Normals(const std::vector<int64_t>& shape, const std::string& name);

// Uniform int64 in [0, n).
at::Tensor Integers(const std::vector<int64_t>& shape, int64_t n,
                    const std::string& name);

// Row-major int64 values of the given shape.
at::Tensor Longs(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& values);
at::Tensor Doubles(const std::vector<int64_t>& shape,
                   const std::vector<double>& values);

// Largest |a - b|; infinite where shapes differ or a value is not a number.
double MaxDifference(const at::Tensor& a, const at::Tensor& b);

// Same shape, dtype and bits.
bool SameBits(const at::Tensor& a, const at::Tensor& b);

// A function of tensors to one number.
using ScalarFunction =
    std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

// Compares the gradients of `function` at `inputs` (double) with central
// differences of step 1e-6, over all values or at most `max_values` of each
// input, evenly spread. Returns the largest |error| / max(1, |gradient|).
double GradientError(const ScalarFunction& function,
                     const std::vector<at::Tensor>& inputs,
                     int64_t max_values = 64);

}  // namespace ordo::model::testing

#endif  // ORDO_MODEL_TESTING_TENSORS_H_
