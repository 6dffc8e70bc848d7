#ifndef ORDO_TOOLS_METRICS_PAGE_PAGE_H_
#define ORDO_TOOLS_METRICS_PAGE_PAGE_H_

#include <string>

namespace ordo::tools::metrics_page {

// The page docs/metrics.md, in Markdown: every metric of scheduler and worker
// with its type, labels and meaning, as the programs declare them.
std::string MetricsPage();

}  // namespace ordo::tools::metrics_page

#endif  // ORDO_TOOLS_METRICS_PAGE_PAGE_H_
