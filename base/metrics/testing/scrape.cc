#include "base/metrics/testing/scrape.h"

#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <sys/socket.h>
#include <unistd.h>

namespace ordo::base::testing {

std::string ScrapeMetrics(const std::string& address) {
  const int port = std::atoi(address.substr(address.rfind(':') + 1).c_str());
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in peer = {};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(static_cast<uint16_t>(port));
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  const std::string request =
      "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
  if (::connect(connection, reinterpret_cast<sockaddr*>(&peer), sizeof peer) ==
          0 &&
      ::write(connection, request.data(), request.size()) ==
          static_cast<ssize_t>(request.size())) {
    char part[4096];
    ssize_t size = 0;
    while ((size = ::read(connection, part, sizeof part)) > 0) {
      answer.append(part, static_cast<size_t>(size));
    }
  }
  ::close(connection);
  const size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

}  // namespace ordo::base::testing
