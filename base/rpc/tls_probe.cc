#include "base/rpc/tls_probe.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <netdb.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/certificates/certificate.h"
#include "base/rpc/address.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

// Of each step of the connection.
constexpr timeval kStepTimeout = {2, 0};

struct Free {
  void operator()(SSL_CTX* it) const { SSL_CTX_free(it); }
  void operator()(SSL* it) const { SSL_free(it); }
  void operator()(X509* it) const { X509_free(it); }
  void operator()(BIO* it) const { BIO_free(it); }
  void operator()(addrinfo* it) const { freeaddrinfo(it); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

// -1: nobody takes a connection there.
int OpenConnection(const HostPort& server) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(server.host.c_str(), absl::StrCat(server.port).c_str(),
                  &hints, &found) != 0) {
    return -1;
  }
  const Owned<addrinfo> all(found);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    const int fd =
        ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    // The first holds for connect too.
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kStepTimeout,
                 sizeof kStepTimeout);
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kStepTimeout,
                 sizeof kStepTimeout);
    if (::connect(fd, each->ai_addr, each->ai_addrlen) == 0) return fd;
    ::close(fd);
  }
  return -1;
}

// The alert of the other end that ended a step; empty: it was no alert.
std::string TakeAlert() {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  ERR_clear_error();
  if (reason <= SSL_AD_REASON_OFFSET) return "";
  return SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET);
}

// What it is about a certificate that its verification failed with `code`.
std::string WhyNotTrusted(int64_t code, const Certificate& says,
                          const NamedFile& ca) {
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::StrCat(
          "expired on ",
          absl::FormatTime("%Y-%m-%d", says.not_after, absl::UTCTimeZone()),
          "; whoever runs the server must put a new one in its place");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "holds only from a later time on than this machine's clock shows; "
             "set the clock";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return absl::StrCat("comes from an authority that is not in ", ca.name,
                          " ", ca.path,
                          "; name the ca.pem of the server's deployment");
    default:
      return absl::StrCat("is not trusted: ",
                          X509_verify_cert_error_string(code));
  }
}

bool NamesHost(X509* certificate, const std::string& host) {
  // What is no address is -2.
  const int address = X509_check_ip_asc(certificate, host.c_str(), 0);
  if (address != -2) return address == 1;
  return X509_check_host(certificate, host.data(), host.size(), 0, nullptr) ==
         1;
}

// One connection with TLS, whatever the server's certificate.
class Handshake {
 public:
  explicit Handshake(const HostPort& server)
      : context_(SSL_CTX_new(TLS_client_method())),
        fd_(OpenConnection(server)) {}
  ~Handshake() {
    if (fd_ >= 0) ::close(fd_);
  }
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  bool connected() const { return fd_ >= 0; }

  // What the client shows and trusts.
  void Use(const TlsFiles& files) {
    SSL_CTX_load_verify_locations(context_.get(), files.ca.path.c_str(),
                                  nullptr);
    if (files.certificate.path.empty()) return;
    SSL_CTX_use_certificate_chain_file(context_.get(),
                                       files.certificate.path.c_str());
    SSL_CTX_use_PrivateKey_file(context_.get(), files.key.path.c_str(),
                                SSL_FILETYPE_PEM);
  }

  bool Run(const HostPort& server) {
    static constexpr std::array<unsigned char, 3> kProtocols = {2, 'h', '2'};
    // The result is asked for afterwards.
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_alpn_protos(context_.get(), kProtocols.data(),
                            kProtocols.size());
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), fd_);
    SSL_set_tlsext_host_name(ssl_.get(), server.host.c_str());
    ERR_clear_error();
    errno = 0;
    return SSL_connect(ssl_.get()) == 1;
  }

  // Whether the server says anything.
  bool Listen() {
    std::array<char, 1> first;
    errno = 0;
    return SSL_read(ssl_.get(), first.data(), first.size()) > 0;
  }

  // Whether what failed failed for want of an answer.
  bool timed_out() const { return errno == EAGAIN || errno == EINPROGRESS; }

  SSL* ssl() { return ssl_.get(); }

 private:
  const Owned<SSL_CTX> context_;
  const int fd_;
  Owned<SSL> ssl_;
};

absl::StatusOr<Certificate> Describe(X509* certificate) {
  const Owned<BIO> writer(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(writer.get(), certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(writer.get(), &data);
  return ReadCertificate({data, static_cast<size_t>(size)});
}

// What is wrong with the server's certificate; empty: nothing.
absl::StatusOr<std::string> WrongWithServer(const HostPort& server,
                                            const NamedFile& ca, SSL* ssl) {
  const Owned<X509> certificate(SSL_get1_peer_certificate(ssl));
  if (certificate == nullptr) return std::string("is missing");
  ORDO_ASSIGN_OR_RETURN(const Certificate says, Describe(certificate.get()));
  const auto code = SSL_get_verify_result(ssl);
  if (code != X509_V_OK) return WhyNotTrusted(code, says, ca);
  if (NamesHost(certificate.get(), server.host)) return std::string();
  return absl::StrCat(
      "is not one of host ", server.host, ", but of ",
      says.hosts.empty() ? "none" : absl::StrJoin(says.hosts, ", "),
      "; call the server by one of its names, or have it get "
      "a certificate with this one");
}

absl::Status WithoutTls(const std::string& address, const NamedFile& ca,
                        const HostPort& server) {
  Handshake handshake(server);
  if (!handshake.connected()) return absl::OkStatus();
  if (!handshake.Run(server) && TakeAlert().empty()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the server at ", address,
                                             " speaks TLS; give ", ca.name,
                                             " the ca.pem of its deployment"));
}

}  // namespace

absl::Status ProbeTls(const std::string& address, const TlsFiles& files) {
  ORDO_ASSIGN_OR_RETURN(const HostPort server, ParseHostPort(address));
  if (files.ca.path.empty()) return WithoutTls(address, files.ca, server);
  Handshake handshake(server);
  if (!handshake.connected()) return absl::OkStatus();
  handshake.Use(files);
  const auto refused = [&](const std::string& how) {
    const NamedFile& own = files.certificate;
    return absl::UnavailableError(absl::StrCat(
        "the server at ", address,
        own.path.empty()
            ? absl::StrCat(" asks for a certificate (", how, "); give ",
                           own.name, " and ", files.key.name)
            : absl::StrCat(" refuses ", own.name, " ", own.path, " (", how,
                           "); give one of its deployment's authority that it "
                           "takes")));
  };
  if (!handshake.Run(server)) {
    if (handshake.timed_out()) return absl::OkStatus();
    const std::string alert = TakeAlert();
    if (!alert.empty()) return refused(alert);
    return absl::UnavailableError(absl::StrCat(
        "the server at ", address, " speaks no TLS; leave out ", files.ca.name,
        " if whoever is on the way to it may read and change what is said, or "
        "give the server certificates"));
  }
  const auto wrong = WrongWithServer(server, files.ca, handshake.ssl());
  if (!wrong.ok() || !wrong->empty()) {
    return absl::UnavailableError(
        absl::StrCat("the certificate of the server at ", address, " ",
                     wrong.ok() ? *wrong : wrong.status().ToString()));
  }
  // A server of gRPC speaks first; one that does not like the certificate it
  // was shown says so, or ends the connection.
  if (handshake.Listen() || handshake.timed_out()) return absl::OkStatus();
  const std::string alert = TakeAlert();
  return refused(alert.empty() ? "it ends the connection" : alert);
}

}  // namespace ordo::base
