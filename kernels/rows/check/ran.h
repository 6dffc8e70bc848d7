#ifndef ORDO_KERNELS_ROWS_CHECK_RAN_H_
#define ORDO_KERNELS_ROWS_CHECK_RAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/common/check/miss.h"
#include "kernels/common/check/numbers.h"
#include "kernels/rows/reference.h"

namespace ordo::kernels::rows::check {

// One result as the kernel, the judge and naive code have it.
struct Result {
  std::string name;
  Type type;
  Numbers found, judge, naive;
};

// What a kernel did, and all that is wrong with it.
class Ran {
 public:
  // Whether there is no memory for a pass, which is wrong.
  bool LacksMemory();
  // That a pass is OK.
  void Expect(const absl::Status& status);
  // That nothing around the numbers, which are returned, was overwritten.
  Numbers ValuesOf(const kernels::check::Guarded& guarded);
  void ExpectIntact(bool intact);
  // That the kernel only read the numbers.
  void ExpectKept(const kernels::check::Guarded& guarded);
  // That numbers are the same whatever the number of threads.
  void ExpectSame(const std::string& name, const Numbers& x, const Numbers& y);
  // At most twice the naive computation's error and one rounding, which is of
  // the result's type and its largest number unless `rounding` is more.
  void ExpectNear(const Result& result, double rounding = 0);

  const std::vector<kernels::check::Miss>& misses() const { return misses_; }

 private:
  std::vector<kernels::check::Miss> misses_;
};

}  // namespace ordo::kernels::rows::check

#endif  // ORDO_KERNELS_ROWS_CHECK_RAN_H_
