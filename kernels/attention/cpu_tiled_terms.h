#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_TERMS_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_TERMS_H_

#include <stdint.h>

#include "kernels/attention/cpu_tiled_band_gradients.h"
#include "kernels/attention/cpu_tiled_bands.h"
#include "kernels/attention/cpu_tiled_channel.h"
#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_far.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_pair.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/attention/cpu_tiled_spread.h"

// What a_ij over the scale is of a tile: q and k, and what takes their place or
// is added to them.

namespace ordo::kernels::attention {
namespace {

constexpr PairInputs kPair = {kQ, kK};
constexpr PairInputs kFarPair = {kFarQ, kFarK};

struct TermsRoom {
  PairRoom pair;
  PairRoom far;
  float* far_scores;
  ChannelRoom channel;
  BandRoom query_band;
  BandRoom key_band;
};

PairRoom MakePairRoom(const Problem& p, bool has, Arena* arena) {
  PairRoom room;
  const int64_t own = has && !IsDirect(p.type, p.width) ? Padded(p.width) : 0;
  room.q = arena->Floats(p.queries * own);
  room.k = arena->Floats(p.keys * own);
  room.dq = arena->Floats(p.queries * own);
  room.dk = arena->Floats(p.keys * own);
  room.transposed_k = arena->Floats(has ? Tokens(p) * p.width : 0);
  return room;
}

TermsRoom MakeTermsRoom(const Problem& p, Arena* arena) {
  TermsRoom room;
  room.pair = MakePairRoom(p, true, arena);
  room.far = MakePairRoom(p, p.far_from > 0, arena);
  room.far_scores = arena->Floats(p.far_from > 0 ? kTile * kTile : 0);
  room.channel = MakeChannelRoom(p, arena);
  room.query_band = MakeBandRoom(p, p.query_band, false, arena);
  room.key_band = MakeBandRoom(p, p.key_band, true, arena);
  return room;
}

// Of a head; the pair, and those that the problem has.
struct Terms {
  Pair pair;
  Far far;
  Channel channel;
  Band query_band;
  Band key_band;
};

// `ids` are the position ids of the tokens; null: their numbers.
Terms PrepareTerms(const HeadAt& at, const TermsRoom& room,
                   const int32_t* ids) {
  const Problem& p = at.problem();
  Terms terms = {};
  terms.pair = PreparePair(at, kPair, room.pair);
  if (p.by_channel) {
    terms.channel = PrepareChannel(at, room.channel, ids, terms.pair);
  }
  if (p.far_from > 0) {
    terms.far = {&p, ids, terms.pair, PreparePair(at, kFarPair, room.far),
                 room.far_scores};
  }
  if (p.query_band > 0) {
    terms.query_band = PrepareBand(at, room.query_band, false, ids);
  }
  if (p.key_band > 0) {
    terms.key_band = PrepareBand(at, room.key_band, true, ids);
  }
  return terms;
}

// A tile's products.
void MultiplyTerms(const Problem& p, const Terms& terms, const Place& place,
                   float* scores) {
  if (p.by_channel) {
    MultiplyByChannel(terms.channel, place, scores);
  } else if (p.far_from > 0) {
    MultiplyNearOrFar(terms.far, place, scores);
  } else {
    MultiplyPair(terms.pair, place, scores);
  }
  if (p.query_band > 0) AddQueryBand(terms.query_band, place, scores);
  if (p.key_band > 0) AddKeyBand(terms.key_band, place, scores);
}

// Zeros where gradients are summed up, but for those of the pair where
// DifferentiatePair is told whether they are there.
void ClearTerms(const HeadAt& at, const Terms& terms) {
  const Problem& p = at.problem();
  if (p.by_channel || p.far_from > 0) ClearPair(at, terms.pair);
  if (p.by_channel) {
    const Spread& vectors = terms.channel.vectors;
    ClearRows(vectors.change, vectors.reach.count(), p.width);
  }
  if (p.far_from > 0) ClearPair(at, terms.far.pair);
  if (p.query_band > 0) ClearBand(at, terms.query_band);
  if (p.key_band > 0) ClearBand(at, terms.key_band);
}

// From the gradient of a tile's products, which it uses up.
struct TermsGradient {
  const Problem* problem;
  const Terms* terms;
  float* d_scores;

  void Add(const Place& place, Sums there) const {
    const Problem& p = *problem;
    if (p.query_band > 0) {
      DifferentiateQueryBand(terms->query_band, place, d_scores);
    }
    if (p.key_band > 0) {
      DifferentiateKeyBand(terms->key_band, place, d_scores);
    }
    if (p.by_channel) {
      DifferentiateByChannel(terms->channel, place, d_scores);
    } else if (p.far_from > 0) {
      DifferentiateNearOrFar(terms->far, place, d_scores);
    } else {
      DifferentiatePair(terms->pair, place, d_scores, there);
    }
  }
};

// Writes the gradients of tokens; those of tables of vectors become a part.
// `parts` are those of the head, zeros.
void FinishTerms(const HeadAt& at, const Terms& terms, float* parts) {
  const Problem& p = at.problem();
  WritePair(at, kPair, terms.pair);
  if (p.far_from > 0) WritePair(at, kFarPair, terms.far.pair);
  if (p.by_channel && terms.channel.vectors.change.data != nullptr) {
    FoldSpread(terms.channel.vectors, parts + PartOffset(p, kChannel));
  }
  if (p.query_band > 0) {
    FinishBand(at, terms.query_band, parts + PartOffset(p, kQueryVector));
  }
  if (p.key_band > 0) {
    FinishBand(at, terms.key_band, parts + PartOffset(p, kKeyVector));
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_TERMS_H_
