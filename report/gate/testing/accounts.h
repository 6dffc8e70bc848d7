#ifndef ORDO_REPORT_GATE_TESTING_ACCOUNTS_H_
#define ORDO_REPORT_GATE_TESTING_ACCOUNTS_H_

#include "report/gate/account.h"

namespace ordo::report::gate::testing {

// The gate "nightly" with a result of each verdict: task `sums` passes against
// baseline and anchor, `lists` fails, `recall` shows nothing. One item of
// `lists` has prompt and outputs, which are full of markup.
Account OneOfEach(OnInconclusive on_inconclusive);

}  // namespace ordo::report::gate::testing

#endif  // ORDO_REPORT_GATE_TESTING_ACCOUNTS_H_
