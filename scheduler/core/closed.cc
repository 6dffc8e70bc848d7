#include "scheduler/core/closed.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/names.h"
#include "scheduler/core/worker_admin.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Worker;

// " by ada: exams", as far as that is kept.
std::string ByWhom(const audit::v1::Change* change) {
  if (change == nullptr) return "";
  return absl::StrCat(" by ", change->user(),
                      change->reason().empty() ? "" : ": ", change->reason());
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone());
}

}  // namespace

bool IsClosed(const Worker& worker, absl::Time ends_by) {
  if (worker.state() == Worker::DRAINING) return true;
  if (worker.state() != Worker::ONLINE) return false;
  return worker.cordoned() ||
         (worker.has_drain_time() && ToTime(worker.drain_time()) < ends_by);
}

std::string ClosedText(const Worker& worker, absl::Time now) {
  std::vector<std::string> why;
  if (worker.state() == Worker::DRAINING) why.emplace_back("it is being ended");
  if (worker.has_drain_time()) {
    const absl::Time at = ToTime(worker.drain_time());
    why.push_back(
        absl::StrCat(at <= now ? "drained since " : "to be drained at ",
                     TimeText(at), ByWhom(DrainOf(worker))));
  }
  if (worker.cordoned()) {
    const audit::v1::Change* change = CordonOf(worker);
    why.push_back(absl::StrCat(
        "cordoned",
        change == nullptr ? "" : " since " + TimeText(ToTime(change->time())),
        ByWhom(change)));
  }
  return absl::StrCat(IdOf(worker.name()), " (", absl::StrJoin(why, "; "), ")");
}

}  // namespace ordo::scheduler::core
