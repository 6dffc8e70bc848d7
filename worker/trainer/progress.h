#ifndef ORDO_WORKER_TRAINER_PROGRESS_H_
#define ORDO_WORKER_TRAINER_PROGRESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/records/records.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/trainer/event_file.h"

namespace ordo::worker::trainer {

// What a trainer tells the world, in its attempt's folder:
//   progress.records       ProgressRecord, for the worker; of a rank r other
//                          than 0 progress-<r>.records
//   metrics.jsonl          a line per reported step or report, for people, by
//                          rank 0
//   events.out.tfevents.*  the same for TensorBoard
//
// Telling must not stop training: a record that cannot be written is kept and
// tried again before the next one if somebody must know it (checkpoints,
// reports, warnings, the end), and dropped otherwise; the other two files are
// given up at their first error, with a line in the log. Not thread-safe.
class Progress {
 public:
  // Makes `attempt_folder` and opens the files; marks errors STORAGE_ERROR.
  // `files` and `clock` outlive it.
  static absl::StatusOr<std::unique_ptr<Progress>> Open(
      base::Filesystem& files, base::Clock& clock,
      const std::string& attempt_folder, int rank = 0);

  void Started(const ordo::training::v1::TrainerStarted& started);
  void Step(const ordo::training::v1::StepDone& step);
  void Checkpoint(const ordo::training::v1::CheckpointWritten& checkpoint);
  void CheckpointFailed(int64_t step, const absl::Status& status);
  void Evaluation(const ordo::training::v1::EvaluationProgress& evaluation);
  void Report(const ordo::training::v1::ReportWritten& report,
              const std::string& name);
  void Warning(const std::string& message);
  // This rank waits with the state after `step`, for rank 0, for data or for
  // the storage, and lives.
  void Waiting(int64_t step);

  // The last record. STORAGE_ERROR when it, or one kept before it, could not
  // be written.
  absl::Status Finished(const ordo::training::v1::TrainerFinished& finished);

  // DATA_MISSING when the attempt's folder or the record file is gone: nobody
  // would see what the trainer goes on to do.
  absl::Status CheckFolder() const;

 private:
  Progress(base::Filesystem& files, base::Clock& clock,
           const std::string& folder, int rank)
      : files_(files), clock_(clock), folder_(folder), rank_(rank) {}

  std::string RecordsPath() const;
  ordo::training::v1::ProgressRecord Record() const;
  // Appends what is kept, then `record`. Records that somebody must know are
  // kept until they are synced.
  absl::Status Append(const ordo::training::v1::ProgressRecord& record,
                      bool must_know);
  absl::Status AppendKept();
  void AppendMetrics(const std::string& line);
  void AppendEvents(int64_t step, const std::map<std::string, double>& values);

  base::Filesystem& files_;
  base::Clock& clock_;
  const std::string folder_;
  const int rank_;
  // Null after an error, until it is opened again.
  std::unique_ptr<base::RecordWriter> records_;
  std::vector<std::string> kept_;
  // Null once given up.
  std::unique_ptr<base::WritableFile> metrics_;
  std::unique_ptr<EventFile> events_;
};

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_PROGRESS_H_
