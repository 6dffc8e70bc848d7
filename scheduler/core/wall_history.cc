#include "scheduler/core/wall_history.h"

#include <algorithm>
#include <memory>

#include "scheduler/core/stored_clock.pb.h"

namespace ordo::scheduler::core {
namespace {

constexpr char kKey[] = "wall";

}  // namespace

bool WallHistory::Note(const Moment& now) {
  const absl::Time origin = now.wall - now.monotonic;
  if (!settings_.empty() &&
      absl::AbsDuration(origin - settings_.back().origin) <= kClockTolerance) {
    return false;
  }
  if (settings_.size() == kMaxClockSettings) settings_.erase(settings_.begin());
  settings_.push_back({now.monotonic, origin});
  return true;
}

absl::Duration WallHistory::MonotonicAt(absl::Time time,
                                        const Moment& now) const {
  absl::Duration until = now.monotonic;
  for (auto it = settings_.rbegin(); it != settings_.rend(); ++it) {
    const absl::Duration at = time - it->origin;
    if (at >= it->from - kClockTolerance && at <= until + kClockTolerance) {
      return std::min(at, now.monotonic);
    }
    until = it->from;
  }
  if (!settings_.empty()) {
    // Of this boot, before the clock was first seen.
    const Setting& first = settings_.front();
    const absl::Duration at = time - first.origin;
    if (at >= absl::ZeroDuration() && at < first.from) return at;
  }
  return std::min(time - (now.wall - now.monotonic), now.monotonic);
}

RowPtr WallHistory::ToRow(const std::string& boot_id) const {
  StoredClock stored;
  stored.set_boot_id(boot_id);
  for (const Setting& setting : settings_) {
    StoredClock::Setting& each = *stored.add_settings();
    each.set_from_ns(absl::ToInt64Nanoseconds(setting.from));
    each.set_origin_ns(absl::ToUnixNanos(setting.origin));
  }
  return std::make_shared<const Row>(
      Row{Row::Kind::kClock, kKey, stored.SerializeAsString()});
}

absl::Status WallHistory::Take(const Row& row, const std::string& boot_id) {
  StoredClock stored;
  if (!row.bytes.has_value() || row.key != kKey ||
      !stored.ParseFromString(*row.bytes)) {
    return absl::DataLossError(
        "what the store has of the wall clock cannot be read");
  }
  if (stored.boot_id() != boot_id) return absl::OkStatus();
  for (const StoredClock::Setting& each : stored.settings()) {
    settings_.push_back({absl::Nanoseconds(each.from_ns()),
                         absl::FromUnixNanos(each.origin_ns())});
  }
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::core
