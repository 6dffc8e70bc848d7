#ifndef ORDO_SERVICES_CLI_BUG_H_
#define ORDO_SERVICES_CLI_BUG_H_

namespace ordo::services::cli {

// From here on a failed ORDO_CHECK, an exception that nobody catches, any other
// abort and a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL) end the process with
// ExitCode::kBug, after a line on stderr that says so and names the exception
// or the signal. Of stacks that overflow only the calling thread's is covered.
// Call first in main.
void ExitOnBug();

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_BUG_H_
