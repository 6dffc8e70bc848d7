#include "base/metrics/certificate_metrics.h"

#include <algorithm>
#include <map>

#include "absl/time/time.h"
#include "base/certificates/certificate.h"
#include "base/files/file_util.h"
#include "base/files/files.h"

namespace ordo::base {
namespace {

constexpr size_t kMaxPemBytes = 1 << 20;

double Seconds(absl::Time time) {
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

// 0 when it cannot be read: then it does not hold.
double ExpiryOf(const std::string& path, bool are_authorities) {
  PosixFilesystem files;
  const auto text = ReadFile(files, path, kMaxPemBytes);
  if (!text.ok()) return 0;
  const auto all = ReadCertificates(*text);
  if (!all.ok()) return 0;
  double expiry = Seconds(all->front().not_after);
  if (!are_authorities) return expiry;
  for (const Certificate& one : *all) {
    expiry = std::max(expiry, Seconds(one.not_after));
  }
  return expiry;
}

}  // namespace

void AddCertificateMetrics(const std::string& part,
                           const std::vector<TlsFiles>& files,
                           MetricsRegistry& registry) {
  const GaugeFamily expiry = registry.AddGauge(
      {"ordo_" + part + "_certificate_expiry_timestamp_seconds",
       "Until when the certificate of a file holds, seconds since 1970; 0: it "
       "cannot be read. By the field of `tls` that names the file.",
       {{"file"}}});
  registry.OnCollect([expiry, files] {
    std::map<std::vector<std::string>, double> times;
    for (const TlsFiles& each : files) {
      for (const NamedFile* file : {&each.certificate, &each.ca}) {
        if (file->path.empty()) continue;
        times[{file->name}] = ExpiryOf(file->path, file == &each.ca);
      }
    }
    ShowOnly(expiry, times);
  });
}

}  // namespace ordo::base
