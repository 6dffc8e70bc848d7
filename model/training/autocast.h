#ifndef ORDO_MODEL_TRAINING_AUTOCAST_H_
#define ORDO_MODEL_TRAINING_AUTOCAST_H_

#include <string_view>

#include "ATen/autocast_mode.h"

namespace ordo::model::training {

// For its scope, matrix products on the device take bfloat16 operands if
// `precision` is "bf16"; under "fp32" nothing changes. Weights stay fp32. Use
// it around forward passes, not around backward ones. Scopes do not nest.
class AutocastScope {
 public:
  explicit AutocastScope(std::string_view precision,
                         at::DeviceType device = at::kCPU)
      : active_(precision == "bf16"), device_(device) {
    if (!active_) return;
    at::autocast::set_autocast_dtype(device_, at::kBFloat16);
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (!active_) return;
    // The cache holds casts of weights that the optimizer is about to change.
    at::autocast::decrement_nesting();
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, false);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  const bool active_;
  const at::DeviceType device_;
};

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_AUTOCAST_H_
