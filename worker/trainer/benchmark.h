#ifndef ORDO_WORKER_TRAINER_BENCHMARK_H_
#define ORDO_WORKER_TRAINER_BENCHMARK_H_

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// Runs one benchmark task, unless its report is finished already. FINISHED or
// STOPPED; errors are marked with their exit code. `spec` is resolved. The last
// record is written in every case. Configures the numerics of the process.
absl::StatusOr<ordo::training::v1::ExitCode> RunBenchmark(
    const TrainerContext& context,
    const ordo::training::v1::BenchmarkSpec& spec, Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_BENCHMARK_H_
