#ifndef ORDO_WORKER_AGENT_TESTING_PROGRAMS_H_
#define ORDO_WORKER_AGENT_TESTING_PROGRAMS_H_

#include <string>

#include "worker/agent/task.h"

namespace ordo::worker::agent::testing {

// The folder that the build puts programs into, found from this program's own
// path, which is <bin>/worker/agent/...
std::string BinFolder();

// Options with the real supervisor and the fake trainer, in `folder`, with
// ORDO_FAKE set to `behaviour`.
TaskOptions FakeTaskOptions(const std::string& folder,
                            const std::string& behaviour);

// A training task of 20 steps, with a checkpoint after each tenth.
::ordo::agent::v1::DesiredAttempt FakeTask(const std::string& job, int attempt);

}  // namespace ordo::worker::agent::testing

#endif  // ORDO_WORKER_AGENT_TESTING_PROGRAMS_H_
