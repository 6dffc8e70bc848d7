#include "base/metrics/testing/scrape.h"

#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace ordo::base::testing {
namespace {

constexpr char kRequest[] = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";

// -1: nobody listens.
int ConnectTo(const std::string& address) {
  const int port = std::atoi(address.substr(address.rfind(':') + 1).c_str());
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in peer = {};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(static_cast<uint16_t>(port));
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection, reinterpret_cast<sockaddr*>(&peer), sizeof peer) ==
      0) {
    return connection;
  }
  ::close(connection);
  return -1;
}

// What is behind the head of all that `read` gives until its end.
std::string BodyOf(const std::function<int(char* to, int size)>& read) {
  std::string answer;
  char part[4096];
  int size = 0;
  while ((size = read(part, sizeof part)) > 0) {
    answer.append(part, static_cast<size_t>(size));
  }
  const size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

}  // namespace

std::string ScrapeMetrics(const std::string& address) {
  const int connection = ConnectTo(address);
  std::string body;
  const auto size = static_cast<ssize_t>(sizeof kRequest - 1);
  if (connection >= 0 && ::write(connection, kRequest, size) == size) {
    body = BodyOf([connection](char* to, int bytes) {
      return static_cast<int>(::read(connection, to, bytes));
    });
  }
  ::close(connection);
  return body;
}

std::string ScrapeMetricsWithTls(const std::string& address,
                                 const TlsFiles& files) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(
      SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_load_verify_locations(context.get(), files.ca.path.c_str(), nullptr);
  if (!files.certificate.path.empty()) {
    SSL_CTX_use_certificate_chain_file(context.get(),
                                       files.certificate.path.c_str());
    SSL_CTX_use_PrivateKey_file(context.get(), files.key.path.c_str(),
                                SSL_FILETYPE_PEM);
  }
  const int connection = ConnectTo(address);
  const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()),
                                                 SSL_free);
  X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), "127.0.0.1");
  SSL_set_fd(ssl.get(), connection);
  std::string body;
  if (SSL_connect(ssl.get()) == 1 &&
      SSL_write(ssl.get(), kRequest, sizeof kRequest - 1) > 0) {
    body = BodyOf(
        [&ssl](char* to, int bytes) { return SSL_read(ssl.get(), to, bytes); });
  }
  ::close(connection);
  return body;
}

}  // namespace ordo::base::testing
