#ifndef ORDO_WORKER_SUPERVISOR_OPTIONS_H_
#define ORDO_WORKER_SUPERVISOR_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/supervisor/confinement.h"

namespace ordo::worker::supervisor {

// The supervisor's command line:
//   ordo-supervisor --task-dir DIR --attempt-dir DIR --step-timeout-ms N
//       --grace-ms N --deployment DIR [--rank N] [--user UID:GID]
//       [--cgroup DIR] [--memory-bytes N] [--processes N] [--file-bytes N]
//       [--address-space-bytes N] [--data-bytes N] [--open-files N]
//       [--writable DIR]... [--readable DIR]... -- TRAINER ARG...
//   ordo-supervisor --launcher --deployment DIR
struct Options {
  // Local folder for the journal; exists.
  std::string task_dir;
  // The attempt's folder in the storage; exists.
  std::string attempt_dir;
  // Which rank of the attempt the trainer is: rank-<rank>.log is its log in
  // that folder, progress.records its progress file; beyond rank 0
  // progress-<rank>.records.
  int64_t rank = 0;
  // A trainer whose progress file stays as it is for this long is hung; 0: it
  // is never taken for hung.
  int64_t step_timeout_ms = 0;
  // Time between a polite signal and the kill, where the request has none.
  int64_t grace_ms = 0;
  // Only there to be seen by people who look at `ps`.
  std::string deployment;
  // What the trainer may take and do.
  Confinement confinement;
  // The trainer's path and arguments.
  std::vector<std::string> trainer;
};

// How to call the program, a line.
std::string Usage();

// What --help or --version of a command line, argv[0] included, prints; empty
// when it has neither. The build id is not read here: that needs a library.
std::string AnswerTo(const std::vector<std::string>& arguments);

// Whether a command line asks for the process that starts others (launcher.h).
bool IsLauncher(const std::vector<std::string>& arguments);

// Reads a command line, argv[0] included. False, with a sentence in `error`,
// when it is not one.
bool ParseOptions(const std::vector<std::string>& arguments, Options* options,
                  std::string* error);

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_OPTIONS_H_
