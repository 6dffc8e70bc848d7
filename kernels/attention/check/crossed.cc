#include "kernels/attention/check/crossed.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "kernels/attention/check/changes.h"
#include "kernels/attention/check/covering.h"

namespace ordo::kernels::attention::check {
namespace {

// Of groups of a third of the tokens, shifted by half of one in the second
// half of the heads (shifted sparse attention).
void DrawGroups(const Problem& p, Tensors* x) {
  const int64_t group = std::max<int64_t>(p.keys / 3, 1);
  for (size_t i = 0; i < x->first_BHT.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i);
    const int64_t head = row / p.queries % p.heads;
    const int64_t token = p.keys - p.queries + row % p.queries;
    const int64_t shift = head < p.heads / 2 ? 0 : group / 2;
    const int64_t first = (token + shift) / group * group - shift;
    x->first_BHT[i] = static_cast<int32_t>(std::max<int64_t>(first, 0));
  }
}

void FullQueryBandOfAll(Problem* p) {
  FullQueryBand(p);
  p->table_heads = 1;
}

void BothBandsOfAll(Problem* p) {
  BothBands(p);
  p->table_heads = 1;
}

void CountBySlopeOfKeys(Problem* p) {
  CountBySlope(p);
  p->gates = Gates::kOwn;
}

// The weights' sums by distance, whatever distances there are.
void SumByDistance(Problem* p) { p->summed = true; }

Axis Kinds() {
  Axis kinds = {
      "kind",
      {
          {"rope", [](Problem* /*p*/) {}},
          // And sandwich, and learned tables.
          {"kerple", Bias},
          {"t5", NearBias},
          {"alibi", Bias, DrawFallingBias},
          // And huang2.
          {"huang1", NearMultiply},
          {"da_transformer", Rectify},
          {"huang3", ByChannel},
          {"shaw", QueryBand},
          {"shaw_full", FullQueryBandOfAll},
          {"shaw_values", All({QueryBand, SumByDistance})},
          {"shaw_full_values", All({FullQueryBandOfAll, SumByDistance})},
          {"transformer_xl", FullQueryBand},
          {"huang4", BothBandsOfAll},
          {"deberta", BothBands},
          {"rerope", FarPair},
          {"cope", Count},
          {"cope_own_gates", CountByKeys},
          {"cope_slope", CountBySlope},
          {"cope_slope_own_gates", CountBySlopeOfKeys},
          {"cope_to_the_end", CountToTheEnd},
      }};
  for (const ScoreMod mod : kScoreMods) {
    kinds.variants.push_back({LabelOf(mod), Mod(mod, 9)});
    kinds.variants.push_back({LabelOf(mod) + "_whole", Mod(mod, 1)});
  }
  return kinds;
}

Axis Widths(const std::vector<int64_t>& widths) {
  Axis axis = {"width", {}};
  for (const int64_t width : widths) {
    axis.variants.push_back({"w" + std::to_string(width), [width](Problem* p) {
                               const Problem plain = Plain(p->keys, width);
                               p->width = p->values[0].width = width;
                               p->scale = plain.scale;
                             }});
  }
  return axis;
}

Axis Lengths(const std::vector<int64_t>& lengths) {
  Axis axis = {"length", {}};
  for (const int64_t length : lengths) {
    axis.variants.push_back(
        {"n" + std::to_string(length),
         [length](Problem* p) { p->queries = p->keys = length; }});
  }
  return axis;
}

std::function<void(Problem*)> Heads(int64_t heads, int64_t key_heads) {
  return [=](Problem* p) {
    p->heads = heads;
    p->key_heads = p->values[0].heads = key_heads;
  };
}

// TAPE's state, and one that heads share as they share keys.
std::function<void(Problem*)> Values(int count) {
  return [count](Problem* p) {
    p->num_values = count;
    if (count > 1) p->values[1] = {p->width, p->heads};
    if (count > 2) p->values[2] = {p->width / 2, p->key_heads};
  };
}

// The first value beside q.
std::function<void(Problem*)> ValueOf(double share) {
  return [share](Problem* p) {
    p->values[0].width = std::llround(share * static_cast<double>(p->width));
  };
}

// Which keys a query may see, and how far apart they are.
std::vector<Axis> Sights(bool one_query) {
  const auto as_it_is = [](Problem* /*p*/) {};
  Axis queries = {"queries", {{"", as_it_is}, {"chunk", Chunk}}};
  if (one_query) {
    queries.variants.push_back(
        {"one_query", [](Problem* p) { p->queries = 1; }});
  }
  return {std::move(queries),
          {"mask", {{"", as_it_is}, {"both_ways", BothWays}}},
          {"first keys",
           {{"", as_it_is}, {"windows", Bound}, {"groups", Bound, DrawGroups}}},
          {"padding", {{"", as_it_is}, {"padded", Pad}}},
          {"positions", {{"", as_it_is}, {"ids", Position}}}};
}

// The kind last, as it depends on the sizes.
Problem Applied(const std::vector<Axis>& axes, const Row& row) {
  Problem p = Plain(1, 1);
  p.batch = 1;
  for (size_t axis = 1; axis < axes.size(); ++axis) {
    axes[axis].variants[row[axis]].apply(&p);
  }
  axes[0].variants[row[0]].apply(&p);
  return p;
}

Case CaseOf(const std::vector<Axis>& axes, const Row& row) {
  Case c;
  c.problem = Applied(axes, row);
  std::vector<void (*)(const Problem& problem, Tensors* tensors)> draws;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const Variant& variant = axes[axis].variants[row[axis]];
    if (!variant.label.empty()) {
      c.label += (c.label.empty() ? "" : "_") + variant.label;
    }
    if (variant.draw != nullptr) draws.push_back(variant.draw);
  }
  if (draws.empty()) return c;
  c.draw = [draws](const Problem& problem, Tensors* tensors) {
    for (const auto& draw : draws) draw(problem, tensors);
  };
  return c;
}

}  // namespace

std::vector<CrossedSizes> UsualSizes() {
  return {{{32, 64, 96, 128, 256}, {70, 131}},
          {{32, 64}, {1, 17, 64, 131}, /*one_query=*/true}};
}

std::vector<Axis> CrossedAxes(const CrossedSizes& sizes) {
  std::vector<Axis> axes = {
      Kinds(),
      Widths(sizes.widths),
      Lengths(sizes.lengths),
      {"heads",
       {{"", Heads(2, 2)}, {"grouped", Heads(4, 2)}, {"one_key", Heads(2, 1)}}},
      {"values", {{"", Values(1)}, {"two", Values(2)}, {"three", Values(3)}}},
      {"value width",
       {{"", ValueOf(1)}, {"narrow", ValueOf(0.75)}, {"wide", ValueOf(1.25)}}}};
  for (Axis& axis : Sights(sizes.one_query)) {
    axes.push_back(std::move(axis));
  }
  return axes;
}

void PrintTo(const Crossed& crossed, std::ostream* out) {
  PrintTo(crossed.of, out);
}

namespace {

std::vector<Crossed> Cross(
    const CrossedSizes& sizes,
    const std::function<bool(const Problem& problem)>& is_done) {
  const std::vector<Axis> axes = CrossedAxes(sizes);
  std::vector<int> counts;
  for (const Axis& axis : axes) {
    counts.push_back(static_cast<int>(axis.variants.size()));
  }
  const auto may_be = [&](const Row& row) {
    const Problem p = Applied(axes, row);
    if (p.far_from > 0 && !p.causal) return false;
    return is_done == nullptr || is_done(p);
  };
  std::vector<Crossed> crossed;
  for (Row& row : CoveringRows(counts, may_be)) {
    crossed.push_back({CaseOf(axes, row), std::move(row)});
  }
  return crossed;
}

}  // namespace

std::vector<Crossed> CrossedProblems(
    const std::vector<CrossedSizes>& sizes,
    const std::function<bool(const Problem& problem)>& is_done) {
  std::vector<Crossed> all;
  std::set<std::string> labels;
  for (const CrossedSizes& each : sizes) {
    for (Crossed& crossed : Cross(each, is_done)) {
      if (!labels.insert(crossed.of.label).second) continue;
      all.push_back(std::move(crossed));
    }
  }
  return all;
}

}  // namespace ordo::kernels::attention::check
