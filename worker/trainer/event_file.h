#ifndef ORDO_WORKER_TRAINER_EVENT_FILE_H_
#define ORDO_WORKER_TRAINER_EVENT_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/files/files.h"

namespace ordo::worker::trainer {

// Scalars in TensorBoard's form: records of TensorFlow's TFRecord format that
// hold the few fields of its Event message that scalars need
// (tensorflow/core/util/event.proto, framework/summary.proto). Not thread-safe.
class EventFile {
 public:
  // Creates <folder>/events.out.tfevents.<seconds>.<name>.
  static absl::StatusOr<std::unique_ptr<EventFile>> Create(
      base::Filesystem& files, const std::string& folder, absl::Time now,
      const std::string& name);

  // Appends the values of one step, by tag.
  absl::Status Append(absl::Time now, int64_t step,
                      const std::map<std::string, double>& values);

 private:
  explicit EventFile(std::unique_ptr<base::WritableFile> file)
      : file_(std::move(file)) {}

  std::unique_ptr<base::WritableFile> file_;
};

// One TFRecord: length, its checksum, the data, its checksum.
std::string FrameTfRecord(const std::string& data);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_EVENT_FILE_H_
