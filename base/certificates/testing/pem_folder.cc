#include "base/certificates/testing/pem_folder.h"

#include <utility>

#include "base/check.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"

namespace ordo::base::testing {
namespace {

void Write(const std::string& path, const std::string& text) {
  PosixFilesystem files;
  ORDO_CHECK(AtomicWrite(files, path, text).ok()) << path;
}

}  // namespace

Validity HoldsFor(absl::Duration length) {
  const absl::Time from = RealClock().Now() - absl::Hours(1);
  return {from, absl::Hours(1) + length};
}

PemFolder::PemFolder(std::string folder)
    : folder_(std::move(folder)),
      authority_(NewAuthority("Ordo test", HoldsFor(absl::Hours(48))).value()) {
  Write(ca(), authority_.certificate);
}

std::string PemFolder::ca() const { return JoinPath(folder_, "ca.pem"); }

PemPaths PemFolder::Issue(const std::string& name,
                          const CertificateNames& names) const {
  return Issue(name, names, HoldsFor(absl::Hours(24)));
}

PemPaths PemFolder::Issue(const std::string& name,
                          const CertificateNames& names,
                          const Validity& validity) const {
  const KeyedCertificate issued =
      base::Issue(authority_, names, validity).value();
  const PemPaths paths = {JoinPath(folder_, name + ".pem"),
                          JoinPath(folder_, name + ".key")};
  Write(paths.key, issued.key);
  Write(paths.certificate, issued.certificate);
  return paths;
}

}  // namespace ordo::base::testing
