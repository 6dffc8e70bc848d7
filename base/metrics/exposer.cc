#include "base/metrics/exposer.h"

#include <arpa/inet.h>
#include <atomic>
#include <exception>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "prometheus/exposer.h"

namespace ordo::base {
namespace {

// Time between two knocks.
constexpr int kKnockIntervalMs = 2;

// Connects to the web server until it has stopped. It looks only every two
// seconds whether it shall stop, unless somebody comes.
void KnockUntil(const std::atomic<bool>& stopped, const std::string& host,
                int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  // Under another address it stops all the same, only later.
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return;
  while (!stopped) {
    const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (door < 0) return;
    ::connect(door, reinterpret_cast<const sockaddr*>(&address),
              sizeof address);
    ::poll(nullptr, 0, kKnockIntervalMs);
    ::close(door);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsExposer>> MetricsExposer::Start(
    const std::string& listen, const MetricsRegistry& registry,
    const std::optional<TlsFiles>& tls) {
  const std::string host = listen.substr(0, listen.rfind(':'));
  if (tls.has_value()) {
    auto page =
        TlsPage::Start(listen, *tls, [&registry] { return registry.Text(); });
    if (!page.ok()) return page.status();
    const int port = (*page)->port();
    return std::unique_ptr<MetricsExposer>(
        new MetricsExposer(nullptr, *std::move(page), host, port));
  }
  // The only place that catches what prometheus-cpp and its web server throw.
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(listen, 1);
    exposer->RegisterCollectable(registry.registry());
    const std::vector<int> ports = exposer->GetListeningPorts();
    if (ports.empty()) {
      return absl::InternalError("serve metrics on " + listen +
                                 ": no port was opened");
    }
    return std::unique_ptr<MetricsExposer>(
        new MetricsExposer(std::move(exposer), nullptr, host, ports[0]));
  } catch (const std::exception& error) {
    return absl::FailedPreconditionError(
        "serve metrics on " + listen + ": " + error.what() +
        "; is the port in use? Name another, or 0 for a free one");
  }
}

MetricsExposer::MetricsExposer(std::unique_ptr<prometheus::Exposer> exposer,
                               std::unique_ptr<TlsPage> tls_page,
                               std::string host, int port)
    : exposer_(std::move(exposer)),
      tls_page_(std::move(tls_page)),
      address_(std::move(host) + ":" + std::to_string(port)),
      port_(port) {}

MetricsExposer::~MetricsExposer() {
  if (exposer_ == nullptr) return;
  std::atomic<bool> stopped{false};
  std::thread knocker([&] {
    KnockUntil(stopped, address_.substr(0, address_.rfind(':')), port_);
  });
  exposer_.reset();
  stopped = true;
  knocker.join();
}

}  // namespace ordo::base
