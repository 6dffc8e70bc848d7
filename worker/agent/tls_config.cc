#include "worker/agent/tls_config.h"

#include "base/files/file_util.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::config::v1::Tls;

constexpr char kOwnFile[] = "tls/worker.pem";

void Require(const char* field, const std::string& path,
             std::vector<base::FieldViolation>* violations) {
  if (path.empty()) violations->push_back({field, "must name a PEM file"});
}

}  // namespace

void ResolveTls(const std::string& state_folder, Tls* tls,
                std::vector<base::FieldViolation>* violations) {
  if (tls->ca().empty()) tls->set_ca(tls->client_ca());
  if (tls->client_ca().empty()) tls->set_client_ca(tls->ca());
  const bool has_own = !tls->certificate().empty() || !tls->key().empty();
  if (!tls->join_token_file().empty() && has_own) {
    violations->push_back(
        {"tls.join_token_file",
         "a worker that joins gets its certificate from the scheduler; leave "
         "out tls.certificate and tls.key, or this"});
  } else if (!tls->join_token_file().empty()) {
    tls->set_certificate(base::JoinPath(state_folder, kOwnFile));
  }
  if (tls->key().empty()) tls->set_key(tls->certificate());
  Require("tls.certificate", tls->certificate(), violations);
  Require("tls.ca", tls->ca(), violations);
  if (!tls->client_certificate().empty() || !tls->client_key().empty()) {
    violations->push_back({"tls.client_certificate",
                           "a worker has one certificate: tls.certificate"});
  }
  if (tls->has_join_ca()) {
    violations->push_back({"tls.join_ca",
                           "is of the scheduler's configuration; a worker "
                           "takes tls.join_token_file"});
  }
}

base::TlsFiles PortFiles(const Tls& tls) {
  return {{"tls.certificate", tls.certificate()},
          {"tls.key", tls.key()},
          {"tls.client_ca", tls.client_ca()}};
}

base::TlsFiles CallFiles(const Tls& tls) {
  return {{"tls.certificate", tls.certificate()},
          {"tls.key", tls.key()},
          {"tls.ca", tls.ca()}};
}

base::TlsFiles PageFiles(const Tls& tls) {
  return {{"tls.certificate", tls.certificate()},
          {"tls.key", tls.key()},
          {"tls.metrics_client_ca", tls.metrics_client_ca()}};
}

}  // namespace ordo::worker::agent
