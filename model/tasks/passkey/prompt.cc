#include "model/tasks/passkey/prompt.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "model/tasks/passkey/numpy_random.h"

namespace ordo::model::tasks::passkey {
namespace {

constexpr std::string_view kTask =
    "There is an important info hidden inside a lot of irrelevant text. Find "
    "it and memorize them. I will quiz you about the important information "
    "there.";
constexpr std::string_view kQuestion = "What is the pass key? The pass key is";
// Repeated, with a blank between.
constexpr std::string_view kFiller =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There "
    "and back again. ";

std::string Filler(int64_t length) {
  std::string text;
  text.reserve(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    text.push_back(kFiller[static_cast<size_t>(i) % kFiller.size()]);
  }
  return text;
}

std::string Needle(int64_t key) {
  return absl::StrCat("The pass key is ", key, ". Remember it. ", key,
                      " is the pass key.");
}

}  // namespace

std::string PromptOf(const Hidden& hidden) {
  ORDO_CHECK(hidden.before >= 0 && hidden.before < hidden.filler)
      << hidden.before << " of " << hidden.filler;
  return absl::StrCat(std::string(kTask), "\n", Filler(hidden.before), "\n",
                      Needle(hidden.key), "\n",
                      Filler(hidden.filler - hidden.before), "\n",
                      std::string(kQuestion));
}

int64_t PromptLengthOf(const Hidden& hidden) {
  constexpr int64_t kNewLines = 4;
  return static_cast<int64_t>(kTask.size() + Needle(hidden.key).size() +
                              kQuestion.size()) +
         hidden.filler + kNewLines;
}

Hidden BenchmarkQuestion(int64_t filler, uint32_t test) {
  NumpyRandom random(test);
  Hidden hidden;
  hidden.filler = filler;
  hidden.before = random.Int(0, static_cast<uint32_t>(filler));
  hidden.key = random.Int(1, kMaxKey + 1);
  return hidden;
}

// floor(3.75 m 1000 / 1024) 1024.
int64_t BenchmarkFiller(int64_t thousands) {
  return 3750 * thousands / 1024 * 1024;
}

}  // namespace ordo::model::tasks::passkey
