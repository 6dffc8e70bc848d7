#ifndef ORDO_MODEL_TASKS_NOPE_ITEMS_H_
#define ORDO_MODEL_TASKS_NOPE_ITEMS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/random/random.h"

// The reasoning tasks of Kazemnejad et al., "The Impact of Positional Encoding
// on Length Generalization in Transformers", 2023, as texts whose words have
// blanks between them; their tokenizer is another than the authors'. Every
// function is pure but for what it draws.

namespace ordo::model::tasks::nope {

// Greatest length of a task: as many variables as there are letters.
inline constexpr int kMaxLength = 50;

struct Item {
  std::string prompt;
  std::string answer;
};

struct Kind {
  std::string_view name;
  // An item of length n, for Kinds() 2 <= n <= kMaxLength.
  Item (*draw)(int n, base::RandomSequence* random);
  // Most words of its prompt and its answer together.
  int (*num_words)(int n);
  // How often the length is trained on, relative to others.
  int (*weight)(int n);
  // All words that items have, and others.
  const std::vector<std::string>& (*words)();
};

// By name; all have the same words.
const std::vector<Kind>& Kinds();
// The kind of a name, which is one of theirs, or that of pcfg.h.
Kind KindOf(std::string_view name);

// The words of Kinds().
const std::vector<std::string>& Words();

}  // namespace ordo::model::tasks::nope

#endif  // ORDO_MODEL_TASKS_NOPE_ITEMS_H_
