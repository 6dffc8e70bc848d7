#ifndef ORDO_BASE_PROCESS_READY_H_
#define ORDO_BASE_PROCESS_READY_H_

#include "absl/status/status.h"

namespace ordo::base {

// Tells the service manager that started this process, if one waits for it,
// that the process serves (systemd, Type=notify). `socket` is what
// NOTIFY_SOCKET of the environment holds: the path of a datagram socket, or "@"
// and a name that no file has; OK when it is null or empty. INVALID_ARGUMENT
// for one that is neither, else the error of the system call.
absl::Status TellReady(const char* socket);

}  // namespace ordo::base

#endif  // ORDO_BASE_PROCESS_READY_H_
