#ifndef ORDO_BASE_RPC_TLS_H_
#define ORDO_BASE_RPC_TLS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/security/tls_certificate_provider.h"

namespace ordo::base {

// A file and what errors call it: the field or the option that names it.
struct NamedFile {
  std::string name;
  std::string path;
};

// PEM files of one end of a connection. They are read again when they change,
// and what was read last holds on for as long as they cannot be. Replace a file
// by a rename, so that nobody reads half of it; where key and certificate are
// one file, both change at once.
struct TlsFiles {
  // The chain, its own certificate first. Of a client: no path, no certificate.
  NamedFile certificate;
  // The private key of that certificate, without a password.
  NamedFile key;
  // The authorities that the other end's certificate must come from. Of a
  // server: no path, it asks no client for a certificate.
  NamedFile ca;
};

// How often the files are looked at.
inline constexpr absl::Duration kTlsReloadInterval = absl::Seconds(2);

// OK when all files that are named can be used at `now`. INVALID_ARGUMENT names
// the field, the file, and what to do: a key without its certificate or the
// reverse, missing or unreadable, not PEM, key and certificate that do not
// belong together, expired.
absl::Status CheckTlsFiles(const TlsFiles& files, absl::Time now);

// What a server listens with. `only_clients`: a client's certificate must have
// one of these URI names; others do not get in. Empty: also those without a
// certificate do, and callers with one are known by it (Caller::uri_names).
// INVALID_ARGUMENT as CheckTlsFiles, or without a certificate.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerTls(
    const TlsFiles& files, const std::vector<std::string>& only_clients = {});

// What a client connects with. Thread-safe.
class ClientTls {
 public:
  // INVALID_ARGUMENT as CheckTlsFiles, or without authorities.
  static absl::StatusOr<std::shared_ptr<ClientTls>> Load(const TlsFiles& files);

  // For servers whose certificate names the host that is connected to.
  std::shared_ptr<grpc::ChannelCredentials> ForHost() const;
  // For the server whose certificate has this URI name, whatever its host.
  std::shared_ptr<grpc::ChannelCredentials> ForName(
      const std::string& uri_name) const;

 private:
  explicit ClientTls(const TlsFiles& files);

  const bool has_certificate_;
  // Reads the files, on a thread of its own.
  const std::shared_ptr<grpc::experimental::CertificateProviderInterface>
      files_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_TLS_H_
