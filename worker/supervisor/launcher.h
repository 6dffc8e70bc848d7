#ifndef ORDO_WORKER_SUPERVISOR_LAUNCHER_H_
#define ORDO_WORKER_SUPERVISOR_LAUNCHER_H_

// The process from which a worker's supervisors are forked:
//   ordo-supervisor --launcher --deployment DIR
// To execute a program takes several times as long as a fork of this one, above
// all in a virtual machine, where each CPUID with which the C library begins
// leaves it. Requests come by the socket that is its standard input (launch.h),
// and it ends with that; its supervisors go on.
//
// A supervisor is a child of the launcher's parent, and /proc shows its own
// command line and environment for it.

namespace ordo::worker::supervisor {

// Serves until the socket ends. The process's exit code.
int RunLauncher();

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_LAUNCHER_H_
