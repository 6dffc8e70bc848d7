#include "kernels/attention/check/naive.h"

#include "kernels/attention/check/case.h"
#include "kernels/attention/reference_code.h"

namespace ordo::kernels::attention::check {
namespace {

struct SameType {
  using Real = float;
  double Round(double x) const { return Rounded(type, x); }
  Type type;
  bool keeps_outputs;
};

}  // namespace

Naive RunNaive(const Problem& problem, const Tensors& inputs) {
  Naive naive;
  naive.tensors = naive.by_outputs = inputs;
  const SameType by_outputs{problem.type, true};
  Formulas<SameType>(problem, by_outputs, &naive.by_outputs).Backward();
  const SameType by_weights{problem.type, false};
  Formulas<SameType> formulas(problem, by_weights, &naive.tensors);
  formulas.Backward();
  naive.largest_logit = formulas.largest_logit();
  naive.largest_change = formulas.largest_change();
  return naive;
}

}  // namespace ordo::kernels::attention::check
