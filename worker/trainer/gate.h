#ifndef ORDO_WORKER_TRAINER_GATE_H_
#define ORDO_WORKER_TRAINER_GATE_H_

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// Id and kind of the report of a gate.
inline constexpr char kGateReport[] = "gate";

// Decides a gate, unless that is done: evaluates candidate, baseline and anchor
// where they have no report yet, more and more items of sets that grow until
// they decide or the budget is spent, and writes the verdict. FINISHED whatever
// it is, or STOPPED; errors are marked with their exit code: BAD_SPEC, naming
// `gate.baseline` or `gate.anchor`, where both were not asked the same. `spec`
// is resolved. The last record is written in every case. Configures the
// numerics of the process.
//
// What it evaluates are reports of evaluations (gate_pieces.h). That of the
// gate, results/gate-<attempt>: report.html with all in it, gate.md,
// result.json, comparisons.csv, junit.xml, and difference.svg and .png. A gate
// that goes on after an interruption says what it would have said.
absl::StatusOr<ordo::training::v1::ExitCode> RunGate(
    const TrainerContext& context, const ordo::training::v1::GateSpec& spec,
    Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_GATE_H_
