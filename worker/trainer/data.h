#ifndef ORDO_WORKER_TRAINER_DATA_H_
#define ORDO_WORKER_TRAINER_DATA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// One process of an attempt, and where it stands.
struct DataReader {
  int attempt = 1;
  int rank = 0;
  // Of the run or the model.
  int64_t step = 0;
};

// What a task may read: data/ of the storage root and context.data_roots. What
// is made of it is kept in data/.stores of the storage root, without one in
// the job's folder, and is written before in the attempt's. Reading ends with
// CANCELLED on a request to stop, and tells `progress` that it goes on.
// `context` and `progress` outlive the reading.
model::tasks::DataAccess DataOf(const TrainerContext& context,
                                const DataReader& reader, Progress* progress);

// The error of an evaluation, behind the path of that in the spec:
// "evaluations[0].params.path: ..." where it begins with parameters, else
// "evaluations[0]: ...". Keeps code and payloads; OK stays OK.
absl::Status AtEvaluation(const absl::Status& status, std::string_view path);
template <typename T>
absl::StatusOr<T> AtEvaluation(absl::StatusOr<T> result,
                               std::string_view path) {
  if (result.ok()) return result;
  return AtEvaluation(result.status(), path);
}

// The folders of --data-roots, which has colons between them. INVALID_ARGUMENT:
// one is not absolute.
absl::StatusOr<std::vector<std::string>> ParseDataRoots(
    const std::string& text);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_DATA_H_
