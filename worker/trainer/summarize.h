#ifndef ORDO_WORKER_TRAINER_SUMMARIZE_H_
#define ORDO_WORKER_TRAINER_SUMMARIZE_H_

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// Sums up the parts of a sweep, comparison or pipeline in one report, unless
// that is finished already, from the task and from what the parts left under
// the storage root. What cannot be read there is left out with a warning, and
// so are figures where there is no gnuplot. FINISHED, PART_FAILED when a part
// did not end as meant (report/summary/results.h), STOPPED; errors are marked
// with their exit code. The last record is written in every case.
//
// The report, results/<kind>-<attempt>: report.html with all in it, report.md,
// values.csv, of a comparison differences.csv, lengths.csv and cells.csv (as
// Summary says), result.json, and each figure as .svg and .png.
absl::StatusOr<ordo::training::v1::ExitCode> RunSummary(
    const TrainerContext& context,
    const ordo::training::v1::SummarizeSpec& spec, Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_SUMMARIZE_H_
