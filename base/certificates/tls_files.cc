#include "base/certificates/tls_files.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

constexpr size_t kMaxPemBytes = 1 << 20;

absl::Status Wrong(const NamedFile& file, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(file.name, " ", file.path, ": ", what));
}

absl::StatusOr<std::string> ReadPem(const NamedFile& file) {
  PosixFilesystem files;
  auto text = ReadFile(files, file.path, kMaxPemBytes);
  if (text.ok()) return text;
  return Wrong(file, absl::StrCat(text.status().message(),
                                  "; name a PEM file that this process may "
                                  "read"));
}

absl::Status CheckOwn(const TlsFiles& files, absl::Time now) {
  ORDO_ASSIGN_OR_RETURN(const std::string certificate,
                        ReadPem(files.certificate));
  ORDO_ASSIGN_OR_RETURN(const std::string key, ReadPem(files.key));
  const auto says = ReadCertificate(certificate);
  if (!says.ok()) {
    return Wrong(files.certificate, std::string(says.status().message()));
  }
  if (const absl::Status fits = CheckKeyOf(certificate, key); !fits.ok()) {
    return Wrong(files.key, absl::StrCat(fits.message(), "; name the key of ",
                                         files.certificate.name, " ",
                                         files.certificate.path));
  }
  if (const absl::Status in_time = CheckTimeOf(*says, now); !in_time.ok()) {
    return Wrong(files.certificate, absl::StrCat(in_time.message(),
                                                 "; put a new one in its "
                                                 "place"));
  }
  return absl::OkStatus();
}

absl::Status CheckAuthorities(const NamedFile& file, absl::Time now) {
  ORDO_ASSIGN_OR_RETURN(const std::string text, ReadPem(file));
  const auto all = ReadCertificates(text);
  if (!all.ok()) return Wrong(file, std::string(all.status().message()));
  absl::Status in_time;
  for (const Certificate& one : *all) {
    in_time = CheckTimeOf(one, now);
    if (in_time.ok()) return absl::OkStatus();
  }
  return Wrong(file, absl::StrCat(in_time.message(),
                                  "; put the authority's new certificate in "
                                  "its place"));
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files, absl::Time now) {
  const bool has_certificate = !files.certificate.path.empty();
  if (has_certificate != !files.key.path.empty()) {
    const NamedFile& given = has_certificate ? files.certificate : files.key;
    const NamedFile& missing = has_certificate ? files.key : files.certificate;
    return Wrong(given, absl::StrCat("needs ", missing.name, " beside it"));
  }
  if (has_certificate) ORDO_RETURN_IF_ERROR(CheckOwn(files, now));
  if (files.ca.path.empty()) return absl::OkStatus();
  return CheckAuthorities(files.ca, now);
}

}  // namespace ordo::base
