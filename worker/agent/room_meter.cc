#include "worker/agent/room_meter.h"

namespace ordo::worker::agent {

RoomMeter::RoomMeter(const std::vector<Place>& places, base::Filesystem& files,
                     const base::Clock& clock, base::GaugeFamily free_bytes)
    : files_(files), clock_(clock), free_bytes_(std::move(free_bytes)) {
  for (const Place& place : places) {
    places_.push_back(std::make_unique<Measured>(place));
  }
}

void RoomMeter::Step() {
  const absl::Duration now = clock_.Monotonic();
  base::MutexLock lock(mutex_);
  for (const auto& each : places_) {
    Measured* const measured = each.get();
    const absl::Duration age = now - measured->since;
    if (measured->is_running) {
      if (age >= kHungAfter) free_bytes_.With({measured->place.name}).Set(0);
    } else if (age >= kPeriod) {
      measured->since = now;
      measured->is_running = true;
      measured->thread.Run([this, measured] { Measure(measured); });
    }
  }
}

void RoomMeter::Measure(Measured* measured) {
  const auto room = files_.FreeBytes(measured->place.folder);
  base::MutexLock lock(mutex_);
  // Where nobody can tell there is none to be had either.
  free_bytes_.With({measured->place.name})
      .Set(static_cast<double>(room.value_or(0)));
  measured->is_running = false;
}

}  // namespace ordo::worker::agent
