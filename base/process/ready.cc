#include "base/process/ready.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status/status.h"

namespace ordo::base {
namespace {

constexpr char kReady[] = "READY=1";

}  // namespace

absl::Status TellReady(const char* socket) {
  if (socket == nullptr || *socket == '\0') return absl::OkStatus();
  const std::string name = socket;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if ((name[0] != '/' && name[0] != '@') ||
      name.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("NOTIFY_SOCKET is no socket: " + name);
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  // The kernel's mark of a name that no file has.
  if (name[0] == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError(errno, "make a socket for NOTIFY_SOCKET");
  const auto length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const ssize_t sent =
      sendto(fd, kReady, sizeof(kReady) - 1, MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&address), length);
  const int error = errno;
  close(fd);
  if (sent < 0) return SystemError(error, "tell NOTIFY_SOCKET " + name);
  return absl::OkStatus();
}

}  // namespace ordo::base
