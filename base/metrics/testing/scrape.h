#ifndef ORDO_BASE_METRICS_TESTING_SCRAPE_H_
#define ORDO_BASE_METRICS_TESTING_SCRAPE_H_

#include <string>

namespace ordo::base::testing {

// The body that a GET of /metrics answers at "127.0.0.1:PORT"; empty when
// nobody answers.
std::string ScrapeMetrics(const std::string& address);

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_METRICS_TESTING_SCRAPE_H_
