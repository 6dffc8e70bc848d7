#ifndef ORDO_SERVICES_CLI_BUG_H_
#define ORDO_SERVICES_CLI_BUG_H_

namespace ordo::services::cli {

// From here on a failed ORDO_CHECK, an exception that nobody catches, or any
// other abort ends the process with ExitCode::kBug, after one line on stderr.
// Call first in main.
void ExitOnBug();

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_BUG_H_
