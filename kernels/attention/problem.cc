#include "kernels/attention/problem.h"

namespace ordo::kernels::attention {
namespace {

struct InputRow {
  const char* name;
  bool is_table;
  Shape (*shape)(const Problem& p);
};

Shape OfQueries(const Problem& p, int64_t width) {
  return {p.batch, p.heads, p.queries, width};
}
Shape OfKeys(const Problem& p, int64_t width) {
  return {p.batch, p.key_heads, p.keys, width};
}
Shape OfHeads(const Problem& p, int64_t width) {
  return {1, p.heads, 1, width};
}
Shape OfDistances(const Problem& p, int64_t width) {
  return {1, p.table_heads, p.distances(), width};
}

template <int v>
Shape OfValue(const Problem& p) {
  if (v >= p.num_values) return {};
  return {p.batch, p.values[v].heads, p.keys, p.values[v].width};
}

template <bool Problem::*has>
Shape Table(const Problem& p) {
  return p.*has ? OfHeads(p, p.distances()) : Shape{};
}

// In the order of Input.
constexpr InputRow kInputs[] = {
    {"q", false, [](const Problem& p) { return OfQueries(p, p.width); }},
    {"k", false, [](const Problem& p) { return OfKeys(p, p.width); }},
    {"value 0", false, OfValue<0>},
    {"value 1", false, OfValue<1>},
    {"value 2", false, OfValue<2>},
    {"bias", true, Table<&Problem::biased>},
    {"multiplier", true, Table<&Problem::multiplied>},
    {"mod distance", true,
     [](const Problem& p) {
       return HasMod(p) ? Shape{1, 1, 1, p.distances()} : Shape{};
     }},
    {"mod query", true,
     [](const Problem& p) {
       return HasMod(p) ? Shape{p.batch, 1, 1, p.queries} : Shape{};
     }},
    {"mod parameter", true,
     [](const Problem& p) { return OfHeads(p, ParametersOf(p)); }},
    {"query band", false,
     [](const Problem& p) { return OfQueries(p, p.query_band); }},
    {"query vector", false,
     [](const Problem& p) { return OfDistances(p, p.query_band); }},
    {"key band", false, [](const Problem& p) { return OfKeys(p, p.key_band); }},
    {"key vector", false,
     [](const Problem& p) { return OfDistances(p, p.key_band); }},
    {"channel", false,
     [](const Problem& p) {
       return OfDistances(p, p.by_channel ? p.width : 0);
     }},
    {"far q", false,
     [](const Problem& p) {
       return OfQueries(p, p.far_from > 0 ? p.width : 0);
     }},
    {"far k", false,
     [](const Problem& p) { return OfKeys(p, p.far_from > 0 ? p.width : 0); }},
    {"gate q", false,
     [](const Problem& p) {
       return OfQueries(p, p.gates == Gates::kOwn ? p.width : 0);
     }},
    {"gate k", false,
     [](const Problem& p) {
       return OfKeys(p, p.gates == Gates::kOwn ? p.width : 0);
     }},
    {"position term", false,
     [](const Problem& p) { return OfQueries(p, p.positions); }},
    {"position slope", true,
     [](const Problem& p) {
       return OfHeads(p, p.gates != Gates::kNone && p.positions == 0 ? 1 : 0);
     }},
};
static_assert(sizeof kInputs / sizeof kInputs[0] == kNumInputs);

Shape OrNone(const Shape& shape) { return shape.width == 0 ? Shape{} : shape; }

}  // namespace

Shape ShapeOf(const Problem& problem, Input input) {
  return OrNone(kInputs[input].shape(problem));
}

Shape ShapeOf(const Problem& problem, Output output) {
  if (output == kSummed) {
    return OrNone(OfQueries(problem, problem.summed ? problem.distances() : 0));
  }
  const int v = output - kMixed;
  if (v >= problem.num_values) return {};
  return OfQueries(problem, problem.values[v].width);
}

bool IsTable(Input input) { return kInputs[input].is_table; }

const char* NameOf(Input input) { return kInputs[input].name; }

const char* NameOf(Output output) {
  constexpr const char* kNames[] = {"mixed 0", "mixed 1", "mixed 2", "summed"};
  static_assert(sizeof kNames / sizeof kNames[0] == kNumOutputs);
  return kNames[output];
}

}  // namespace ordo::kernels::attention
