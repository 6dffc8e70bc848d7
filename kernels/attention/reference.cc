#include "kernels/attention/reference.h"

#include "kernels/attention/reference_code.h"

namespace ordo::kernels::attention {
namespace {

struct Exact {
  static constexpr bool keeps_outputs = false;
  using Real = double;
  double Round(double x) const { return x; }
};

}  // namespace

void ReferenceForward(const Problem& problem, Tensors* tensors) {
  Formulas<Exact>(problem, Exact(), tensors).Forward();
}

void ReferenceBackward(const Problem& problem, Tensors* tensors) {
  Formulas<Exact>(problem, Exact(), tensors).Backward();
}

}  // namespace ordo::kernels::attention
