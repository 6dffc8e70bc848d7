#ifndef ORDO_BASE_METRICS_TESTING_SCRAPE_H_
#define ORDO_BASE_METRICS_TESTING_SCRAPE_H_

#include <string>

#include "base/certificates/tls_files.h"

namespace ordo::base::testing {

// The body that a GET of /metrics answers at "127.0.0.1:PORT"; empty when
// nobody answers.
std::string ScrapeMetrics(const std::string& address);

// The same over TLS, from a page whose certificate is of files.ca and names
// 127.0.0.1; with files.certificate and files.key where they are named.
std::string ScrapeMetricsWithTls(const std::string& address,
                                 const TlsFiles& files);

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_METRICS_TESTING_SCRAPE_H_
