#include "kernels/attention/check/problems.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

namespace ordo::kernels::attention::check {

void PrintTo(const Case& c, std::ostream* out) { *out << c.label; }

Problem Plain(int64_t length, int64_t width) {
  Problem p;
  p.batch = 2;
  p.heads = p.key_heads = 3;
  p.queries = p.keys = length;
  p.width = width;
  p.values[0] = {width, p.heads};
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
  return p;
}

Case InBfloat16(const Case& c) {
  Case halves = c;
  halves.label += "_bf16";
  halves.problem.type = Type::kBfloat16;
  return halves;
}

namespace {

Case InFloat16(const Case& c) {
  Case halves = c;
  halves.label += "_fp16";
  halves.problem.type = Type::kFloat16;
  return halves;
}

// In bf16 too, and the chosen ones in fp16: it is bf16's code with other
// products.
std::vector<Case> InTypes(std::vector<Case> cases,
                          const std::set<std::string>& chosen) {
  const size_t count = cases.size();
  for (size_t i = 0; i < count; ++i) cases.push_back(InBfloat16(cases[i]));
  for (size_t i = 0; i < count; ++i) {
    if (chosen.count(cases[i].label) > 0) cases.push_back(InFloat16(cases[i]));
  }
  return cases;
}

}  // namespace

void DrawFallingBias(const Problem& p, Tensors* tensors) {
  std::vector<double>& bias = tensors->inputs[kBias];
  const int64_t length = p.distances();
  double slope = 1;
  for (int64_t head = 0; head < p.heads; ++head, slope /= 4) {
    for (int64_t place = 0; place < length; ++place) {
      const auto distance = static_cast<double>(std::abs(place - p.reach));
      bias[head * length + place] = -slope * distance;
    }
  }
}

namespace {

// One key has a product of 268 with all queries, all others have 0: 268 keys on
// it weighs as much as the query's own under a falling bias. It is the last of
// its tile, and a tile of queries begins where it still matters.
void DrawLargeKey(const Problem& p, Tensors* tensors) {
  DrawFallingBias(p, tensors);
  std::vector<double>& q = tensors->inputs[kQ];
  std::vector<double>& k = tensors->inputs[kK];
  std::fill(q.begin(), q.end(), 0.0);
  std::fill(k.begin(), k.end(), 0.0);
  for (int64_t t = 0; t < p.queries; ++t) q[t * p.width] = 4;
  k[127 * p.width] = 67;
}

// Biases that leave keys no weight, in rows of many tiles.
std::vector<Case> FallingProblems() {
  Problem chunk = Plain(560, 32);
  chunk.batch = 1;
  Bias(&chunk);
  Problem falling = chunk;
  All({Share, Chunk})(&chunk);
  falling.heads = falling.key_heads = falling.values[0].heads = 2;
  Problem padded = falling;
  All({Pad, Bound})(&padded);
  Problem large = falling;
  large.heads = large.key_heads = large.values[0].heads = 1;
  large.scale = 1;
  return {{"falling", falling, DrawFallingBias},
          {"falling_shared_chunk", chunk, DrawFallingBias},
          {"falling_padded_bounded", padded, DrawFallingBias},
          {"falling_large_key", large, DrawLargeKey}};
}

}  // namespace

std::vector<Case> Problems() {
  std::vector<Case> cases;
  for (const int64_t length : {1, 2, 63, 64, 65, 130, 200}) {
    cases.push_back({"length_" + std::to_string(length), Plain(length, 32)});
  }
  for (const int64_t width : {5, 8, 24, 64, 72, 80, 96, 128, 256}) {
    cases.push_back({"width_" + std::to_string(width), Plain(70, width)});
  }
  cases.push_back({"steep", Plain(131, 32)});
  cases.back().problem.scale = 30;
  // More keys than any kernel has tiles of on their way.
  cases.push_back({"long_chunk", Plain(700, 32)});
  cases.back().problem.queries = 20;
  // Gates are open or closed; most counts end tiles before the rows do.
  cases.push_back({"counted_steep", Plain(131, 32)});
  Count(&cases.back().problem);
  cases.back().problem.scale = 30;
  cases.push_back({"counted_long", Plain(200, 16)});
  Count(&cases.back().problem);
  for (const Change& change : Changes()) {
    cases.push_back({change.label, Plain(131, 32)});
    change.apply(&cases.back().problem);
  }
  for (Case& c : FallingProblems()) cases.push_back(std::move(c));
  // All that makes numbers of its own, large ones and small ones.
  return InTypes(std::move(cases), {"length_1",
                                    "length_65",
                                    "width_64",
                                    "steep",
                                    "long_chunk",
                                    "padded",
                                    "shared_keys_and_state",
                                    "biased_padded_shared",
                                    "near_biased_both_ways",
                                    "rectified_near_padded_both_ways",
                                    "tables",
                                    "both_bands_shared",
                                    "both_bands_bounded",
                                    "summed_padded_chunk",
                                    "summed_band_both_ways",
                                    "far_pair_shared_chunk",
                                    "counted_steep",
                                    "counted_padded_biased",
                                    "counted_by_keys_shared",
                                    "counted_by_slope"});
}

std::vector<Case> SizedProblems() {
  const struct {
    Type type;
    int64_t length;
    int64_t width;
  } sizes[] = {
      {Type::kFloat32, 1, 40},   {Type::kFloat32, 2, 5},
      {Type::kFloat32, 63, 24},  {Type::kFloat32, 65, 72},
      {Type::kBfloat16, 1, 40},  {Type::kBfloat16, 17, 5},
      {Type::kBfloat16, 64, 24}, {Type::kBfloat16, 70, 128},
  };
  std::vector<Case> cases;
  for (const auto& size : sizes) {
    for (const Change& change : Changes()) {
      Case c = {change.label + "_" + std::to_string(size.length) + "x" +
                    std::to_string(size.width),
                Plain(size.length, size.width)};
      c.problem.batch = 1;
      change.apply(&c.problem);
      cases.push_back(size.type == Type::kFloat32 ? c : InBfloat16(c));
    }
  }
  return cases;
}

namespace {

// One row of tokens.
Problem Small(Device device, int64_t length, int64_t width) {
  Problem p = Plain(length, width);
  p.batch = 1;
  p.device = device;
  return p;
}

// With each term, one by one.
std::vector<Case> SmallChanges(const Problem& plain) {
  std::set<std::string> chosen = {
      "both_ways",       "padded",     "shared_keys", "state",
      "equal_state",     "chunk",      "bounded",     "biased",
      "near_biased",     "positioned", "multiplied",  "rectified",
      "query_band",      "key_band",   "both_bands",  "by_channel",
      "far_pair",        "summed",     "counted",     "counted_by_keys",
      "counted_by_slope"};
  for (const ScoreMod mod : kScoreMods) chosen.insert(LabelOf(mod));
  std::vector<Case> cases = {{"plain", plain}};
  for (const Change& change : Changes()) {
    if (chosen.count(change.label) == 0) continue;
    cases.push_back({change.label, plain});
    change.apply(&cases.back().problem);
  }
  return cases;
}

// Kernels of GPUs are built for few widths, each of which is code of its own:
// states make values wide, and here q and k are.
std::vector<Case> WideProblems() {
  const Problem plain = Small(Device::kCuda, 65, 128);
  Problem counted = plain;
  Count(&counted);
  return {{"plain_wide", plain}, {"counted_wide", counted}};
}

// Rings of tiles go round, blocks take turns, and tiles are left out. One head:
// the judge takes its time for each pair.
std::vector<Case> LongProblems() {
  Problem rows = Small(Device::kCuda, 700, 64);
  rows.heads = rows.key_heads = rows.values[0].heads = 1;
  Problem biased = rows, open = rows, vectors = rows, falling = rows;
  Problem modified = rows, far = rows;
  Bias(&biased);
  All({BothWays, Bias})(&open);
  vectors.queries = vectors.keys = far.queries = far.keys = 330;
  QueryBand(&vectors);
  vectors.reach = 40;
  falling.queries = falling.keys = 400;
  Bias(&falling);
  modified.queries = modified.keys = 400;
  AnyMod(&modified);
  FarPair(&far);
  return {{"long", rows},
          {"long_biased", biased},
          {"long_biased_both_ways", open},
          {"long_query_band", vectors},
          {"long_mod", modified},
          {"long_far_pair", far},
          {"long_falling", falling, DrawFallingBias}};
}

}  // namespace

std::vector<Case> SmallProblems(Device device) {
  const std::set<std::string> halves = {"plain",  "state",      "equal_state",
                                        "biased", "both_bands", "counted"};
  const bool is_gpu = device == Device::kCuda;
  const std::vector<Case> changes =
      SmallChanges(Small(device, 65, is_gpu ? 64 : 16));
  std::vector<Case> cases;
  for (const Case& c : changes) {
    const bool chosen = halves.count(c.label) > 0;
    if (!is_gpu) cases.push_back(c);
    if (is_gpu || chosen) cases.push_back(InBfloat16(c));
    if (is_gpu && chosen) cases.push_back(InFloat16(c));
  }
  if (!is_gpu) return cases;
  for (const auto& more : {WideProblems(), LongProblems()}) {
    for (const Case& c : more) cases.push_back(InBfloat16(c));
  }
  return cases;
}

int64_t ProductsOf(const Problem& p) {
  int64_t pairs = p.queries * p.keys;
  if (p.causal) pairs -= p.queries * (p.queries - 1) / 2;
  int64_t width = p.width + p.query_band + p.key_band;
  for (int v = 0; v < p.num_values; ++v) width += p.values[v].width;
  return p.batch * p.heads * pairs * width;
}

}  // namespace ordo::kernels::attention::check
