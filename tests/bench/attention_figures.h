#ifndef ORDO_TESTS_BENCH_ATTENTION_FIGURES_H_
#define ORDO_TESTS_BENCH_ATTENTION_FIGURES_H_

#include <string>
#include <vector>

#include "model/benchmark/attention_results.h"
#include "tests/bench/panels.h"

namespace ordo::tests::bench {

// Ratios over N and peak memory over N, each with a panel for each class, all
// on the same axes; those that have something to show.
std::vector<NamedFigure> FiguresOf(
    const model::benchmark::AttentionResults& results);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_ATTENTION_FIGURES_H_
