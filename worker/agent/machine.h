#ifndef ORDO_WORKER_AGENT_MACHINE_H_
#define ORDO_WORKER_AGENT_MACHINE_H_

#include <cstdint>
#include <string>

#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/config/v1/worker.pb.h"

namespace ordo::worker::agent {

// What a machine has for tasks. 0 and empty: not known.
struct Machine {
  int cpus = 0;
  int64_t memory_bytes = 0;
  std::string host;
  // As uname(2) says it, such as x86_64.
  std::string architecture;
};

// Of this machine, as far as this process may use it: the cores that it may run
// on, and the memory and processor time that its cgroups (version 2) leave it.
// `root` is where /proc and /sys lie; "" but in tests.
Machine ReadMachine(const std::string& root);

// Fills in what an announcement says of the machine: cores, memory, labels, the
// memory of its CPU devices, where data may be read, and whether NCCL's library
// lies beside the trainer (links resolved), as it looks for it. The
// configuration goes before what was found. A name of the host that is no label
// is left out, with a warning.
void Describe(const Machine& machine,
              const ::ordo::config::v1::WorkerConfig& config,
              ::ordo::agent::v1::AnnounceRequest* identity);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_MACHINE_H_
