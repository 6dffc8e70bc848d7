#ifndef ORDO_REPORT_SUMMARY_CONTROL_H_
#define ORDO_REPORT_SUMMARY_CONTROL_H_

#include <string>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::report::summary {

// Whether the runs of a comparison prove that they differ in what they should
// alone; a sentence for each thing that is not proved. None: it is controlled.
//
// Proved is, by what the runs recorded of themselves: all runs finished; for
// each seed the same samples in the same order, as many tokens and steps, and
// the same initial values outside of the encoding; and over all runs the same
// build of the trainer, device and precision, results that the device gives
// again, and attempts that went on exactly where the one before was.
std::vector<std::string> WhyNotControlled(
    const ordo::training::v1::SummarizeSpec& spec);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_CONTROL_H_
