#include "kernels/rows/check/ran.h"

#include <algorithm>

namespace ordo::kernels::rows::check {

using kernels::check::Distance;
using kernels::check::Epsilon;
using kernels::check::Largest;

bool Ran::LacksMemory() {
  const bool lacks = kernels::check::LacksMemory();
  if (lacks) misses_.push_back({kernels::check::kNoMemory});
  return lacks;
}

void Ran::Expect(const absl::Status& status) {
  if (!status.ok()) misses_.push_back({std::string(status.message())});
}

void Ran::ExpectIntact(bool intact) {
  if (!intact) misses_.push_back({"memory around a result is overwritten"});
}

void Ran::ExpectKept(const kernels::check::Guarded& guarded) {
  if (!guarded.IsAsMade()) misses_.push_back({"an input is overwritten"});
}

Numbers Ran::ValuesOf(const kernels::check::Guarded& guarded) {
  ExpectIntact(guarded.IsIntact());
  return guarded.Values();
}

void Ran::ExpectSame(const std::string& name, const Numbers& x,
                     const Numbers& y) {
  if (x == y) return;
  misses_.push_back({name + " with another number of threads", Distance(x, y)});
}

void Ran::ExpectNear(const Result& result, double rounding) {
  const double bound =
      2 * Distance(result.naive, result.judge) +
      std::max(rounding, Epsilon(result.type) * Largest(result.judge));
  const double error = Distance(result.found, result.judge);
  if (!(error <= bound)) misses_.push_back({result.name, error, bound});
}

}  // namespace ordo::kernels::rows::check
