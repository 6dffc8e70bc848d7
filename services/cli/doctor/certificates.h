#ifndef ORDO_SERVICES_CLI_DOCTOR_CERTIFICATES_H_
#define ORDO_SERVICES_CLI_DOCTOR_CERTIFICATES_H_

#include <string>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "proto/ordo/config/v1/tls.pb.h"
#include "services/cli/doctor/finding.h"

namespace ordo::services::cli::doctor {

// A service and its certificates.
struct CertificateSite {
  // "scheduler", "worker".
  std::string service;
  config::v1::Tls tls;
  // The URI name that its certificate must have.
  std::string uri_name;
  // "HOST:PORT" where it listens; that host must be in the certificate. Empty:
  // who calls it does not look at its host.
  std::string listen;
  // Where a worker keeps the certificate that it got for a token.
  std::string state_folder;
};

// Checks named "tls/SERVICE.files" (readable, PEM, key and certificate belong
// together, not expired), ".expiry", ".name", ".host" and ".key".
Findings CheckCertificates(base::Filesystem& files, const base::Clock& clock,
                           const CertificateSite& site);

}  // namespace ordo::services::cli::doctor

#endif  // ORDO_SERVICES_CLI_DOCTOR_CERTIFICATES_H_
