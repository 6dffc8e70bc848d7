#ifndef ORDO_BASE_CERTIFICATES_CERTIFICATE_H_
#define ORDO_BASE_CERTIFICATES_CERTIFICATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ordo::base {

// Who a certificate of a deployment is for, by the URI name in it.
inline constexpr char kSchedulerUri[] = "ordo:scheduler";
// Before the id of a worker.
inline constexpr char kWorkerUriPrefix[] = "ordo:worker/";
// Before the name of a person.
inline constexpr char kUserUriPrefix[] = "ordo:user/";
// A DNS name that the certificates of all workers have, whatever their hosts
// are called: what reads their metrics pages asks for it.
inline constexpr char kWorkerHost[] = "worker.ordo.internal";
// Who asks on the machine itself, by these names, is told the truth.
inline constexpr const char* kLocalHosts[] = {"localhost", "127.0.0.1", "::1"};

// What a certificate says.
struct Certificate {
  std::string common_name;
  std::vector<std::string> uri_names;
  // DNS names and addresses.
  std::vector<std::string> hosts;
  absl::Time not_before;
  absl::Time not_after;
};

// The first certificate of a PEM text. INVALID_ARGUMENT: there is none.
absl::StatusOr<Certificate> ReadCertificate(std::string_view pem);

// All certificates of a PEM text, one at least. INVALID_ARGUMENT: there is
// none, or one is damaged.
absl::StatusOr<std::vector<Certificate>> ReadCertificates(std::string_view pem);

// OK when the private key is that of the first certificate. INVALID_ARGUMENT
// else, also when `key_pem` holds none without a password.
absl::Status CheckKeyOf(std::string_view certificate_pem,
                        std::string_view key_pem);

// OK at a time at which the certificate holds. FAILED_PRECONDITION says since
// or from when it does not.
absl::Status CheckTimeOf(const Certificate& certificate, absl::Time now);

}  // namespace ordo::base

#endif  // ORDO_BASE_CERTIFICATES_CERTIFICATE_H_
