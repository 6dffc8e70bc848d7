#ifndef ORDO_BASE_RPC_ADDRESS_H_
#define ORDO_BASE_RPC_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ordo::base {

// Where a server listens.
struct HostPort {
  // A name or an address; brackets around IPv6 are stripped.
  std::string host;
  int port = 0;

  // "HOST:PORT", IPv6 in brackets.
  std::string ToString() const;
  // True for localhost, 127.0.0.0/8 and ::1: only this machine gets there.
  bool IsLoopback() const;
};

// Reads "HOST:PORT" or "[IPV6]:PORT"; else INVALID_ARGUMENT.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_ADDRESS_H_
