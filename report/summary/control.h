#ifndef ORDO_REPORT_SUMMARY_CONTROL_H_
#define ORDO_REPORT_SUMMARY_CONTROL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/grid.h"
#include "report/lengths.h"
#include "report/summary/results.h"

namespace ordo::report::summary {

// A parameter as a run began with it.
struct InitialValue {
  // "64,32".
  std::string shape;
  // Of its values.
  std::string digest;
};

// What a part left behind beside what its task tells.
struct PartRecords {
  // By the name of the parameter, those of the encoding aside; those that
  // RunControl.initial_digest is the digest of. Empty: not known.
  std::map<std::string, InitialValue> initial_values;
  // By PartResult.Report.path: a digest of what was asked, the ids of the items
  // and the version of their task. One that is missing is not known.
  std::map<std::string, std::string> questions;
  // By PartResult.Report.path: of an evaluation that scores lengths apart, or
  // is of text, what it found at each.
  std::map<std::string, Lengths> lengths = {};
  // As of StepDone, the most of all attempts; 0: not known.
  int64_t peak_memory_bytes = 0;
  // By PartResult.Report.path: of addition, by the lengths of both operands.
  std::map<std::string, Grid> grids = {};
  // By PartResult.Report.path: how many items it is of; 0: not known.
  std::map<std::string, int64_t> num_items = {};
};

// A report that counts, of a part that succeeded.
struct RecordedReport {
  const ordo::training::v1::PartResult* part = nullptr;
  CountedReport counted;
  // Of the part.
  const PartRecords* records = nullptr;
};

// In the order of the parts, of which `records` has one each; parts without
// one are left out. They point into both.
std::vector<RecordedReport> RecordedReports(
    const ordo::training::v1::SummarizeSpec& spec,
    const std::vector<PartRecords>& records);

// By evaluation, and by tokenizer as of Lengths, the jobs of the parts that
// succeeded and say that they were asked with it.
using Tokenizers =
    std::map<std::string, std::map<std::string, std::vector<std::string>>>;

Tokenizers TokenizersOf(const ordo::training::v1::SummarizeSpec& spec,
                        const std::vector<PartRecords>& records);

// Whether runs of the evaluation say that they have different ones: what it
// scores by token is not to be compared.
bool TokenizersDiffer(const Tokenizers& tokenizers,
                      const std::string& evaluation);

struct Control {
  // Why the comparison is not called controlled, a sentence each. None: it is.
  std::vector<std::string> reasons;
  // What differs because the comparison asks for it, a sentence each.
  std::vector<std::string> differences;
};

// Whether the runs of a comparison prove that they differ in what they should
// alone. `records` are those of the parts, in their order; of parts beyond its
// end nothing is known.
//
// Proved is, by what the runs recorded of themselves: all runs finished; for
// each seed the same samples in the same order, as many tokens and steps, the
// same initial values outside of the encoding, and the same questions; and over
// all runs the same build of the trainer, device, precision, threads, libraries
// and what else they compute in, results that the device gives again, and
// attempts that went on exactly where the one before was. Nor may tokenizers
// differ.
//
// Where `differs` lists fields of the data, training.steps, training.precision,
// resources.device, resources.threads, resources.ranks or training.kernel, the
// order of data, steps, precision, device with its libraries, threads, ranks or
// kernels may differ; the tokens must be as many all the same, but with a
// budget of FLOPs or device-seconds: then these must be, within one in a
// hundred or five, and the order of data the same up to the newest step where
// all runs of the seed have a checkpoint. Where it lists any field outside of
// the encoding but training.steps, runs may have parameters that others lack,
// or in another shape; those that have the same name and shape must begin with
// the same values all the same.
Control CheckControl(const ordo::training::v1::SummarizeSpec& spec,
                     const std::vector<PartRecords>& records);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_CONTROL_H_
