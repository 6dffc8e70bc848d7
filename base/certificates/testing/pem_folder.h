#ifndef ORDO_BASE_CERTIFICATES_TESTING_PEM_FOLDER_H_
#define ORDO_BASE_CERTIFICATES_TESTING_PEM_FOLDER_H_

#include <string>

#include "absl/time/time.h"
#include "base/certificates/issue.h"

namespace ordo::base::testing {

// Paths of a certificate and its key.
struct PemPaths {
  std::string certificate;
  std::string key;
};

// An authority for a test, and the files of what it issues: ca.pem, NAME.pem,
// NAME.key, in a folder that there is.
class PemFolder {
 public:
  explicit PemFolder(std::string folder);

  // ca.pem: the authority's certificate.
  std::string ca() const;
  const KeyedCertificate& authority() const { return authority_; }

  // Issues a certificate for a day from an hour ago on, or another time, and
  // writes NAME.pem and NAME.key, each in one step, in the place of others.
  PemPaths Issue(const std::string& name, const CertificateNames& names) const;
  PemPaths Issue(const std::string& name, const CertificateNames& names,
                 const Validity& validity) const;

 private:
  const std::string folder_;
  const KeyedCertificate authority_;
};

// From an hour ago on, for so long.
Validity HoldsFor(absl::Duration length);

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_CERTIFICATES_TESTING_PEM_FOLDER_H_
