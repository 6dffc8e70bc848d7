#include "kernels/attention/check/changes.h"

#include <algorithm>
#include <utility>

namespace ordo::kernels::attention::check {

void Share(Problem* p) {
  p->heads *= 2;
  p->key_heads = p->heads / 3;
  p->values[0].heads = p->key_heads;
}

void AddState(Problem* p) {
  p->num_values = 2;
  p->values[1] = {2 * p->width, p->heads};
}

void AddEqualState(Problem* p) {
  AddState(p);
  p->values[1].width = p->width;
}

void Chunk(Problem* p) { p->queries = std::max<int64_t>(p->keys / 3, 1); }

void BothWays(Problem* p) { p->causal = false; }

void Pad(Problem* p) {
  p->batch = 3;
  p->padded = true;
}

void Bound(Problem* p) { p->bounded = true; }

void Position(Problem* p) { p->positioned = true; }

void Far(Problem* p) { p->reach = p->keys - 1; }

void Near(Problem* p) { p->reach = std::max<int64_t>(p->keys / 6, 1); }

void Bias(Problem* p) {
  Far(p);
  p->biased = true;
}

void NearBias(Problem* p) {
  Near(p);
  p->biased = true;
}

void Multiply(Problem* p) {
  Far(p);
  p->multiplied = true;
}

void NearMultiply(Problem* p) {
  Near(p);
  p->multiplied = true;
}

void Rectify(Problem* p) {
  Multiply(p);
  p->rectified = true;
}

std::function<void(Problem*)> Mod(ScoreMod mod, int64_t pieces) {
  return [mod, pieces](Problem* p) {
    Far(p);
    p->mod = mod;
    p->pieces = pieces;
  };
}

void AnyMod(Problem* p) { Mod(kScoreMods[0], 9)(p); }

void QueryBand(Problem* p) {
  Near(p);
  p->query_band = p->width;
}

void FullQueryBand(Problem* p) {
  Far(p);
  p->query_band = p->width;
  p->table_heads = p->heads;
}

void KeyBand(Problem* p) {
  Near(p);
  p->key_band = p->width;
}

void BothBands(Problem* p) {
  QueryBand(p);
  p->key_band = p->width;
  p->table_heads = p->heads;
}

void ByChannel(Problem* p) {
  Near(p);
  p->by_channel = true;
}

void FarPair(Problem* p) { p->far_from = std::max<int64_t>(p->keys / 4, 1); }

void Sums(Problem* p) {
  Near(p);
  p->summed = true;
}

void Count(Problem* p) {
  p->gates = Gates::kLogits;
  p->positions = std::max<int64_t>(p->keys / 8, 3);
}

void CountByKeys(Problem* p) {
  Count(p);
  p->gates = Gates::kOwn;
}

void CountToTheEnd(Problem* p) {
  Count(p);
  p->positions = p->keys + 2;
}

void CountBySlope(Problem* p) {
  p->gates = Gates::kLogits;
  p->positions = 0;
}

std::function<void(Problem*)> All(
    std::vector<std::function<void(Problem*)>> changes) {
  return [changes = std::move(changes)](Problem* p) {
    for (const auto& change : changes) change(p);
  };
}

namespace {

// Of values, of which key is seen, and of numbers added to logits.
std::vector<Change> ScalarChanges() {
  return {
      {"both_ways", BothWays},
      {"padded", Pad},
      {"shared_keys", Share},
      {"state", AddState},
      {"equal_state", AddEqualState},
      {"shared_keys_and_state", All({Share, AddState})},
      {"three_values", All({AddState,
                            [](Problem* p) {
                              p->num_values = 3;
                              p->values[2] = {8, p->heads};
                            }})},
      {"chunk", Chunk},
      {"one_query", [](Problem* p) { p->queries = 1; }},
      {"bounded", Bound},
      {"bounded_padded_chunk", All({Bound, Pad, Chunk})},
      {"bounded_both_ways", All({Bound, BothWays})},
      {"bounded_shared_chunk", All({Bound, Share, Chunk})},
      {"biased", Bias},
      {"near_biased", NearBias},
      {"biased_both_ways", All({BothWays, Bias})},
      {"near_biased_both_ways", All({BothWays, NearBias})},
      {"biased_padded_shared", All({Share, Bias, Pad})},
      {"biased_chunk", All({Bias, Chunk})},
      {"biased_chunk_both_ways", All({BothWays, Bias, Chunk})},
      {"biased_bounded", All({Bias, Bound})},
      {"biased_state", All({Bias, AddState})},
      {"positioned", All({Bias, Position})},
      {"positioned_both_ways", All({BothWays, NearBias, Position})},
      {"positioned_padded_chunk", All({Bias, Position, Pad, Chunk})},
      {"multiplied", Multiply},
      {"multiplied_both_ways", All({BothWays, Multiply, Bias})},
      {"rectified", Rectify},
      {"rectified_shared_chunk", All({Share, Rectify, Chunk})},
      {"rectified_near_padded_both_ways", All({BothWays, Rectify, Near, Pad})},
      {"rectified_positioned", All({Rectify, Position, Pad})},
      {"tables", All({Share, AddState, Rectify, Bias, AnyMod, Bound, Chunk})},
      {"tables_positioned", All({Rectify, Bias, AnyMod, Position, Pad})},
  };
}

// Each of the score mods that there are.
std::vector<Change> ModChanges() {
  std::vector<Change> changes;
  for (const ScoreMod mod : kScoreMods) {
    const std::string name = LabelOf(mod);
    const auto pieces = Mod(mod, 9);
    changes.push_back({name, pieces});
    changes.push_back({name + "_both_ways", All({BothWays, pieces})});
    changes.push_back(
        {name + "_positioned_chunk", All({pieces, Position, Pad, Chunk})});
    changes.push_back({name + "_whole", All({Share, Mod(mod, 1)})});
  }
  return changes;
}

// Of vectors of distances, of a second pair of q and k, and of gates.
std::vector<Change> VectorChanges() {
  return {
      {"query_band", QueryBand},
      {"query_band_full", FullQueryBand},
      {"query_band_full_both_ways", All({BothWays, FullQueryBand})},
      {"query_band_shared_chunk", All({Share, QueryBand, Chunk})},
      {"query_band_padded_biased", All({QueryBand, Pad, NearBias})},
      {"query_band_positioned", All({FullQueryBand, Position})},
      {"key_band", KeyBand},
      {"both_bands", BothBands},
      {"both_bands_both_ways", All({BothWays, BothBands})},
      {"both_bands_shared", All({Share, BothBands, Chunk})},
      {"both_bands_positioned", All({BothBands, Position, Pad, Chunk})},
      {"both_bands_positioned_both_ways", All({BothWays, BothBands, Position})},
      {"both_bands_bounded", All({BothBands, Bound})},
      {"by_channel", ByChannel},
      {"by_channel_both_ways", All({BothWays, ByChannel})},
      {"by_channel_shared_chunk", All({Share, ByChannel, Chunk, Pad})},
      {"by_channel_positioned", All({BothWays, ByChannel, Position})},
      {"far_pair", FarPair},
      {"far_pair_shared_chunk", All({Share, FarPair, Chunk, Pad})},
      {"far_pair_positioned", All({FarPair, Position})},
      {"far_pair_bands", All({FarPair, BothBands, Bound})},
      {"far_pair_biased", All({FarPair, Bias})},
      {"far_pair_near_biased_chunk", All({FarPair, NearBias, Pad, Chunk})},
      {"far_pair_mod", All({FarPair, AnyMod})},
      {"summed", Sums},
      {"summed_full", All({Sums, Far})},
      {"summed_positioned", All({Sums, Position, Pad})},
      {"summed_band_both_ways", All({BothWays, QueryBand, Sums})},
      {"summed_padded_chunk", All({Sums, Pad, Chunk, AddState})},
      {"counted", Count},
      {"counted_both_ways", All({BothWays, Count})},
      {"counted_shared_chunk", All({Share, Count, Chunk})},
      {"counted_padded_biased", All({Count, Pad, Bias})},
      {"counted_by_keys", CountByKeys},
      {"counted_by_keys_shared", All({Share, CountByKeys, Chunk})},
      {"counted_by_keys_padded_both_ways",
       All({CountByKeys, Pad, BothWays, Bias})},
      {"counted_by_slope", CountBySlope},
      {"counted_by_slope_shared",
       All({Share, CountBySlope, NearBias, Pad, Chunk})},
      {"counted_rectified_positioned", All({Count, Rectify, AnyMod, Position})},
      {"counted_bounded_state", All({Count, Bound, AddState})},
      {"counted_once", All({Count, [](Problem* p) { p->positions = 1; }})},
      {"counted_to_the_end", CountToTheEnd},
  };
}

}  // namespace

std::string LabelOf(ScoreMod mod) { return std::string("mod_") + NameOf(mod); }

std::vector<Change> Changes() {
  std::vector<Change> changes = ScalarChanges();
  for (const auto& more : {ModChanges(), VectorChanges()}) {
    changes.insert(changes.end(), more.begin(), more.end());
  }
  return changes;
}

void PrintTo(const Change& change, std::ostream* out) { *out << change.label; }

}  // namespace ordo::kernels::attention::check
