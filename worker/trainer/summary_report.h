#ifndef ORDO_WORKER_TRAINER_SUMMARY_REPORT_H_
#define ORDO_WORKER_TRAINER_SUMMARY_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/training/durable_folder.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "report/page.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

// What reports that are made of other reports have in common.

namespace ordo::worker::trainer {

// Figures as they were drawn.
struct DrawnFigures {
  // Each as <name>.svg and <name>.png.
  std::vector<model::training::NamedBytes> files;
  // Of the page, in the order of the figures.
  std::vector<std::string> svgs;
};

// SHA-256 of the MANIFEST.json of jobs/{job}/checkpoints/{checkpoint}, below
// the storage root, or of a checkpoint of this job, by its id; empty where it
// is not there.
std::string DigestOfCheckpoint(const TrainerContext& context,
                               const std::string& name);

// Draws them, by way of the attempt's folder. Where there is no gnuplot the
// rest is left out, with a warning, and on a request to stop without one.
DrawnFigures DrawFigures(const TrainerContext& context, int attempt,
                         const std::vector<report::NamedFigure>& figures,
                         Progress* progress);

// Writes `contents` to the folder of `report`, whole or not at all, and tells
// `progress` with the files filled in. CANCELLED when it was asked to stop;
// STORAGE_ERROR when it cannot be written.
absl::Status WriteSummaryReport(
    const TrainerContext& context, ordo::training::v1::ReportWritten report,
    const std::vector<model::training::NamedBytes>& contents,
    Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_SUMMARY_REPORT_H_
