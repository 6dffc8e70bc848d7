#ifndef ORDO_MODEL_EVALUATION_TAKEN_REPORT_H_
#define ORDO_MODEL_EVALUATION_TAKEN_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/evaluation/report.h"
#include "proto/ordo/training/v1/progress.pb.h"

namespace ordo::model::evaluation {

// A report that is there.
struct TakenFrom {
  // jobs/{job}/reports/{report}.
  std::string report;
  std::string folder;
  // catalog::FilesDigest of its files.
  std::string files_sha256;
};

// Writes the report of `subject` with the result of another one: its files, but
// that result.json says whose it is and where it is from. The folder is named
// as that of WriteReport, and is durable and whole, or not there at all.
// DATA_LOSS when the files are not what was registered, NOT_FOUND when they are
// not there; errors of `files`.
absl::StatusOr<ordo::training::v1::ReportWritten> TakeReport(
    base::Filesystem& files, const std::string& job_folder,
    const ReportSubject& subject, const TakenFrom& from);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_TAKEN_REPORT_H_
