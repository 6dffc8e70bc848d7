#include "kernels/attention/testing/hopper_problems.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/check/problems.h"

namespace ordo::kernels::attention::testing {
namespace {

using check::Case;

// TAPE's with wide heads, whose gradients two kernels have: of several tiles of
// keys, and beside a bias, for which there are no such kernels.
std::vector<Case> WideStates(const Case& state) {
  Case shared = state, biased = state;
  shared.label = "wide_state_shared_bounded_bf16";
  Problem& p = shared.problem;
  p.queries = p.keys = 150;
  p.heads = p.values[1].heads = 4;
  p.key_heads = p.values[0].heads = 2;
  p.bounded = true;
  biased.label = "wide_state_biased_bf16";
  biased.problem.biased = true;
  biased.problem.reach = biased.problem.keys - 1;
  return {state, shared, biased};
}

// Vectors of distances in rows of many tiles, most of whose keys are as far as
// any can be: of heads that share keys, of a chunk that begins within a tile,
// beside a wide state, and of as many distances and columns as there may be.
// Blocks of dX have several tiles of queries, and threads that sum up its parts
// more of these than they read at once.
std::vector<Case> LongBands(const Case& band) {
  Case shared = band, padded = band, state = band, most = band;
  for (Case* const c : {&shared, &padded, &state, &most}) {
    c->problem.queries = c->problem.keys = 330;
    c->problem.batch = 1;
  }
  shared.label = "long_query_band_shared_bf16";
  shared.problem.heads = 4;
  shared.problem.key_heads = shared.problem.values[0].heads = 2;
  shared.problem.queries = 301;
  padded.label = "long_query_band_padded_bounded_bf16";
  padded.problem.batch = 2;
  padded.problem.padded = padded.problem.bounded = true;
  padded.problem.table_heads = padded.problem.heads;
  state.label = "long_query_band_state_bf16";
  state.problem.num_values = 2;
  state.problem.values[1] = {64, state.problem.heads};
  most.label = "long_query_band_128_of_64_distances_bf16";
  most.problem.reach = 63;
  most.problem.query_band = 128;
  return {shared, padded, state, most};
}

// A far pair of q and k, with the edge of what is near within tiles and on
// theirs, at each key, at the first one and nowhere; of heads that share keys,
// of a chunk that begins within a tile, beside masks, of cached decoding, of a
// single token and in fp16.
std::vector<Case> FarPairs() {
  Problem p = check::Plain(330, 64);
  p.type = Type::kBfloat16;
  p.batch = 1;
  p.heads = p.key_heads = p.values[0].heads = 2;
  p.far_from = 100;
  Problem edge = p, keys = p, last = p, none = p, shared = p, masked = p;
  Problem query = p, token = p, halves = p;
  edge.far_from = 128;
  keys.queries = keys.keys = last.queries = last.keys = 150;
  keys.far_from = 1;
  last.far_from = last.keys - 1;
  none.queries = none.keys = 150;
  none.far_from = int64_t{1} << 40;
  shared.heads = 4;
  shared.queries = 301;
  shared.far_from = 64;
  masked.batch = 3;
  masked.queries = masked.keys = 200;
  masked.far_from = 13;
  masked.padded = masked.bounded = true;
  query.queries = 1;
  token.queries = token.keys = 1;
  token.far_from = 1;
  halves.type = Type::kFloat16;
  halves.queries = halves.keys = 200;
  return {{"far_pair_within_a_tile_bf16", p},
          {"far_pair_at_a_tile_bf16", edge},
          {"far_pair_at_each_key_bf16", keys},
          {"far_pair_at_the_first_key_bf16", last},
          {"far_pair_beyond_all_keys_bf16", none},
          {"far_pair_shared_long_chunk_bf16", shared},
          {"far_pair_padded_bounded_bf16", masked},
          {"far_pair_one_query_bf16", query},
          {"far_pair_one_token_bf16", token},
          {"far_pair_long_fp16", halves}};
}

// The same of wide keys, beside a state, and beside one so wide that there is a
// forward pass only.
std::vector<Case> WideFarPairs() {
  Problem wide = check::Plain(200, 128);
  wide.type = Type::kBfloat16;
  wide.batch = 1;
  wide.heads = wide.key_heads = wide.values[0].heads = 2;
  wide.far_from = 70;
  Problem state = wide, wide_state = wide;
  state.width = 64;
  state.num_values = wide_state.num_values = 2;
  state.values[0].width = 64;
  state.values[1] = {64, state.heads};
  wide_state.values[1] = {128, wide_state.heads};
  return {{"far_pair_wide_bf16", wide},
          {"far_pair_state_bf16", state},
          {"far_pair_wide_state_bf16", wide_state}};
}

// t falls from level to level, and most of all tiles see one: a pair's number
// is far from all knots, of which some lie between pairs of a block, and others
// between tiles.
void DrawLevels(const Problem& p, Tensors* tensors) {
  std::vector<double>& t = tensors->inputs[kModDistance];
  for (int64_t i = 0; i < p.distances(); ++i) {
    const int64_t d = std::abs(i - p.reach);
    t[i] = static_cast<double>(d < 50 ? d / 5 : 10 + d / 200) / 4 - 1;
  }
  std::vector<double>& r = tensors->inputs[kModQuery];
  for (size_t i = 0; i < r.size(); ++i) r[i] = i % 250 < 100 ? 1 : -0.5;
  for (size_t i = 0; i < tensors->knots.size(); ++i) {
    tensors->knots[i] = static_cast<double>(i) / 4 - 1.15625;
  }
}

// With a score mod: of a single token, of cached decoding, in fp16, and beside
// states so wide that there is a forward pass only.
std::vector<Case> SmallModProblems(ScoreMod mod) {
  Problem p = check::Plain(70, 64);
  p.type = Type::kBfloat16;
  p.batch = 1;
  p.heads = 2;
  p.key_heads = p.values[0].heads = 1;
  p.mod = mod;
  p.pieces = 9;
  p.reach = p.keys - 1;
  Problem token = p, query = p, halves = p, state = p;
  token.queries = token.keys = 1;
  token.reach = 0;
  query.queries = 1;
  halves.type = Type::kFloat16;
  state.width = state.values[0].width = 128;
  state.num_values = 2;
  state.values[1] = {128, state.heads};
  const std::string name = check::LabelOf(mod);
  return {{name + "_one_token_bf16", token},
          {name + "_one_query_bf16", query},
          {name + "_shared_fp16", halves},
          {name + "_wide_state_bf16", state}};
}

// With score mods: heads that share keys and have theta of their own, in tiles
// of several blocks; beside masks; and of wide keys.
std::vector<Case> ModProblems() {
  std::vector<Case> cases;
  for (const ScoreMod mod : kScoreMods) {
    Problem levels = check::Plain(450, 64);
    levels.type = Type::kBfloat16;
    levels.batch = 1;
    levels.heads = 2;
    levels.key_heads = levels.values[0].heads = 1;
    levels.mod = mod;
    levels.pieces = 9;
    levels.reach = levels.keys - 1;
    Problem masked = levels;
    masked.keys = 150;
    masked.queries = 140;
    masked.batch = 3;
    masked.reach = 60;
    masked.causal = false;
    masked.padded = true;
    Problem wide = masked;
    wide.width = wide.values[0].width = 128;
    wide.causal = wide.bounded = true;
    wide.padded = false;
    const std::string name = check::LabelOf(mod);
    cases.push_back({name + "_levels_shared_bf16", levels, DrawLevels});
    cases.push_back({name + "_padded_shared_both_ways_bf16", masked});
    cases.push_back({name + "_bounded_shared_wide_bf16", wide});
    for (Case& c : SmallModProblems(mod)) cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

std::vector<Case> HopperProblems() {
  const std::set<std::string> chosen = {"equal_state_1x40_bf16",
                                        "biased_padded_shared_1x40_bf16",
                                        "biased_chunk_70x128_bf16",
                                        "biased_padded_shared_70x128_bf16",
                                        "near_biased_both_ways_70x128_bf16",
                                        "bounded_shared_chunk_70x128_bf16",
                                        "multiplied_70x128_bf16",
                                        "rectified_shared_chunk_70x128_bf16",
                                        "far_pair_70x128_bf16",
                                        "query_band_1x40_bf16",
                                        "query_band_70x128_bf16"};
  std::vector<Case> all = check::Problems();
  const auto band = std::find_if(all.begin(), all.end(), [](const Case& c) {
    return c.label == "query_band_bf16";
  });
  for (Case& c : LongBands(Case(*band))) all.push_back(std::move(c));
  for (Case& c : check::SizedProblems()) {
    if (c.label == "equal_state_70x128_bf16") {
      for (Case& wide : WideStates(c)) all.push_back(std::move(wide));
    }
    if (chosen.count(c.label) > 0) all.push_back(std::move(c));
  }
  for (const auto& more : {ModProblems(), FarPairs(), WideFarPairs()}) {
    for (const Case& c : more) all.push_back(c);
  }
  return all;
}

}  // namespace ordo::kernels::attention::testing
