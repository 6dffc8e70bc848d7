#ifndef ORDO_BASE_RPC_TLS_H_
#define ORDO_BASE_RPC_TLS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/certificates/tls_files.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/security/tls_certificate_provider.h"

namespace ordo::base {

// gRPC's ends of TLS. The files are read again when they change, and what was
// read last holds on for as long as they cannot be.

// How often the files are looked at.
inline constexpr absl::Duration kTlsReloadInterval = absl::Seconds(2);

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
