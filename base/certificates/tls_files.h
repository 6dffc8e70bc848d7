#ifndef ORDO_BASE_CERTIFICATES_TLS_FILES_H_
#define ORDO_BASE_CERTIFICATES_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ordo::base {

// A file and what errors call it: the field or the option that names it.
struct NamedFile {
  std::string name;
  std::string path;
};

// PEM files of one end of a connection. Replace one by a rename, so that nobody
// reads half of it; where key and certificate are one file, both change at
// once.
struct TlsFiles {
  // The chain, its own certificate first. Of a client: no path, no certificate.
  NamedFile certificate;
  // The private key of that certificate, without a password.
  NamedFile key;
  // The authorities that the other end's certificate must come from. Of a
  // server: no path, it asks no client for a certificate.
  NamedFile ca;
};

// OK when all files that are named can be used at `now`. INVALID_ARGUMENT names
// the field, the file, and what to do: a key without its certificate or the
// reverse, missing or unreadable, not PEM, key and certificate that do not
// belong together, expired.
absl::Status CheckTlsFiles(const TlsFiles& files, absl::Time now);

}  // namespace ordo::base

#endif  // ORDO_BASE_CERTIFICATES_TLS_FILES_H_
