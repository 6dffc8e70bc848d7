#ifndef ORDO_BASE_CERTIFICATES_ISSUE_H_
#define ORDO_BASE_CERTIFICATES_ISSUE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

// Making certificates through libcrypto. Keys are of the curve P-256,
// signatures ECDSA with SHA-256. All is PEM.

namespace ordo::base {

// A certificate, or a chain of which it is the first, and its private key.
struct KeyedCertificate {
  std::string certificate;
  std::string key;
};

struct CertificateNames {
  // What people read, at most 64 bytes.
  std::string common_name;
  // kSchedulerUri and so on; empty: none.
  std::string uri_name;
  // DNS names and addresses that its server may be reached by.
  std::vector<std::string> hosts = {};
};

// Those of a worker's certificate. They name no host but its own machine: the
// scheduler asks for the URI name, and no worker can pass for another server.
CertificateNames WorkerNames(const std::string& worker);

// When a certificate holds: from `from` for `length`.
struct Validity {
  absl::Time from;
  absl::Duration length;
};

// A new private key.
absl::StatusOr<std::string> NewKey();

// A new certificate authority with a key of its own, that signs certificates of
// servers and clients and no other authorities.
absl::StatusOr<KeyedCertificate> NewAuthority(const std::string& common_name,
                                              const Validity& validity);

// A request that the holder of a key signs. It carries no names: whoever signs
// decides whose the certificate is. INVALID_ARGUMENT: `key` is no private key.
absl::StatusOr<std::string> SigningRequest(std::string_view key);

// The certificate of the key that signed `request`, for a server and a client,
// as `names` say; it holds within the time that the authority's does.
// INVALID_ARGUMENT: the request is damaged, not signed by its own key, of a
// weak key (RSA below 2048 bits, other than RSA, EC below 256 bits), or a name
// cannot stand in a certificate. FAILED_PRECONDITION: the authority is none,
// does not fit its key, or holds at no moment of `validity`.
absl::StatusOr<std::string> SignRequest(std::string_view request,
                                        const KeyedCertificate& authority,
                                        const CertificateNames& names,
                                        const Validity& validity);

// A new key and its certificate, signed by `authority`.
absl::StatusOr<KeyedCertificate> Issue(const KeyedCertificate& authority,
                                       const CertificateNames& names,
                                       const Validity& validity);

}  // namespace ordo::base

#endif  // ORDO_BASE_CERTIFICATES_ISSUE_H_
