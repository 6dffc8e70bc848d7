#include "base/sockets/listener.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace ordo::base {
namespace {

constexpr int kBacklog = 1024;

uint16_t PortOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

absl::StatusOr<Listener> ListenAt(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), "0", &hints, &found);
  if (error != 0) {
    return absl::NotFoundError(
        absl::StrCat("find the address of ", host, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found,
                                                                 freeaddrinfo);
  Listener listener;
  listener.fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  if (listener.fd < 0 ||
      bind(listener.fd, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(listener.fd, kBacklog) != 0 ||
      getsockname(listener.fd, reinterpret_cast<sockaddr*>(&bound), &length) !=
          0) {
    const absl::Status status = absl::UnavailableError(
        absl::StrCat("listen at ", host, ": ", std::strerror(errno)));
    if (listener.fd >= 0) close(listener.fd);
    return status;
  }
  listener.port = PortOf(bound);
  return listener;
}

}  // namespace ordo::base
