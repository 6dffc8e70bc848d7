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
struct ListenField {
  const char* field;
  // "HOST:PORT".
  std::string address;
};

// Reads "HOST:PORT" or "[IPV6]:PORT"; else INVALID_ARGUMENT.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

// The host of a peer as gRPC names it: of "ipv4:10.0.0.1:5000", "10.0.0.1".
std::string AddressOf(const std::string& peer);

// Whether a server may listen at `text`: INVALID_ARGUMENT when it is no
// HOST:PORT, or other machines could reach it and nothing permits that, which
// is for a port with TLS, or where somebody says that it shall be without.
// `permit` is what the error says to do to permit it.
absl::Status CheckListen(
    std::string_view text, bool permitted,
    std::string_view permit = "give certificates (tls), or set insecure: true");

// Logs a warning for each listener, of those without TLS, that other machines
// can reach.
void WarnIfOpen(const std::vector<ListenField>& listeners);

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_ADDRESS_H_
