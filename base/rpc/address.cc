#include "base/rpc/address.h"

#include <arpa/inet.h>
#include <charconv>
#include <cstdint>

#include "absl/status/status.h"
#include "base/log/log.h"

namespace ordo::base {

std::string HostPort::ToString() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool HostPort::IsLoopback() const {
  if (host == "localhost") return true;
  in_addr ipv4;
  if (::inet_pton(AF_INET, host.c_str(), &ipv4) == 1) {
    return (ntohl(ipv4.s_addr) >> 24) == 127;
  }
  in6_addr ipv6;
  return ::inet_pton(AF_INET6, host.c_str(), &ipv6) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&ipv6);
}

absl::StatusOr<HostPort> ParseHostPort(std::string_view text) {
  const absl::Status error =
      absl::InvalidArgumentError("address '" + std::string(text) +
                                 "' must be HOST:PORT, such as 127.0.0.1:7420");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return error;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]") != std::string_view::npos) {
    return error;
  }
  HostPort result;
  result.host = std::string(host);
  const char* const end = port.data() + port.size();
  const auto parsed = std::from_chars(port.data(), end, result.port);
  if (host.empty() || port.empty() || parsed.ec != std::errc() ||
      parsed.ptr != end || result.port < 0 || result.port > UINT16_MAX) {
    return error;
  }
  return result;
}

std::string AddressOf(const std::string& peer) {
  const size_t begin = peer.find(':') + 1;
  const size_t end = peer.rfind(':');
  // A Unix socket has no port.
  if (end == std::string::npos || end < begin) return peer;
  return peer.substr(begin, end - begin);
}

absl::Status CheckListen(std::string_view text, bool permitted,
                         std::string_view permit) {
  const absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok()) return address.status();
  if (permitted || address->IsLoopback()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "other machines could reach " + std::string(text) +
      ", and without TLS whoever is on the way reads and changes what is "
      "said there; use 127.0.0.1, or " +
      std::string(permit) + " if that is meant");
}

void WarnIfOpen(const std::vector<ListenField>& listeners) {
  for (const ListenField& listener : listeners) {
    const absl::StatusOr<HostPort> address = ParseHostPort(listener.address);
    if (!address.ok() || address->IsLoopback()) continue;
    LogWarning(
        "insecure: other machines can reach this port without TLS; "
        "whoever is on the way reads and changes what is said there",
        {{"field", listener.field}, {"address", listener.address}});
  }
}

}  // namespace ordo::base
