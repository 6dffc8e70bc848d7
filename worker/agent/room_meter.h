#ifndef ORDO_WORKER_AGENT_ROOM_METER_H_
#define ORDO_WORKER_AGENT_ROOM_METER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/metrics/metrics.h"
#include "base/mutex.h"
#include "worker/agent/background.h"

namespace ordo::worker::agent {

// Measures how much room is left in folders, each on a thread of its own: one
// that hangs, as on a network file system whose server is gone, holds up
// neither the others nor who asks. Thread-safe.
class RoomMeter {
 public:
  // How often it is measured.
  static constexpr absl::Duration kPeriod = absl::Seconds(15);
  // A measurement that takes so long hangs: one that ends takes milliseconds,
  // and an NFS server that is started anew is back before that.
  static constexpr absl::Duration kHungAfter = absl::Minutes(1);

  struct Place {
    // Of the metric's label.
    std::string name;
    std::string folder;
  };

  // `files` and `clock` outlive this.
  RoomMeter(const std::vector<Place>& places, base::Filesystem& files,
            const base::Clock& clock, base::GaugeFamily free_bytes);

  // Has measured what is due, and shows 0 where a measurement hangs. Waits for
  // no file system.
  void Step();

 private:
  struct Measured {
    explicit Measured(Place measured) : place(std::move(measured)) {}

    const Place place;
    // Both of the meter's mutex. Since when (monotonic) it is measured, or was.
    absl::Duration since = -absl::InfiniteDuration();
    bool is_running = false;
    Background thread;
  };

  void Measure(Measured* measured);

  base::Filesystem& files_;
  const base::Clock& clock_;
  const base::GaugeFamily free_bytes_;
  base::Mutex mutex_;
  // Their threads use the other members, so they end before all of them.
  std::vector<std::unique_ptr<Measured>> places_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_ROOM_METER_H_
