#ifndef ORDO_REPORT_GATE_TESTING_COMPARISONS_H_
#define ORDO_REPORT_GATE_TESTING_COMPARISONS_H_

#include <string>

#include "report/gate/decision.h"

// Comparisons for tests of gates.

namespace ordo::report::gate::testing {

struct Counts {
  int items = 0;
  // Right under the candidate only, and under the reference only.
  int better = 0;
  int worse = 0;
};

// Right and wrong answers with ids i0, i1, ...: first those that got better,
// then those that got worse, then right ones.
Comparison Answers(const std::string& task, const Counts& counts);

Options Margin(double margin);

}  // namespace ordo::report::gate::testing

#endif  // ORDO_REPORT_GATE_TESTING_COMPARISONS_H_
