#ifndef ORDO_BASE_METRICS_EXPOSER_H_
#define ORDO_BASE_METRICS_EXPOSER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/certificates/tls_files.h"
#include "base/metrics/metrics.h"
#include "base/metrics/tls_page.h"

namespace prometheus {
class Exposer;
}  // namespace prometheus

namespace ordo::base {

// Serves a registry at http://<address>/metrics, or https:// with TLS, until
// destroyed.
class MetricsExposer {
 public:
  // `listen` is "HOST:PORT", such as "127.0.0.1:0"; port 0 takes a free one.
  // FAILED_PRECONDITION when the port is in use. With `tls` the registry
  // outlives the exposer; INVALID_ARGUMENT as CheckTlsFiles.
  static absl::StatusOr<std::unique_ptr<MetricsExposer>> Start(
      const std::string& listen, const MetricsRegistry& registry,
      const std::optional<TlsFiles>& tls = std::nullopt);
  ~MetricsExposer();

  int port() const { return port_; }
  // "HOST:PORT" with the actual port.
  const std::string& address() const { return address_; }

 private:
  MetricsExposer(std::unique_ptr<prometheus::Exposer> exposer,
                 std::unique_ptr<TlsPage> tls_page, std::string host, int port);

  // One of the two.
  std::unique_ptr<prometheus::Exposer> exposer_;
  const std::unique_ptr<TlsPage> tls_page_;
  std::string address_;
  int port_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_METRICS_EXPOSER_H_
