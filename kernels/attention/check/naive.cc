#include "kernels/attention/check/naive.h"

#include "kernels/attention/check/case.h"
#include "kernels/attention/reference_code.h"

namespace ordo::kernels::attention::check {
namespace {

struct SameType {
  using Real = float;
  double Round(double x) const { return Rounded(type, x); }
  Type type;
  static constexpr bool keeps_outputs = true;
};

}  // namespace

Naive RunNaive(const Problem& problem, const Tensors& inputs) {
  Naive naive;
  naive.tensors = inputs;
  Formulas<SameType> formulas(problem, {problem.type}, &naive.tensors);
  formulas.Backward();
  naive.largest_logit = formulas.largest_logit();
  naive.largest_change = formulas.largest_change();
  naive.largest_slope = formulas.largest_slope();
  return naive;
}

}  // namespace ordo::kernels::attention::check
