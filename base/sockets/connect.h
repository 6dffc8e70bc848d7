#ifndef ORDO_BASE_SOCKETS_CONNECT_H_
#define ORDO_BASE_SOCKETS_CONNECT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace ordo::base {

// A TCP connection to a port of a host, which is an address or a name; the
// caller closes it. NOT_FOUND: no address is called so. UNAVAILABLE: nobody
// takes it there.
absl::StatusOr<int> ConnectTo(const std::string& host, uint16_t port);

}  // namespace ordo::base

#endif  // ORDO_BASE_SOCKETS_CONNECT_H_
