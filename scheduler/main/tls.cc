#include "scheduler/main/tls.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace ordo::scheduler {
namespace {

using config::v1::Tls;
using Violations = std::vector<base::FieldViolation>;

void CheckPath(const char* field, const std::string& path,
               Violations* violations) {
  if (path.empty()) {
    violations->push_back({field, "must name a PEM file"});
  } else if (path[0] != '/') {
    violations->push_back(
        {field, absl::StrCat("must be an absolute path, is ", path)});
  }
}

}  // namespace

void ResolveTls(Tls* tls, Violations* violations) {
  if (tls->ca().empty()) tls->set_ca(tls->client_ca());
  if (tls->client_ca().empty()) tls->set_client_ca(tls->ca());
  if (tls->key().empty()) tls->set_key(tls->certificate());
  if (tls->client_certificate().empty() && tls->client_key().empty()) {
    tls->set_client_certificate(tls->certificate());
    tls->set_client_key(tls->key());
  }
  if (tls->client_key().empty()) tls->set_client_key(tls->client_certificate());
  CheckPath("tls.certificate", tls->certificate(), violations);
  if (tls->key() != tls->certificate()) {
    CheckPath("tls.key", tls->key(), violations);
  }
  CheckPath("tls.ca", tls->ca(), violations);
  if (tls->client_ca() != tls->ca()) {
    CheckPath("tls.client_ca", tls->client_ca(), violations);
  }
  if (tls->client_certificate() != tls->certificate()) {
    CheckPath("tls.client_certificate", tls->client_certificate(), violations);
  }
  if (tls->client_key() != tls->client_certificate() &&
      tls->client_key() != tls->key()) {
    CheckPath("tls.client_key", tls->client_key(), violations);
  }
  if (!tls->metrics_client_ca().empty()) {
    CheckPath("tls.metrics_client_ca", tls->metrics_client_ca(), violations);
  }
  if (tls->has_join_ca()) {
    CheckPath("tls.join_ca.certificate", tls->join_ca().certificate(),
              violations);
    CheckPath("tls.join_ca.key", tls->join_ca().key(), violations);
  }
  if (!tls->join_token_file().empty()) {
    violations->push_back(
        {"tls.join_token_file",
         "is of a worker's configuration; a scheduler takes tls.join_ca"});
  }
}

base::TlsFiles PortFiles(const Tls& tls) {
  return {{"tls.certificate", tls.certificate()},
          {"tls.key", tls.key()},
          {"tls.client_ca", tls.client_ca()}};
}

base::TlsFiles CallFiles(const Tls& tls) {
  return {{"tls.client_certificate", tls.client_certificate()},
          {"tls.client_key", tls.client_key()},
          {"tls.ca", tls.ca()}};
}

base::TlsFiles PageFiles(const Tls& tls) {
  return {{"tls.certificate", tls.certificate()},
          {"tls.key", tls.key()},
          {"tls.metrics_client_ca", tls.metrics_client_ca()}};
}

}  // namespace ordo::scheduler
