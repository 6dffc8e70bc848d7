#ifndef ORDO_BASE_METRICS_CERTIFICATE_METRICS_H_
#define ORDO_BASE_METRICS_CERTIFICATE_METRICS_H_

#include <string>
#include <vector>

#include "base/certificates/tls_files.h"
#include "base/metrics/metrics.h"

namespace ordo::base {

// Adds ordo_<part>_certificate_expiry_timestamp_seconds{file}, read again for
// each page: until when the certificates of `files` hold. `file` is the field
// that names it: of a chain its own certificate counts, of authorities the one
// that holds longest. `part` is "scheduler", "worker"; without TLS there are no
// files, and no time series.
void AddCertificateMetrics(const std::string& part,
                           const std::vector<TlsFiles>& files,
                           MetricsRegistry& registry);

}  // namespace ordo::base

#endif  // ORDO_BASE_METRICS_CERTIFICATE_METRICS_H_
