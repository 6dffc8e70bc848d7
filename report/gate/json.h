#ifndef ORDO_REPORT_GATE_JSON_H_
#define ORDO_REPORT_GATE_JSON_H_

#include <string>

#include "report/gate/account.h"

namespace ordo::report::gate {

// A gate for programs, on one line: verdict, outcome, options, checkpoints, and
// of each comparison its numbers and the items that got worse, as many as are
// listed. What is not known, and what is infinite, is null. Pure, thread-safe.
std::string ToJson(const Account& account);

}  // namespace ordo::report::gate

#endif  // ORDO_REPORT_GATE_JSON_H_
