#ifndef ORDO_BASE_RPC_ADDRESS_H_
#define ORDO_BASE_RPC_ADDRESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
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

// Where a server that the configuration calls `field` listens.
struct Listener {
  const char* field;
  // "HOST:PORT".
  std::string address;
};

// Reads "HOST:PORT" or "[IPV6]:PORT"; else INVALID_ARGUMENT.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

// Whether a server may listen at `text`: INVALID_ARGUMENT when it is no
// HOST:PORT, or other machines could reach it and `insecure` does not permit
// that. There is no TLS, and nothing asks who they are. `permit` is what the
// error says to do to permit it.
absl::Status CheckListen(std::string_view text, bool insecure,
                         std::string_view permit = "set insecure: true");

// Logs a warning for each listener that other machines can reach.
void WarnIfOpen(const std::vector<Listener>& listeners);

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_ADDRESS_H_
