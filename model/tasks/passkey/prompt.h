#ifndef ORDO_MODEL_TASKS_PASSKEY_PROMPT_H_
#define ORDO_MODEL_TASKS_PASSKEY_PROMPT_H_

#include <cstdint>
#include <string>

// The prompts of passkey retrieval (Mohtashami and Jaggi, "Landmark Attention",
// 2023; as LongLoRA asks them): a number hidden in filler, and a question for
// it. Pure functions.

namespace ordo::model::tasks::passkey {

// Keys are 1 to kMaxKey.
inline constexpr int64_t kMaxKey = 49999;

struct Hidden {
  // Characters of filler, and how many of them stand before the key:
  // 0 <= before < filler.
  int64_t filler = 0;
  int64_t before = 0;
  int64_t key = 0;
};

// Ends in "The pass key is", without a blank behind it; ASCII.
std::string PromptOf(const Hidden& hidden);

// Characters of that.
int64_t PromptLengthOf(const Hidden& hidden);

// Question `test` of the benchmark among those with so much filler, bit for
// bit. REQUIRES: 0 < filler < 2^31.
Hidden BenchmarkQuestion(int64_t filler, uint32_t test);

// Filler of the benchmark for a nominal length in thousands of Llama's tokens.
int64_t BenchmarkFiller(int64_t thousands);

}  // namespace ordo::model::tasks::passkey

#endif  // ORDO_MODEL_TASKS_PASSKEY_PROMPT_H_
