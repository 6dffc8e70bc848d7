#ifndef ORDO_BASE_METRICS_EXPOSER_H_
#define ORDO_BASE_METRICS_EXPOSER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/metrics/metrics.h"

namespace prometheus {
class Exposer;
}  // namespace prometheus

namespace ordo::base {

// Serves a registry at http://<address>/metrics until destroyed.
class MetricsExposer {
 public:
  // `listen` is "HOST:PORT", such as "127.0.0.1:0"; port 0 takes a free one.
  // FAILED_PRECONDITION when the port is in use.
  static absl::StatusOr<std::unique_ptr<MetricsExposer>> Start(
      const std::string& listen, const MetricsRegistry& registry);
  ~MetricsExposer();

  int port() const { return port_; }
  // "HOST:PORT" with the actual port.
  const std::string& address() const { return address_; }

 private:
  MetricsExposer(std::unique_ptr<prometheus::Exposer> exposer,
                 std::string address, int port);

  std::unique_ptr<prometheus::Exposer> exposer_;
  std::string address_;
  int port_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_METRICS_EXPOSER_H_
