#ifndef ORDO_BASE_SOCKETS_LISTENER_H_
#define ORDO_BASE_SOCKETS_LISTENER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace ordo::base {

// A TCP socket that listens.
struct Listener {
  // The caller closes it.
  int fd = -1;
  uint16_t port = 0;
};

// Listens at a free port of one address of this machine, `host` being the
// address or a name of it; so what listens at localhost is reached from this
// machine only. NOT_FOUND: no address is called so. UNAVAILABLE: it is not one
// of this machine's, or no port is free.
absl::StatusOr<Listener> ListenAt(const std::string& host);

}  // namespace ordo::base

#endif  // ORDO_BASE_SOCKETS_LISTENER_H_
