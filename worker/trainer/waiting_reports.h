#ifndef ORDO_WORKER_TRAINER_WAITING_REPORTS_H_
#define ORDO_WORKER_TRAINER_WAITING_REPORTS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "model/catalog/resolve_evaluations.h"
#include "worker/trainer/evaluate.h"

namespace ordo::worker::trainer {

struct WaitingReportsOptions {
  // Writes a report; may be asked for the same one again.
  std::function<absl::Status(const EvaluationResult& result)> write;
  // Told what becomes of a report, for people.
  std::function<void(const std::string& warning)> warn;
  // Of all reports together, which are in memory: as many as one evaluation may
  // have.
  int64_t max_items = model::catalog::kMaxItems;
};

// Results of evaluations whose report a full or slow disk did not take, in the
// order in which they came. Not thread-safe.
class WaitingReports {
 public:
  // `clock` must outlive this.
  WaitingReports(const base::Clock& clock, WaitingReportsOptions options)
      : clock_(clock), options_(std::move(options)) {}

  // `why` it could not be written. Where there are more items than may wait the
  // oldest reports are left out.
  void Add(EvaluationResult result, const absl::Status& why);

  // Tries to write them, the oldest first, up to the first failure; not before
  // a delay after the last failure.
  void Retry();

  // The last try: what cannot be written is left out.
  void WriteOrLeaveOut();

 private:
  void PopFront();

  const base::Clock& clock_;
  const WaitingReportsOptions options_;
  std::deque<EvaluationResult> waiting_;
  int64_t num_items_ = 0;
  absl::Duration retry_at_;
};

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_WAITING_REPORTS_H_
