#include "tests/sim/network.h"

namespace ordo::tests::sim {
namespace {

// Without faults.
constexpr int kUsualDelayMs = 2;

}  // namespace

Network::Network(World& world, NetworkFaults faults)
    : world_(world),
      faults_(std::move(faults)),
      loss_(world.MakeDice("loss")),
      delay_(world.MakeDice("delay")) {}

void Network::Send(const std::string& from, const std::string& to,
                   std::string what, const std::function<void()>& deliver) {
  if (cut_.count({from, to}) > 0 || loss_.Chance(faults_.loss())) return;
  const absl::Duration longest =
      absl::Milliseconds(std::max<int>(kUsualDelayMs, faults_.max_delay_ms()));
  const int copies = loss_.Chance(faults_.duplicate()) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    const bool slow = delay_.Chance(faults_.slow());
    world_.After(
        delay_.Between(absl::Microseconds(50), slow ? longest : longest / 10),
        what, deliver);
  }
}

void Network::Cut(const std::string& from, const std::string& to) {
  cut_.insert({from, to});
}

void Network::Mend(const std::string& from, const std::string& to) {
  cut_.erase({from, to});
}

void Network::Heal() {
  cut_.clear();
  faults_.Clear();
}

}  // namespace ordo::tests::sim
