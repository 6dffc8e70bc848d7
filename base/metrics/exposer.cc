#include "base/metrics/exposer.h"

#include <exception>
#include <utility>

#include "prometheus/exposer.h"

namespace ordo::base {

absl::StatusOr<std::unique_ptr<MetricsExposer>> MetricsExposer::Start(
    const std::string& listen, const MetricsRegistry& registry) {
  // The only place that catches what prometheus-cpp and its web server throw.
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(listen, 1);
    exposer->RegisterCollectable(registry.registry());
    const std::vector<int> ports = exposer->GetListeningPorts();
    if (ports.empty()) {
      return absl::InternalError("serve metrics on " + listen +
                                 ": no port was opened");
    }
    const std::string host = listen.substr(0, listen.rfind(':'));
    return std::unique_ptr<MetricsExposer>(new MetricsExposer(
        std::move(exposer), host + ":" + std::to_string(ports[0]), ports[0]));
  } catch (const std::exception& error) {
    return absl::FailedPreconditionError(
        "serve metrics on " + listen + ": " + error.what() +
        "; is the port in use? Name another, or 0 for a free one");
  }
}

MetricsExposer::MetricsExposer(std::unique_ptr<prometheus::Exposer> exposer,
                               std::string address, int port)
    : exposer_(std::move(exposer)), address_(std::move(address)), port_(port) {}

MetricsExposer::~MetricsExposer() = default;

}  // namespace ordo::base
