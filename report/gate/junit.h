#ifndef ORDO_REPORT_GATE_JUNIT_H_
#define ORDO_REPORT_GATE_JUNIT_H_

#include <string>
#include <string_view>

#include "report/gate/account.h"

// A gate as CI systems show tests. Pure functions, thread-safe.

namespace ordo::report::gate {

// JUnit XML: one suite, a case for each comparison. A failed one has a
// <failure> with the items that got worse; an inconclusive one is <skipped>,
// or passed or failed as options.on_inconclusive says, and says what it was.
// The suite has a failure if and only if the outcome is fail. No times: a gate
// has none of a test's.
std::string ToJunit(const Account& account);

// Well-formed UTF-8 as it stands in XML 1.0, also inside a quoted attribute; of
// what XML has no way to write, as Printable.
std::string EscapeXml(std::string_view text);

}  // namespace ordo::report::gate

#endif  // ORDO_REPORT_GATE_JUNIT_H_
