#ifndef ORDO_WORKER_TRAINER_SPEC_FILE_H_
#define ORDO_WORKER_TRAINER_SPEC_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::worker::trainer {

// The task of a file (.json, .yaml or .textproto), checked and with every
// default filled in. INVALID_ARGUMENT names all that is wrong; an error to read
// the file is marked BAD_SPEC too.
absl::StatusOr<ordo::training::v1::TrainSpec> ReadTrainSpec(
    base::Filesystem& files, const std::string& path);
absl::StatusOr<ordo::training::v1::EvaluateSpec> ReadEvaluateSpec(
    base::Filesystem& files, const std::string& path);
absl::StatusOr<ordo::training::v1::BenchmarkSpec> ReadBenchmarkSpec(
    base::Filesystem& files, const std::string& path);
absl::StatusOr<ordo::training::v1::GateSpec> ReadGateSpec(
    base::Filesystem& files, const std::string& path);

// The same of a task that may be large, which is a binary message in a file
// .pb, of at most base::kMaxDesiredSetBytes.
absl::StatusOr<ordo::training::v1::SummarizeSpec> ReadSummarizeSpec(
    base::Filesystem& files, const std::string& path);

// The model and the encoding of a training task's file, and of its data and
// adapters where it has them; the rest of it is left as it is and may be
// missing.
absl::StatusOr<ordo::training::v1::TrainSpec> ReadModelSpec(
    base::Filesystem& files, const std::string& path);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_SPEC_FILE_H_
