#ifndef ORDO_TESTS_BENCH_SLURM_H_
#define ORDO_TESTS_BENCH_SLURM_H_

#include <string>

#include "absl/status/statusor.h"

namespace ordo::tests::bench {

// Jobs a second that run `script`, which does nothing, end to end, by a Slurm
// of Debian's packages that is started for it below `folder` with `cpus` CPUs,
// an epilog and batch_sched_delay=0, and ended afterwards. Its jobs are one
// array, the fastest way to submit them. Needs root. NOT_FOUND says what is not
// installed.
absl::StatusOr<double> SlurmNoopRate(const std::string& folder, int cpus,
                                     const std::string& script, int jobs);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_SLURM_H_
