#ifndef ORDO_MODEL_TASKS_RETRIEVAL_ITEMS_H_
#define ORDO_MODEL_TASKS_RETRIEVAL_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random/random.h"

// Questions about something in a long text, in ASCII. A prompt has just as many
// bytes as are asked for: what no further sentence or word fits into is blanks
// between the text and the question. Functions are pure but for what they draw.

namespace ordo::model::tasks::retrieval {

struct Item {
  // Ends where the answer begins.
  std::string prompt;
  // Bytes of it before the question: the text, and the blanks behind that.
  size_t question_begin = 0;
  // What is looked for in an answer.
  std::vector<std::string> references;
  // An answer that has all of them.
  std::string answer;
};

// The tasks of RULER (Hsieh et al., 2024) that need no data. Texts of the
// prompts are the authors' (ruler.cc); in the place of essays there are
// Sentences (prose.h), and words are drawn from others.
struct RulerKind {
  std::string_view name;
  // Tokens that the authors decode, and bytes of an answer.
  int output_tokens;
  int answer_bytes;
  // Least bytes of a prompt with its output.
  int min_length;
  Item (*draw)(int64_t bytes, base::RandomSequence* random);
};

// By name.
const std::vector<RulerKind>& RulerKinds();

// From so many bytes of a prompt on, cwe has common words 30 times and others
// 3 times, as the authors' has from 4096 tokens on; below 6 times and once.
inline constexpr int64_t kManyWordsBytes = 7000;

// A fact among sentences (Kamradt, "Needle in a haystack", 2023), at `depth`
// per cent of the text, back at the end of a sentence.
Item DrawNeedle(int64_t bytes, int depth, base::RandomSequence* random);
inline constexpr int kNeedleOutputTokens = 64;
inline constexpr int kNeedleAnswerBytes = 36;
inline constexpr int kNeedleMinLength = 512;

// A text with what stands before and after it.
struct Frame {
  std::string before;
  std::string after;
};

// All of it, with blanks behind the text up to `bytes`. REQUIRES: it is no
// longer than that.
std::string Framed(const Frame& frame, std::string_view text, int64_t bytes);

// The same as the prompt of an item.
void SetPrompt(const Frame& frame, std::string_view text, int64_t bytes,
               Item* item);

// As many as fit into `room` bytes, with a character behind each.
std::vector<std::string> UnitsFor(
    int64_t room, std::string (*draw)(base::RandomSequence* random),
    base::RandomSequence* random);

}  // namespace ordo::model::tasks::retrieval

#endif  // ORDO_MODEL_TASKS_RETRIEVAL_ITEMS_H_
