#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/catalog/entries.h"

// Language modelling on text that users bring, and questions in words. Nothing
// is read here: what lies at a path is found by the trainer.

namespace ordo::model::catalog {
namespace {

using Violations = std::vector<base::FieldViolation>;

constexpr char kText[] = "text";
constexpr char kQuestions[] = "questions";
constexpr char kScrolls[] = "scrolls";
// Four marks, and the bytes.
constexpr int kByteVocabulary = 260;
constexpr int kMaxLengths = 64;
constexpr size_t kMaxPathBytes = 4096;

Range LengthRange() { return {2, 1000000, "tokens"}; }

// The last token is only said.
int64_t RowLengthOfText(const ParamMap& params) {
  return Params(params).Integer("length") - 1;
}

int64_t LongestWindow(const ParamMap& params) {
  double longest = 1;
  for (const double length : Params(params).Numbers("lengths")) {
    longest = std::max(longest, length);
  }
  return static_cast<int64_t>(longest) - 1;
}

void CheckPaths(std::string_view field, const std::vector<std::string>& paths,
                Violations* violations) {
  std::set<std::string> seen;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::string wrong = PathProblem(paths[i]);
    if (wrong.empty() && !seen.insert(paths[i]).second) {
      wrong = absl::StrCat("'", paths[i], "' is there twice; raise its weight");
    }
    if (wrong.empty()) continue;
    violations->push_back(
        {absl::StrCat(ParamPath(field, "data"), "[", i, "]"), wrong});
  }
}

void CheckTraining(std::string_view field, const ParamMap& map,
                   Violations* violations) {
  const Params params(map);
  const auto data = params.Strings("data");
  const auto weights = params.Numbers("weights");
  if (data.empty()) {
    violations->push_back(
        {ParamPath(field, "data"),
         "name at least one file or folder of text, such as [books] for "
         "data/books under the storage root"});
  }
  CheckPaths(field, data, violations);
  CheckTokenizer(field, params.String("tokenizer"), violations);
  if (!weights.empty() && weights.size() != data.size()) {
    violations->push_back(
        {ParamPath(field, "weights"),
         absl::StrCat("has ", weights.size(), " numbers, data ", data.size(),
                      "; give one for each, or leave it out")});
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) continue;
    violations->push_back(
        {absl::StrCat(ParamPath(field, "weights"), "[", i, "]"),
         "must be above 0; leave the data out that is not wanted"});
  }
}

void CheckEvaluation(std::string_view field, const ParamMap& map,
                     Violations* violations) {
  CheckTextEvaluated(field, map, violations);
  const Params params(map);
  const auto lengths = params.Numbers("lengths");
  if (lengths.size() > kMaxLengths) {
    violations->push_back({ParamPath(field, "lengths"),
                           absl::StrCat("has ", lengths.size(),
                                        " numbers; at most ", kMaxLengths)});
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    const std::string path =
        absl::StrCat(ParamPath(field, "lengths"), "[", i, "]");
    // A multiple of what is not known here.
    if (lengths[i] == 0) continue;
    if (lengths[i] != std::floor(lengths[i])) {
      violations->push_back(
          {path, absl::StrCat("must be an integer, is ", lengths[i])});
    } else if (std::count(lengths.begin(), lengths.begin() + i, lengths[i])) {
      violations->push_back(
          {path, absl::StrCat(lengths[i], " is there twice")});
    } else if (params.String("protocol") == "stride" &&
               params.Integer("step") >= lengths[i]) {
      violations->push_back(
          {path, absl::StrCat("is ", lengths[i], " with a step of ",
                              params.Integer("step"),
                              ": protocol stride scores the last tokens of a "
                              "window, which has to be longer")});
    }
  }
}

bool IsEmptyList(const ParamMap& params, const std::string& name) {
  const auto found = params.find(name);
  return found == params.end() || (found->second.has_list_value() &&
                                   found->second.list_value().values().empty());
}

bool IsDefault(const Entry& entry, const ParamMap& params,
               const std::string& name) {
  const auto found = params.find(name);
  return found == params.end() ||
         found->second.SerializeAsString() ==
             DefaultValue(*FindParam(entry, name)).SerializeAsString();
}

void TakeLengths(int64_t trained, ParamMap* params) {
  google::protobuf::ListValue lengths;
  for (const int64_t factor : {1, 2, 4}) {
    lengths.add_values()->set_number_value(
        static_cast<double>(factor * trained));
  }
  *(*params)["lengths"].mutable_list_value() = std::move(lengths);
}

void TakeFromTraining(std::string_view field,
                      const ordo::training::v1::Data& trained_on,
                      ParamMap* params, Violations* violations) {
  if (trained_on.task() != kText) return;
  const Entry& entry = *Find(Kind::kEvaluationTask, kText);
  TakeTextTrainedOn({entry, field, trained_on}, params, violations);
  if (IsEmptyList(*params, "lengths")) {
    TakeLengths(Params(trained_on.params()).Integer("length"), params);
  }
}

Entry TextEntry() {
  Entry entry;
  entry.name = kText;
  entry.source =
      "windows of perplexity after Press et al. 2022, arXiv:2108.12409";
  entry.params = TextSource();
  entry.vocabulary_of = TextVocabulary;
  return entry;
}

Entry Training() {
  constexpr char kTokenizerText[] =
      "Bytes, or a tokenizer.json or SentencePiece file (.model), found as "
      "data is. Of a file set model.vocabulary_size too.";
  Entry entry = OfKind(
      Kind::kTrainingTask, TextEntry(),
      {Numbers("weights", {0, 1e9},
               "Share of the rows of each of data; empty: by their tokens."),
       OfData(String("tokenizer", kByteTokenizer, kTokenizerText)),
       Integer("length", 256, LengthRange(), "Tokens of a row."),
       Bool("separate_documents", false,
            "Whether a document sees nothing of those before it in its row."),
       Integer("documents_per_group", 0, {0, 1e9, "documents"},
               "Documents that are cut into rows together; what is left is "
               "left out. 0: all."),
       Number("held_out", 0.01, {0, 0.99},
              "Share of documents that are not trained on, by their text. To "
              "the sixth decimal.")});
  entry.text =
      "The next token of text; documents one behind the other, cut into rows, "
      "in another order in each epoch.";
  entry.row_length = RowLengthOfText;
  entry.check_params = CheckTraining;
  return entry;
}

Param WindowLengths() {
  Param lengths = Numbers(
      "lengths", LengthRange(),
      "Tokens of a window, or as 2x multiples of the length of the training; "
      "empty: 1x, 2x and 4x.");
  lengths.type = ParamType::kLengths;
  return lengths;
}

Entry Perplexity() {
  Entry entry = OfKind(
      Kind::kEvaluationTask, TextEntry(),
      {WindowLengths(),
       Choice("protocol", {"blocks", "overlap", "stride"},
              "Windows one behind the other; one every step tokens, scored "
              "whole; or scored in their last step tokens only."),
       Integer("step", 256, {1, 1e6, "tokens"},
               "Of overlap and stride: tokens between the windows."),
       Bool("drop_last", false,
            "Of blocks: the last whole window of each group is left out too."),
       Integer("documents_per_group", 0, {0, 1e9, "documents"},
               "Documents that windows are cut from together; what is left is "
               "left out. 0: all."),
       Integer("every", 1, {1, 1e6, "windows"},
               "Only every k-th window is read."),
       Integer("max_tokens", 0, {0, 1e12, "tokens"},
               "Only the first tokens of the text are read; 0: all.")});
  for (Param& param : TextEvaluated()) entry.params.push_back(std::move(param));
  entry.text =
      "Perplexity of text, by token, word and byte, in windows of several "
      "lengths. Without data that of the model's training that is held out.";
  entry.row_length = LongestWindow;
  entry.check_params = CheckEvaluation;
  // Windows are long: of a few, a pass of many would be filled up with copies.
  entry.evaluation.micro_batch.max_rows = 8;
  entry.evaluation.item_scores = ItemScores::kLogLikelihoods;
  // 3: bytes and words are those of what is scored.
  entry.evaluation.version = 3;
  entry.from_training = TakeFromTraining;
  entry.evaluation.length = {{}, kText, "length"};
  return entry;
}

int64_t RowLengthOfQuestions(const ParamMap& params) {
  return Params(params).Integer("max_tokens") - 1;
}

void CheckExamples(std::string_view field, const Params& params,
                   Violations* violations) {
  const std::string format = params.String("format");
  const std::string examples = params.String("examples");
  const bool has_few_shot = params.Integer("few_shot") > 0;
  if (has_few_shot && format != "mmlu" && format != "arc") {
    violations->push_back(
        {ParamPath(field, "few_shot"),
         format == "own"
             ? "is said by the first line of a task file: set few_shot and "
               "examples there, and leave it out here"
             : "is of own, mmlu and arc: SCROLLS has no examples; leave it "
               "out"});
    return;
  }
  if (has_few_shot == !examples.empty()) {
    const std::string wrong = has_few_shot ? PathProblem(examples) : "";
    if (!wrong.empty()) {
      violations->push_back({ParamPath(field, "examples"), wrong});
    }
    return;
  }
  violations->push_back(
      {ParamPath(field, "examples"),
       has_few_shot
           ? "name the file that the examples of few_shot are taken from: of "
             "mmlu the dev split, of arc the training split"
           : "is read for few_shot only: set that too, or leave it out"});
}

void CheckQuestions(std::string_view field, const ParamMap& map,
                    Violations* violations) {
  const Params params(map);
  const std::string path = params.String("path");
  const std::string wrong =
      path.empty() ? "name the file of the questions, such as my-eval.jsonl "
                     "for data/my-eval.jsonl under the storage root"
                   : PathProblem(path);
  if (!wrong.empty()) violations->push_back({ParamPath(field, "path"), wrong});
  CheckExamples(field, params, violations);
  const std::string tokenizer = params.String("tokenizer");
  if (!tokenizer.empty()) CheckTokenizer(field, tokenizer, violations);
  const std::string format = params.String("format");
  const bool of_choices = format == "mmlu" || format == "arc";
  const std::string metric = params.String("metric");
  const bool by_choices = metric == "acc" || metric == "acc_norm";
  if (format != "own" && metric != "of_format" && by_choices != of_choices) {
    violations->push_back(
        {ParamPath(field, "metric"),
         absl::StrCat(
             metric, " is not of ", format, ": give ",
             of_choices ? "acc or acc_norm" : "exact_match, f1 or rouge",
             ", or leave it out")});
  }
  if (of_choices && params.Integer("top_k") != 1) {
    violations->push_back({ParamPath(field, "top_k"),
                           absl::StrCat("is of answers in words, and ", format,
                                        " has choices: leave it out")});
  }
  const int64_t answer_tokens = params.Integer("answer_tokens");
  if (of_choices && answer_tokens > 0) {
    violations->push_back({ParamPath(field, "answer_tokens"),
                           absl::StrCat("is of answers in words, and ", format,
                                        " has choices: leave it out")});
  } else if (answer_tokens >= params.Integer("max_tokens")) {
    violations->push_back(
        {ParamPath(field, "answer_tokens"),
         absl::StrCat("is ", answer_tokens, ", which leaves none of ",
                      params.Integer("max_tokens"),
                      " max_tokens for the prompt: lower it, or raise "
                      "max_tokens")});
  }
}

void TakeTokens(std::string_view /*field*/,
                const ordo::training::v1::Data& trained_on, ParamMap* params,
                Violations* /*violations*/) {
  if (trained_on.task() != kText && trained_on.task() != kScrolls) return;
  const Entry& entry = *Find(Kind::kEvaluationTask, kQuestions);
  const auto begins = ReadsBeginnings(trained_on);
  if (begins.has_value() && IsDefault(entry, *params, "begin")) {
    (*params)["begin"].set_string_value(*begins ? "always" : "never");
  }
  if (!IsDefault(entry, *params, "tokenizer")) return;
  const auto found = trained_on.params().find("tokenizer");
  if (found != trained_on.params().end()) {
    (*params)["tokenizer"] = found->second;
  }
}

Entry Questions() {
  Entry entry;
  entry.kind = Kind::kEvaluationTask;
  entry.name = kQuestions;
  entry.text =
      "Questions in words of a file: choices by their log-likelihood (acc, "
      "acc_norm), answers as they are decoded (exact_match, f1, rouge).";
  entry.source =
      "prompts and scores of MMLU and ARC after EleutherAI's "
      "lm-evaluation-harness, of SCROLLS after Shaham et al. 2022, "
      "arXiv:2201.03533";
  entry.params = {
      OfData(String(
          "path", "",
          "File of the questions, JSON lines: below data/ of the storage root, "
          "or with its whole path below a data root of the workers. May be .gz "
          "or .zst.")),
      Choice("format",
             {"own", "mmlu", "arc", "qasper", "contract_nli", "narrative_qa",
              "quality", "qmsum", "summ_screen_fd", "gov_report"},
             "What its lines are: a task file of one's own, the test split of "
             "MMLU or ARC, or the validation split of a set of SCROLLS."),
      Integer("few_shot", 0, {0, 100, "examples"},
              "Of mmlu and arc: answered examples before each question. A "
              "task file says it itself."),
      OfData(
          String("examples", "",
                 "Of mmlu and arc: file of the examples, found as path is.")),
      Choice("metric",
             {"of_format", "acc", "acc_norm", "exact_match", "f1", "rouge"},
             "What items are compared by."),
      OfData(
          String("tokenizer", "",
                 "As of the training task text; empty: that of the training.")),
      Choice(
          "begin", {"as_trained", "always", "never"},
          "Whether the tokenizer's mark of a beginning, where it has one, "
          "stands before each prompt: as in the training, always where it does "
          "not say."),
      Integer("max_tokens", 8192, {2, 1e6, "tokens"},
              "Of a prompt with its answer: longer prompts are cut, those of "
              "SCROLLS in their middle or at their end, others at their "
              "beginning."),
      Integer("answer_tokens", 0, {0, 1e6, "tokens"},
              "Most tokens of an answer in words; 0: as the format says."),
      Integer("top_k", 1, {0, 1e6, "tokens"},
              "Each token of an answer in words is drawn, with the "
              "evaluation's seed, from so many of the likeliest; 1: it is the "
              "likeliest, 0: of all."),
      Integer("max_questions", 0, {0, 1e6, "questions"},
              "Only so many are asked, drawn by their ids; 0: all."),
  };
  entry.vocabulary_of = TextVocabulary;
  entry.row_length = RowLengthOfQuestions;
  entry.check_params = CheckQuestions;
  // Lengths are many: of a few rows each, a pass of many would be filled up
  // with copies.
  entry.evaluation.micro_batch.max_rows = 8;
  entry.evaluation.item_scores = ItemScores::kShares;
  // 3: passes of answers in words are filled up, however few prompts have a
  // length.
  entry.evaluation.version = 3;
  entry.from_training = TakeTokens;
  return entry;
}

}  // namespace

void CheckTokenizer(std::string_view field, const std::string& tokenizer,
                    Violations* violations) {
  if (tokenizer == kByteTokenizer) return;
  std::string wrong = PathProblem(tokenizer);
  if (wrong.empty() && !absl::EndsWith(tokenizer, ".json") &&
      !absl::EndsWith(tokenizer, ".model")) {
    wrong = absl::StrCat("'", tokenizer,
                         "' must be bytes, a tokenizer.json (byte-level BPE), "
                         "or a file of SentencePiece, whose name ends in "
                         ".model");
  }
  if (wrong.empty()) return;
  violations->push_back({ParamPath(field, "tokenizer"), wrong});
}

std::optional<bool> ReadsBeginnings(const ordo::training::v1::Data& training) {
  const ParamMap& params = training.params();
  if (training.task() == kScrolls) {
    const auto begin = params.find("begin");
    if (begin == params.end()) return std::nullopt;
    return begin->second.string_value() == "always";
  }
  const auto format = params.find("format");
  const auto marks = params.find("marks");
  if (marks == params.end() ||
      (format != params.end() && format->second.string_value() == "tokens")) {
    return std::nullopt;
  }
  const std::string& stand = marks->second.string_value();
  return stand == "begin" || stand == "both";
}

int TextVocabulary(const ParamMap& params) {
  return Params(params).String("tokenizer") == kByteTokenizer ? kByteVocabulary
                                                              : 0;
}

std::vector<Param> TextSource() {
  return {
      OfData(Strings(
          "data",
          "Files or folders of text: below data/ of the storage root, where "
          "`ordo push data` puts them, or with their whole path below a data "
          "root of the workers. Of a folder all files count but those that "
          "begin with a dot.")),
      Choice("format", {"file", "lines", "json_lines", "tokens"},
             "What a document is: a file of UTF-8, a line of one, a field of "
             "each line of JSON; or flat token files (.bin with .bin.json). "
             "Each may be .gz or .zst."),
      String("field", "text", "Field of JSON lines that holds the text."),
      Choice("marks", {"begin", "end", "both", "none"},
             "Tokens of the tokenizer that stand around each document."),
      Integer("split_seed", 1, {0, 1e9}, "Decides which are held out."),
  };
}

std::vector<Param> TextEvaluated() {
  return {
      OfData(String("tokenizer", "",
                    "As of the training task; empty: that of the training.")),
      Number("held_out", 0, {0, 0.99},
             "Share of documents that are held out, as in the training task."),
      Choice("split", {"held_out", "all", "trained"},
             "Which documents are read."),
  };
}

void CheckTextEvaluated(std::string_view field, const ParamMap& map,
                        std::vector<base::FieldViolation>* violations) {
  const Params params(map);
  const auto data = params.Strings("data");
  CheckPaths(field, data, violations);
  const std::string tokenizer = params.String("tokenizer");
  if (!tokenizer.empty()) CheckTokenizer(field, tokenizer, violations);
  if (!data.empty() && params.String("split") != "all" &&
      params.Number("held_out") == 0) {
    violations->push_back(
        {ParamPath(field, "held_out"),
         absl::StrCat("must be above 0 with split: ", params.String("split"),
                      "; or set split: all")});
  }
}

void TakeTextTrainedOn(const TextTraining& training, ParamMap* params,
                       std::vector<base::FieldViolation>* violations) {
  const auto take = [&](const char* name) {
    const auto& trained = training.trained_on.params();
    const auto found = trained.find(name);
    if (found != trained.end()) (*params)[name] = found->second;
  };
  if (IsEmptyList(*params, "data")) {
    for (const char* name : {"format", "field", "held_out", "split_seed"}) {
      if (!IsDefault(training.evaluation, *params, name)) {
        violations->push_back(
            {ParamPath(training.field, name),
             "without data it is that of the training: leave it out, or give "
             "data"});
      }
      take(name);
    }
    take("data");
  }
  if (IsDefault(training.evaluation, *params, "tokenizer")) {
    take("tokenizer");
    take("marks");
  }
}

std::string PathProblem(const std::string& path) {
  if (path.empty()) return "must not be empty";
  if (path.size() > kMaxPathBytes) {
    return absl::StrCat("has ", path.size(), " bytes; at most ", kMaxPathBytes);
  }
  if (std::any_of(path.begin(), path.end(), [](char c) {
        return absl::ascii_iscntrl(static_cast<unsigned char>(c));
      })) {
    return "has a NUL byte, or another control character";
  }
  const bool absolute = path.front() == '/';
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(path).substr(absolute ? 1 : 0), '/')) {
    // Where the folders of an administrator lie is not ours to say.
    const bool fits =
        absolute ? part != "." && part != ".." : !absl::StartsWith(part, ".");
    if (!part.empty() && fits) continue;
    return absl::StrCat("'", path,
                        absolute ? "' has an empty part, or a '.' or '..'; "
                                 : "' has an empty part, or one that begins "
                                   "with '.'; ",
                        "name a folder or file under data/ of the storage "
                        "root, or give its whole path below a data root");
  }
  return "";
}

Param OfData(Param param) {
  param.names_data = true;
  return param;
}

std::vector<Entry> TextEntries() {
  return {Training(), Perplexity(), Questions()};
}

}  // namespace ordo::model::catalog
