#ifndef ORDO_TESTS_FUZZ_MUTATOR_H_
#define ORDO_TESTS_FUZZ_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "google/protobuf/message.h"

// Mutations of messages by their fields, for inputs that are messages in text
// form: changed byte by byte, hardly any would still be one.

namespace ordo::tests::fuzz {

// Changes one thing in a message or in one that it holds: sets, clears, adds,
// doubles, removes or swaps. Texts are drawn from `words` for the most part, so
// that names meet.
void Mutate(const std::vector<std::string>& words, base::RandomSequence* dice,
            google::protobuf::Message* message);

// An input as libFuzzer gives it.
struct Input {
  uint8_t* data;
  size_t size;
  size_t max_size;
};

// LLVMFuzzerCustomMutator for inputs that are a message of the type of `empty`:
// changes the text in place and gives its new size. A text that is no such
// message is taken for an empty one.
size_t MutateText(const std::vector<std::string>& words, unsigned int seed,
                  const google::protobuf::Message& empty, Input input);

}  // namespace ordo::tests::fuzz

#endif  // ORDO_TESTS_FUZZ_MUTATOR_H_
