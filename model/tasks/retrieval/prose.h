#ifndef ORDO_MODEL_TASKS_RETRIEVAL_PROSE_H_
#define ORDO_MODEL_TASKS_RETRIEVAL_PROSE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random/random.h"

// Texts to hide something in, in ASCII. Functions are pure but for what they
// draw.

namespace ordo::model::tasks::retrieval {

// A sentence of the kind "The old baker counted the boats near the bridge.",
// with its full stop; in the place of essays.
std::string Sentence(base::RandomSequence* random);

// An adjective and a noun, as in "quiet-lantern": of 3600. At most 19 letters.
std::string AdjectiveNoun(base::RandomSequence* random);

// `count` different foods, of 32, none of which is in a sentence. At most 9
// letters each.
std::vector<std::string> Foods(size_t count, base::RandomSequence* random);

// Three syllables of two letters, of 512000.
std::string CoinedWord(base::RandomSequence* random);

// 8-4-4-4-12 hexadecimal digits, as of version 4.
std::string Uuid(base::RandomSequence* random);

// Letters from `first` on, of 26, each drawn.
std::string Letters(char first, int count, base::RandomSequence* random);

// The sentences that passkey's filler repeats, once.
std::string Noise();

}  // namespace ordo::model::tasks::retrieval

#endif  // ORDO_MODEL_TASKS_RETRIEVAL_PROSE_H_
