#include "kernels/attention/check/naive.h"

#include "kernels/attention/check/case.h"
#include "kernels/attention/reference_code.h"

namespace ordo::kernels::attention::check {
namespace {

struct SameType {
  using Real = float;
  double Round(double x) const { return Rounded(type, x); }
  Type type;
};

}  // namespace

Naive RunNaive(const Problem& problem, const Tensors& inputs) {
  Naive naive;
  naive.tensors = inputs;
  const SameType arithmetic{problem.type};
  Formulas<SameType> formulas(problem, arithmetic, &naive.tensors);
  formulas.Backward();
  naive.largest_logit = formulas.largest_logit();
  naive.largest_change = formulas.largest_change();
  return naive;
}

}  // namespace ordo::kernels::attention::check
