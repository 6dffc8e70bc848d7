#include <string>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

// Fine-tuning on answers in words.

namespace ordo::model::catalog {
namespace {

using Violations = std::vector<base::FieldViolation>;

// The last token is only said.
int64_t RowLengthOfScrolls(const ParamMap& params) {
  return Params(params).Integer("max_tokens") - 1;
}

void CheckScrolls(std::string_view field, const ParamMap& map,
                  Violations* violations) {
  const Params params(map);
  const std::string path = params.String("path");
  const std::string wrong =
      path.empty() ? "name the file of the questions with their answers, such "
                     "as qasper/train.jsonl for data/qasper/train.jsonl under "
                     "the storage root"
                   : PathProblem(path);
  if (!wrong.empty()) violations->push_back({ParamPath(field, "path"), wrong});
  CheckTokenizer(field, params.String("tokenizer"), violations);
  const int64_t answer_tokens = params.Integer("answer_tokens");
  const int64_t max_tokens = params.Integer("max_tokens");
  if (answer_tokens == 0 || answer_tokens + 1 < max_tokens) return;
  violations->push_back(
      {ParamPath(field, "answer_tokens"),
       absl::StrCat("is ", answer_tokens, ", with its end ", answer_tokens + 1,
                    ", which leaves none of ", max_tokens,
                    " max_tokens for the prompt: lower it, or raise "
                    "max_tokens")});
}

Entry Scrolls() {
  Entry entry;
  entry.kind = Kind::kTrainingTask;
  entry.name = "scrolls";
  entry.text =
      "Fine-tuning on the answers of a set of SCROLLS: a line of its training "
      "file is a row, of which the answer and its end count.";
  entry.source =
      "Shaham et al. 2022, arXiv:2201.03533; lengths of table 1 of TAPE, Zhu "
      "et "
      "al. 2025, arXiv:2501.00712";
  entry.params = {
      OfData(String(
          "path", "",
          "File of questions with their answers, JSON lines: below data/ of "
          "the storage root, or with its whole path below a data root of the "
          "workers. May be .gz or .zst.")),
      Choice("set",
             {"qasper", "contract_nli", "narrative_qa", "quality", "qmsum",
              "summ_screen_fd", "gov_report"},
             "Which set it is of: it decides prompts and lengths."),
      OfData(String("tokenizer", kByteTokenizer,
                    "As of the training task text. Of a file set "
                    "model.vocabulary_size too.")),
      Choice("begin", {"always", "never"},
             "Whether the tokenizer's mark of a beginning, where it has one, "
             "stands before each prompt."),
      Choice("answer_begin", {"always", "never"},
             "The same of each answer, of whose tokens it is one."),
      Integer("max_tokens", 8192, {2, 1e6, "tokens"},
              "Of a row: longer prompts are cut in their middle or at their "
              "end."),
      Integer("answer_tokens", 0, {0, 1e6, "tokens"},
              "Most tokens of an answer, without its end; 0: as the set says, "
              "200, of summaries 1000."),
  };
  entry.vocabulary_of = TextVocabulary;
  entry.row_length = RowLengthOfScrolls;
  entry.check_params = CheckScrolls;
  return entry;
}

}  // namespace

std::vector<Entry> ScrollsEntries() { return {Scrolls()}; }

}  // namespace ordo::model::catalog
