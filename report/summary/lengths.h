#ifndef ORDO_REPORT_SUMMARY_LENGTHS_H_
#define ORDO_REPORT_SUMMARY_LENGTHS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/figure.h"
#include "report/summary/comparison.h"
#include "report/table.h"

// How the arms of a comparison do at each length. Pure functions, thread-safe.

namespace ordo::report::summary {

// Of one arm, over seeds.
struct LengthPoint {
  int64_t length = 0;
  double mean = 0;
  // Student's interval of the mean; infinite with a single seed, and where the
  // seeds do not vary. Where has_bars, that of the questions of a single run.
  double low = 0;
  double high = 0;
};

struct LengthCurve {
  std::string arm;
  // Rising lengths.
  std::vector<LengthPoint> points;
};

// One evaluation of all arms.
struct ComparedLengths {
  std::string evaluation;
  // As of Lengths: what is counted, `error`, `perplexity` or, where tokenizers
  // differ, `bits_per_byte`, and the longest in training, 0 where it is not
  // known or not the same of all runs.
  std::string by;
  std::string score;
  int64_t trained = 0;
  // Seeds of which every arm has a run that succeeded and was scored so; each
  // arm counts the same.
  int num_seeds = 0;
  // Lengths at which one of those runs has no finite score, which no arm has.
  std::set<int64_t> left_out;
  // Whether points have intervals without another seed.
  bool has_bars = false;
  // Of the intervals.
  double confidence = 0.95;
  // In the order of the comparison's; all with the same lengths, one or more.
  std::vector<LengthCurve> arms;
  // For people, as TokenizersText.
  std::string tokenizers = {};
};

// "bytes with 260 tokens", of several "bytes with 260 tokens (a, b), sp.model
// with 8000 tokens (c)": those that have each stand in brackets. Empty where
// one is not known, which is empty itself, and the others are one.
std::string TokenizersText(
    const std::map<std::string, std::vector<std::string>>& owners);

// Of each evaluation that scored every arm by length, by name. `records` as of
// CheckControl, `comparison` that of the same parts.
std::vector<ComparedLengths> CompareLengths(
    const ordo::training::v1::SummarizeSpec& spec, const Comparison& comparison,
    const std::vector<PartRecords>& records);

// What is scored, in words: "bits per byte".
std::string ScoreText(const ComparedLengths& compared);

// A row for each evaluation, arm and length, for spreadsheets and programs: all
// digits. A bound that is not known is an empty cell.
Table LengthTable(const std::vector<ComparedLengths>& all);

// " Trained on up to 8: the dashed line." for a caption, without the line where
// the trained length lies outside of those that LengthPlot shows; empty where
// it is not known.
std::string TrainedText(const ComparedLengths& compared);

// Says of which evaluation it is, and what its bands or bars are. A line for
// each arm in a band of its intervals, or with bars where has_bars
// or some of its lengths have no interval; a dashed line at the trained length.
// The axis of lengths is logarithmic where they grow by factors, that of
// perplexities where they differ tenfold; of two lengths it has a tic at each.
// Arms stand beside each other at each length by a few pixels, so that the
// points of equal ones are all seen.
Figure LengthPlot(const ComparedLengths& compared);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_LENGTHS_H_
