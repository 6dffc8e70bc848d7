#include "worker/agent/drain.h"

#include <algorithm>

#include "base/log/log.h"

namespace ordo::worker::agent {

void Drain::Begin(absl::Duration now, absl::Duration grace) {
  if (began_) return;
  began_ = true;
  deadline_ = now + grace + kMargin;
  base::LogInfo("drain begins");
}

bool Drain::IsOver(absl::Duration now, const Worker& worker) {
  if (!began_) return false;
  if (worker.done) return true;
  if (now >= deadline_) {
    base::LogWarning(
        "drain took too long; what runs is left to its supervisor");
    return true;
  }
  if (!worker.idle) return false;
  idle_since_ = std::min(idle_since_, now);
  if (now - idle_since_ < kAnswerTimeout) return false;
  base::LogWarning(
      "scheduler does not acknowledge; the next worker reports what ended");
  return true;
}

}  // namespace ordo::worker::agent
