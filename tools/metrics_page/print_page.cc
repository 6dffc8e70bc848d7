// Prints the page of all metrics, docs/metrics.md:
//   print_page >docs/metrics.md
#include <iostream>

#include "tools/metrics_page/page.h"

int main() { std::cout << ordo::tools::metrics_page::MetricsPage(); }
