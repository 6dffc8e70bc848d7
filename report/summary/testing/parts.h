#ifndef ORDO_REPORT_SUMMARY_TESTING_PARTS_H_
#define ORDO_REPORT_SUMMARY_TESTING_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/summary/control.h"

// Parts of experiments for tests.

namespace ordo::report::summary::testing {

// A run of an arm that finished with one report, "grid" at step 100, whose
// grid_mean is `score`; equal in all that makes a comparison controlled to
// other runs of its seed. Its job is c-<arm>-s<seed>.
ordo::training::v1::PartResult FinishedRun(const std::string& arm,
                                           uint64_t seed, double score);

// The comparison c with baseline rope and confidence 0.95, without parts.
ordo::training::v1::SummarizeSpec EmptyComparison();

// The same with rope and tape at seeds 1, 2 and 3; tape is better by about 0.2.
ordo::training::v1::SummarizeSpec RopeAndTape();

// That the runs of all parts were asked the same.
std::vector<PartRecords> RecordsOf(
    const ordo::training::v1::SummarizeSpec& spec);

}  // namespace ordo::report::summary::testing

#endif  // ORDO_REPORT_SUMMARY_TESTING_PARTS_H_
