#include "base/rpc/tls.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/status/status.h"
#include "grpc/grpc.h"
#include "grpcpp/security/tls_certificate_verifier.h"
#include "grpcpp/security/tls_credentials_options.h"

namespace ordo::base {
namespace {

using grpc::experimental::CertificateVerifier;
using grpc::experimental::ExternalCertificateVerifier;
using grpc::experimental::FileWatcherCertificateProvider;
using grpc::experimental::TlsCustomVerificationCheckRequest;

// Whether the other end's certificate has one of some names.
class NameVerifier : public ExternalCertificateVerifier {
 public:
  explicit NameVerifier(std::vector<std::string> names)
      : names_(std::move(names)) {}

  bool Verify(TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>,
              grpc::Status* sync_status) override {
    for (const grpc::string_ref& name : request->uri_names()) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
        return true;
      }
    }
    *sync_status =
        grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                     "the certificate at the other end is not that of " +
                         absl::StrJoin(names_, " or "));
    return true;
  }
  void Cancel(TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::vector<std::string> names_;
};

std::shared_ptr<CertificateVerifier> VerifierOf(
    const std::vector<std::string>& names) {
  return ExternalCertificateVerifier::Create<NameVerifier>(names);
}

std::shared_ptr<FileWatcherCertificateProvider> Watch(const TlsFiles& files) {
  // gRPC itself counts on an earlier channel or server.
  static const bool started = (grpc_init(), true);
  static_cast<void>(started);
  return std::make_shared<FileWatcherCertificateProvider>(
      files.key.path, files.certificate.path, files.ca.path,
      static_cast<unsigned>(absl::ToInt64Seconds(kTlsReloadInterval)));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerTls(
    const TlsFiles& files, const std::vector<std::string>& only_clients) {
  if (files.certificate.path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.certificate.name, " must name a PEM file"));
  }
  if (!only_clients.empty() && files.ca.path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.ca.name, " must name the authority of ",
                     absl::StrJoin(only_clients, " and ")));
  }
  ORDO_RETURN_IF_ERROR(CheckTlsFiles(files, absl::Now()));
  grpc::experimental::TlsServerCredentialsOptions options(Watch(files));
  options.watch_identity_key_cert_pairs();
  if (files.ca.path.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(
        only_clients.empty()
            ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
            : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  if (!only_clients.empty()) {
    options.set_certificate_verifier(VerifierOf(only_clients));
  }
  return grpc::experimental::TlsServerCredentials(options);
}

absl::StatusOr<std::shared_ptr<ClientTls>> ClientTls::Load(
    const TlsFiles& files) {
  if (files.ca.path.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        files.ca.name, " must name the PEM file of the server's authority"));
  }
  ORDO_RETURN_IF_ERROR(CheckTlsFiles(files, absl::Now()));
  return std::shared_ptr<ClientTls>(new ClientTls(files));
}

ClientTls::ClientTls(const TlsFiles& files)
    : has_certificate_(!files.certificate.path.empty()), files_(Watch(files)) {}

std::shared_ptr<grpc::ChannelCredentials> ClientTls::ForHost() const {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(files_);
  options.watch_root_certs();
  if (has_certificate_) options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(
      std::make_shared<grpc::experimental::HostNameCertificateVerifier>());
  return grpc::experimental::TlsCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> ClientTls::ForName(
    const std::string& uri_name) const {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(files_);
  options.watch_root_certs();
  if (has_certificate_) options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(VerifierOf({uri_name}));
  // It has been asked for its name instead.
  options.set_check_call_host(false);
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace ordo::base
