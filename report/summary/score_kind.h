#ifndef ORDO_REPORT_SUMMARY_SCORE_KIND_H_
#define ORDO_REPORT_SUMMARY_SCORE_KIND_H_

#include <string>

// What the name of a score says of it. Pure functions, thread-safe.

namespace ordo::report::summary {

struct ScoreKind {
  // "less is better", for people; empty: not known, or neither.
  std::string better = {};
  // Whether it is between 0 and 1.
  bool is_share = false;
  // Whether it is of tokens, so that other tokenizers score otherwise.
  bool is_by_token = false;
};

// `metric` as tasks name it, such as `error`, or `error_512` of one length.
ScoreKind KindOf(const std::string& metric);

// " (less is better)"; nothing where that is not known.
std::string BetterText(const std::string& metric);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_SCORE_KIND_H_
