#ifndef ORDO_TESTS_BENCH_ATTENTION_FIGURES_H_
#define ORDO_TESTS_BENCH_ATTENTION_FIGURES_H_

#include <string>
#include <vector>

#include "report/figure.h"
#include "tests/bench/attention_results.h"

namespace ordo::tests::bench {

struct NamedFigure {
  // Of the files, without what says their form.
  std::string name;
  report::Figure figure;
};

// Ratios over N, a figure for each type, and peak memory over N; those that
// have something to show.
std::vector<NamedFigure> FiguresOf(const AttentionResults& results);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_ATTENTION_FIGURES_H_
