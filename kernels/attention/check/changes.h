#ifndef ORDO_KERNELS_ATTENTION_CHECK_CHANGES_H_
#define ORDO_KERNELS_ATTENTION_CHECK_CHANGES_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/attention/problem.h"

// What makes other problems of one without any terms. A problem may be changed
// more than once; what depends on its sizes comes after them.

namespace ordo::kernels::attention::check {

// Twice the heads, of which each three share keys and the first value.
void Share(Problem* p);
// A second value of each head, twice as wide as q.
void AddState(Problem* p);
// TAPE's, whose state is as wide as a value.
void AddEqualState(Problem* p);
// The last third of the tokens.
void Chunk(Problem* p);
void BothWays(Problem* p);
// Its last row is all padding.
void Pad(Problem* p);
void Bound(Problem* p);
void Position(Problem* p);
// Tables tell all distances apart.
void Far(Problem* p);
// Most distances are beyond.
void Near(Problem* p);

void Bias(Problem* p);
void NearBias(Problem* p);
void Multiply(Problem* p);
void NearMultiply(Problem* p);
void Rectify(Problem* p);
std::function<void(Problem*)> Mod(ScoreMod mod, int64_t pieces);
// Some score mod, beside other terms.
void AnyMod(Problem* p);

void QueryBand(Problem* p);
// A vector for each distance and head.
void FullQueryBand(Problem* p);
void KeyBand(Problem* p);
// Of each head.
void BothBands(Problem* p);
void ByChannel(Problem* p);
void FarPair(Problem* p);
void Sums(Problem* p);

// By gates of the logits.
void Count(Problem* p);
// By gates of their own.
void CountByKeys(Problem* p);
// No count reaches the last position.
void CountToTheEnd(Problem* p);
void CountBySlope(Problem* p);

// One after another.
std::function<void(Problem*)> All(
    std::vector<std::function<void(Problem*)>> changes);

struct Change {
  std::string label;
  std::function<void(Problem*)> apply;
};

// Everything that problem.h has beside q, k and one value tensor, one by one
// and in the combinations that encodings make.
std::vector<Change> Changes();

// The label of the change that adds a score mod in pieces; of others with it,
// what the label begins with.
std::string LabelOf(ScoreMod mod);

// What GoogleTest calls it.
void PrintTo(const Change& change, std::ostream* out);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_CHANGES_H_
