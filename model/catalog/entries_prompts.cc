#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

// Prompts in words that are made up: by byte, or in the tokens of a tokenizer's
// file.

namespace ordo::model::catalog {
namespace {

constexpr char kTokenizer[] = "tokenizer";
constexpr char kBegin[] = "begin";
constexpr char kAsTrained[] = "as_trained";
// Four marks, and the bytes.
constexpr int kByteVocabulary = 260;

// Rather than to take it from the training.
bool SaysBegin(const ParamMap& params) {
  const auto found = params.find(kBegin);
  return found != params.end() && found->second.string_value() != kAsTrained;
}

int PromptVocabulary(const ParamMap& params) {
  return NamesTokenizerFile(params) ? 0 : kByteVocabulary;
}

// A training by byte changes nothing.
void TakePromptTokens(std::string_view /*field*/,
                      const ordo::training::v1::Data& trained_on,
                      ParamMap* params,
                      std::vector<base::FieldViolation>* /*violations*/) {
  if (params->count(kTokenizer) == 0 &&
      NamesTokenizerFile(trained_on.params())) {
    (*params)[kTokenizer] = trained_on.params().at(kTokenizer);
  }
  if (SaysBegin(*params) || !NamesTokenizerFile(*params)) return;
  const auto begins = ReadsBeginnings(trained_on);
  if (begins.has_value()) {
    (*params)[kBegin].set_string_value(*begins ? "always" : "never");
  }
}

}  // namespace

bool NamesTokenizerFile(const ParamMap& params) {
  const auto found = params.find(kTokenizer);
  return found != params.end() && found->second.has_string_value() &&
         !found->second.string_value().empty() &&
         found->second.string_value() != kByteTokenizer;
}

Entry InTokens(Entry entry) {
  Param tokenizer =
      String(kTokenizer, kByteTokenizer,
             "Bytes, or a tokenizer's file as of the training task text. Left "
             "out: that of the training, or bytes.");
  tokenizer.names_data = true;
  tokenizer.filled_in = false;
  Param begin = Choice(
      kBegin, {kAsTrained, "always", "never"},
      "Of a tokenizer's file: whether its mark of a beginning, where it has "
      "one, stands before each prompt: as in the training, always where it "
      "does not say.");
  begin.filled_in = false;
  entry.params.push_back(std::move(tokenizer));
  entry.params.push_back(std::move(begin));
  entry.vocabulary = kByteTokenizer;
  entry.vocabulary_size = kByteVocabulary;
  entry.vocabulary_of = PromptVocabulary;
  entry.from_training = TakePromptTokens;
  if (entry.check_params == nullptr) entry.check_params = CheckPromptTokens;
  return entry;
}

void CheckPromptTokens(std::string_view field, const ParamMap& params,
                       std::vector<base::FieldViolation>* violations) {
  if (NamesTokenizerFile(params)) {
    CheckTokenizer(field, params.at(kTokenizer).string_value(), violations);
  } else if (SaysBegin(params)) {
    violations->push_back(
        {ParamPath(field, kBegin),
         absl::StrCat("is of a tokenizer's file, and prompts are bytes; leave "
                      "it out, or name a ",
                      kTokenizer)});
  }
}

}  // namespace ordo::model::catalog
