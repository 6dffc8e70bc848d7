#ifndef ORDO_KERNELS_ATTENTION_TESTING_NAIVE_H_
#define ORDO_KERNELS_ATTENTION_TESTING_NAIVE_H_

#include <cstdint>
#include <vector>

#include "kernels/attention/problem.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/testing/case.h"

namespace ordo::kernels::attention::testing {

// The largest absolute value; 0 of none.
double Largest(const std::vector<double>& x);

// The plain computation in the problem's own type: whole rows of logits and
// weights, each rounded, as separate operations on tensors would.
class Naive {
 public:
  Naive(const Problem& problem, const Tensors& inputs)
      : p_(problem), x_(inputs) {}

  // Fills in all but lse_BHT.
  Tensors Run();

  // What rounding is relative to: the largest logit, and the largest gradient
  // of a weight.
  double largest_logit() const { return largest_logit_; }
  double largest_change() const { return largest_change_; }

 private:
  double Round(double x) const { return Rounded(p_.type, x); }
  // Sum of products in fp32, rounded.
  template <typename Term>
  double Sum(int64_t count, const Term& term) const {
    float sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<float>(term(i));
    return Round(sum);
  }
  struct Row;
  void RunRow(int64_t b, int64_t h, int64_t t);
  // False if the query sees no key.
  bool Weigh(Row* row);
  // Mixes value tensor v, and what flows back through that.
  void Mix(int v, Row* row);
  void Differentiate(const Row& row);

  const Problem& p_;
  Tensors x_;
  double largest_logit_ = 0;
  double largest_change_ = 0;
};

}  // namespace ordo::kernels::attention::testing

#endif  // ORDO_KERNELS_ATTENTION_TESTING_NAIVE_H_
