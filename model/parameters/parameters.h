#ifndef ORDO_MODEL_PARAMETERS_PARAMETERS_H_
#define ORDO_MODEL_PARAMETERS_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "c10/core/Device.h"
#include "c10/core/ScalarType.h"

// The trainable tensors of a model, by name. The initial value of each is a
// pure function of (seed, name, shape): a part that has more parameters changes
// no other part's.

namespace ordo::model::parameters {

// How a parameter starts.
struct Initial {
  // Standard deviation of the normal values, drawn from stream "init/<name>".
  double std = 0.0;
  // Added to each value; with std 0 the value itself.
  double mean = 0.0;
  // Where it is not 0, values are uniform in [mean, mean + width) instead,
  // drawn from the same stream.
  double uniform_width = 0.0;
};

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

struct ParameterOptions {
  uint64_t seed = 1;
  c10::ScalarType dtype = c10::ScalarType::Float;
  // On the meta device parameters have shapes but no values.
  c10::Device device = c10::Device(c10::DeviceType::CPU);
};

// Not thread-safe. Throws what LibTorch throws.
class ParameterSet {
 public:
  explicit ParameterSet(const ParameterOptions& options) : options_(options) {}

  // A new trainable tensor; `name` is not in use yet. The handle shares its
  // storage with the set's.
  at::Tensor Add(const std::string& name, const std::vector<int64_t>& shape,
                 Initial initial);

  // A new trainable tensor with the given values, of any dtype.
  at::Tensor Add(const std::string& name, const at::Tensor& values);

  // In order of Add.
  const std::vector<NamedTensor>& all() const { return all_; }

  // The tensor called `name`; undefined if there is none.
  at::Tensor Find(std::string_view name) const;

  // Number of values over all parameters.
  int64_t NumValues() const;

  const ParameterOptions& options() const { return options_; }

 private:
  at::Tensor Keep(const std::string& name, at::Tensor tensor);

  const ParameterOptions options_;
  std::vector<NamedTensor> all_;
};

}  // namespace ordo::model::parameters

#endif  // ORDO_MODEL_PARAMETERS_PARAMETERS_H_
