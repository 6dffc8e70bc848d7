#ifndef ORDO_WORKER_SUPERVISOR_TRAINER_PROCESS_H_
#define ORDO_WORKER_SUPERVISOR_TRAINER_PROCESS_H_

#include <sys/types.h>

#include "worker/supervisor/journal.h"
#include "worker/supervisor/options.h"

namespace ordo::worker::supervisor {

// What came of starting a trainer.
struct StartedTrainer {
  // 0: it could not be started, and `failed` and `error_number` say why.
  pid_t pid = 0;
  Operation failed = Operation::kNone;
  int error_number = 0;
};

// Starts the trainer as a child that leads a process group of its own, has its
// log as output, has taken on its confinement and dies with this process.
// Returns once it is the trainer.
// `cgroup_file`: as of Confiner.
StartedTrainer StartTrainerProcess(const Options& options,
                                   int cgroup_file = -1);

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_TRAINER_PROCESS_H_
