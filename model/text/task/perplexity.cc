#include "model/text/task/perplexity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/task/table_cells.h"

namespace ordo::model::text::task {
namespace {

using nlohmann::ordered_json;
using rows::Window;
using rows::Windows;

// Of BiPE's and TAPE's evaluation.
constexpr int64_t kBatchWindows = 8;
// Items that a report can have.
constexpr uint64_t kMaxWindows = 1'000'000;

const char* NameOf(rows::Protocol protocol) {
  switch (protocol) {
    case rows::Protocol::kBlocks:
      return "blocks";
    case rows::Protocol::kOverlap:
      return "overlap";
    case rows::Protocol::kStride:
      return "stride";
  }
  return "";
}

// What was found in the windows of one unit.
struct UnitScores {
  double nats = 0;
  double tokens = 0;
  double bytes = 0;
  double words = 0;
  // Its shares of batches, and of their means.
  double batches = 0;
  double batch_means = 0;
};

// What was found in the windows of one length.
struct LengthScores {
  int length = 0;
  int64_t windows = 0;
  int64_t scored = 0;
  double nats = 0;
  // Of the scored tokens, each as often as it is scored.
  TextSize text;
  // Sum over batches of their means, and how many.
  double batch_means = 0;
  int64_t batches = 0;
  // By the document that they begin in.
  std::map<uint64_t, UnitScores> units;

  double mean() const { return nats / static_cast<double>(scored); }
};

// A ratio of sums over units.
struct Ratio {
  double UnitScores::*above;
  double UnitScores::*below;
};

// Its standard error over another draw of units. Nothing with fewer than two.
std::optional<double> ErrorOf(const Ratio& ratio, const LengthScores& found) {
  double above = 0;
  double below = 0;
  for (const auto& [document, unit] : found.units) {
    above += unit.*ratio.above;
    below += unit.*ratio.below;
  }
  const auto num_units = static_cast<double>(found.units.size());
  if (num_units < 2 || !(below > 0)) return std::nullopt;
  double squares = 0;
  for (const auto& [document, unit] : found.units) {
    const double beyond = unit.*ratio.above - above / below * unit.*ratio.below;
    squares += beyond * beyond;
  }
  return std::sqrt(num_units / (num_units - 1) * squares) / below;
}

class Perplexity : public tasks::EvaluationTask {
 public:
  Perplexity(const PerplexityOptions& options,
             std::unique_ptr<tokenizers::TextTokenizer> tokenizer,
             std::vector<std::unique_ptr<store::TokenStore>> stores)
      : options_(options),
        tokenizer_(std::move(tokenizer)),
        stores_(std::move(stores)),
        fingerprint_(FingerprintOf(stores_)),
        stream_(stores_, options.split, options.held_out) {}

  // The first call.
  absl::Status MakeWindows() {
    if (stream_.num_documents() == 0) {
      return base::InvalidField(
          options_.text.field + ".split",
          "no document is of this split: split the text into more documents "
          "(format: lines), raise held_out of the training, or give data of "
          "its own and split: all");
    }
    const uint64_t limit = options_.max_tokens;
    const uint64_t num_tokens = limit == 0
                                    ? stream_.num_tokens()
                                    : std::min(limit, stream_.num_tokens());
    for (const int length : options_.lengths) {
      rows::WindowOptions of_length = options_.windows;
      of_length.length = length;
      ORDO_ASSIGN_OR_RETURN(
          Windows windows,
          base::AddContext(Windows::Create(GroupsOf(num_tokens), of_length),
                           options_.text.field));
      if (windows.size() == 0) {
        return base::InvalidField(
            options_.text.field + ".lengths",
            absl::StrCat("there is no window of ", length, " tokens in ",
                         num_tokens, OfGroups(),
                         "; leave the length out, or give more "
                         "text"));
      }
      if (windows.size() + static_cast<uint64_t>(begins_.back()) >
          kMaxWindows) {
        return base::InvalidField(
            options_.text.field + ".every",
            absl::StrCat("there are more than ", kMaxWindows,
                         " windows in all, more than a report has items; "
                         "raise it, or step, or lower max_tokens"));
      }
      begins_.push_back(begins_.back() + static_cast<int64_t>(windows.size()));
      windows_.push_back(std::move(windows));
    }
    return absl::OkStatus();
  }

  const tasks::Tokenizer& tokenizer() const override { return *tokenizer_; }
  int64_t size() const override { return begins_.back(); }
  tasks::Measure measure() const override {
    return tasks::Measure::kLikelihood;
  }
  std::string data_fingerprint() const override { return fingerprint_; }

  // The last token is only said.
  int PromptLength(int64_t index) const override {
    return options_.lengths[LengthOf(index)] - 1;
  }

  absl::StatusOr<tasks::Question> Generate(uint64_t /*seed*/,
                                           int64_t index) const override {
    const Window window = WindowOf(index);
    auto tokens = stream_.Read(window.begin, window.length);
    ORDO_RETURN_IF_ERROR(tasks::DataMissing(tokens.status()));
    tasks::Question question;
    question.prompt = *std::move(tokens);
    for (int i = window.first_scored; i < window.length; ++i) {
      question.places.push_back(i - 1);
      question.answer.push_back(question.prompt[i]);
    }
    question.prompt.pop_back();
    return question;
  }

  std::string ItemId(uint64_t /*seed*/, int64_t index) const override {
    const Window window = WindowOf(index);
    return absl::StrCat(window.length, "-", window.begin);
  }
  std::string UnitId(uint64_t /*seed*/, int64_t index) const override {
    const Window window = WindowOf(index);
    return absl::StrCat("document-", DocumentOf(window));
  }

  tasks::Scores Score(const tasks::Marked& marked) const override {
    tasks::Scores scores;
    ordered_json lengths = ordered_json::array();
    scores.csv =
        "length,windows,scored,tokenizer,vocabulary,perplexity,"
        "batch_mean_perplexity,word_perplexity,bits_per_byte\n";
    scores.markdown =
        "| length | windows | scored tokens | tokenizer | vocabulary "
        "| perplexity | mean of batches | by word | bits per byte |\n"
        "|---:|---:|---:|---|---:|---:|---:|---:|---:|\n";
    size_t main = 0;
    for (size_t i = 0; i < windows_.size(); ++i) {
      if (options_.lengths[i] == options_.trained_length) main = i;
    }
    for (size_t i = 0; i < windows_.size(); ++i) {
      const LengthScores found = ScoresOf(i, marked);
      const std::map<std::string, double> metrics = MetricsOf(found);
      const std::map<std::string, double> errors = ErrorsOf(found, metrics);
      ordered_json row = {
          {"length", found.length},    {"windows", found.windows},
          {"scored", found.scored},    {"nats", found.nats},
          {"bytes", found.text.bytes}, {"words", found.text.words}};
      for (const auto& [name, value] : metrics) {
        row[name] = value;
        scores.metrics[absl::StrCat(name, "_", found.length)] = value;
        if (i == main) scores.metrics[name] = value;
      }
      for (const auto& [name, error] : errors) {
        row[absl::StrCat(name, "_standard_error")] = error;
        scores.standard_errors[absl::StrCat(name, "_", found.length)] = error;
        if (i == main) scores.standard_errors[name] = error;
      }
      lengths.push_back(std::move(row));
      AddRow(found, metrics, &scores);
    }
    scores.details = About();
    scores.details["lengths"] = std::move(lengths);
    return scores;
  }

 private:
  // Where groups of documents begin in the first `num_tokens`, and their end.
  std::vector<uint64_t> GroupsOf(uint64_t num_tokens) const {
    std::vector<uint64_t> begins = {0};
    const uint64_t step = options_.documents_per_group;
    for (uint64_t i = step; step > 0 && i < stream_.num_documents();
         i += step) {
      if (stream_.DocumentBegin(i) >= num_tokens) break;
      begins.push_back(stream_.DocumentBegin(i));
    }
    begins.push_back(num_tokens);
    return begins;
  }

  // For messages.
  std::string OfGroups() const {
    if (options_.documents_per_group == 0) return "";
    return absl::StrCat(", of which ", options_.documents_per_group,
                        " documents go together");
  }

  // Number of the window's length among all.
  size_t LengthOf(int64_t index) const {
    return std::upper_bound(begins_.begin(), begins_.end(), index) -
           begins_.begin() - 1;
  }
  Window WindowOf(int64_t index) const {
    const size_t length = LengthOf(index);
    return windows_[length].Get(static_cast<uint64_t>(index - begins_[length]));
  }

  // That in which the scored part of a window begins.
  uint64_t DocumentOf(const Window& window) const {
    return stream_.DocumentAt(window.begin + window.first_scored);
  }

  LengthScores ScoresOf(size_t number, const tasks::Marked& marked) const {
    LengthScores found;
    found.length = options_.lengths[number];
    found.windows = begins_[number + 1] - begins_[number];
    const Window first = windows_[number].Get(0);
    const int64_t per_window = first.length - first.first_scored;
    found.scored = found.windows * per_window;
    for (int64_t from = 0; from < found.windows; from += kBatchWindows) {
      const int64_t count = std::min(kBatchWindows, found.windows - from);
      const auto batch_tokens = static_cast<double>(count * per_window);
      double batch_nats = 0;
      for (int64_t i = from; i < from + count; ++i) {
        const double nats = marked.nats[begins_[number] + i];
        const Window window = windows_[number].Get(static_cast<uint64_t>(i));
        const TextSize text =
            stream_.SizeOf(window.begin + window.first_scored, per_window);
        found.text.bytes += text.bytes;
        found.text.words += text.words;
        UnitScores& unit = found.units[DocumentOf(window)];
        unit.nats += nats;
        unit.tokens += static_cast<double>(per_window);
        unit.bytes += static_cast<double>(text.bytes);
        unit.words += static_cast<double>(text.words);
        unit.batches += 1 / static_cast<double>(count);
        unit.batch_means += nats / batch_tokens;
        batch_nats += nats;
      }
      found.nats += batch_nats;
      found.batch_means += batch_nats / batch_tokens;
      ++found.batches;
    }
    return found;
  }

  static std::map<std::string, double> MetricsOf(const LengthScores& found) {
    std::map<std::string, double> metrics = {
        {"perplexity", std::exp(found.mean())},
        {"batch_mean_perplexity",
         std::exp(found.batch_means / static_cast<double>(found.batches))}};
    if (found.text.bytes > 0) {
      metrics["bits_per_byte"] = found.nats / found.text.bytes / std::log(2.0);
    }
    if (found.text.words > 0) {
      metrics["word_perplexity"] = std::exp(found.nats / found.text.words);
    }
    return metrics;
  }

  // Of the metrics, to first order, where documents tell them.
  static std::map<std::string, double> ErrorsOf(
      const LengthScores& found, const std::map<std::string, double>& metrics) {
    std::map<std::string, double> errors;
    const auto add = [&](const char* name, const Ratio& ratio, double slope) {
      const std::optional<double> error = ErrorOf(ratio, found);
      if (error.has_value() && metrics.count(name) > 0) {
        errors[name] = slope * *error;
      }
    };
    const auto value = [&](const char* name) {
      return metrics.count(name) > 0 ? metrics.at(name) : 0;
    };
    add("perplexity", {&UnitScores::nats, &UnitScores::tokens},
        value("perplexity"));
    add("batch_mean_perplexity",
        {&UnitScores::batch_means, &UnitScores::batches},
        value("batch_mean_perplexity"));
    add("word_perplexity", {&UnitScores::nats, &UnitScores::words},
        value("word_perplexity"));
    add("bits_per_byte", {&UnitScores::nats, &UnitScores::bytes},
        1 / std::log(2.0));
    return errors;
  }

  // Perplexities stand beside what their unit is of: those of other tokens
  // cannot be compared.
  void AddRow(const LengthScores& found,
              const std::map<std::string, double>& metrics,
              tasks::Scores* scores) const {
    const std::string& tokenizer = options_.text.tokenizer;
    const int vocabulary = tokenizer_->vocabulary_size();
    absl::StrAppend(&scores->csv, found.length, ",", found.windows, ",",
                    found.scored, ",", CsvField(tokenizer), ",", vocabulary);
    absl::StrAppend(&scores->markdown, "| ", found.length, " | ", found.windows,
                    " | ", found.scored, " | ", MarkdownCell(tokenizer), " | ",
                    vocabulary, " |");
    for (const char* name : {"perplexity", "batch_mean_perplexity",
                             "word_perplexity", "bits_per_byte"}) {
      // Without text there are no words and bytes.
      const auto metric = metrics.find(name);
      const std::string number = metric == metrics.end()
                                     ? ""
                                     : absl::StrFormat("%.6g", metric->second);
      absl::StrAppend(&scores->csv, ",", number);
      absl::StrAppend(&scores->markdown, " ", number, " |");
    }
    scores->csv += "\n";
    scores->markdown += "\n";
  }

  // What numbers cannot be compared without.
  ordered_json About() const {
    ordered_json about;
    about["data_fingerprint"] = fingerprint_;
    about["tokenizer"] = options_.text.tokenizer;
    about["tokenizer_sha256"] = tokenizer_->digest();
    about["vocabulary_size"] = tokenizer_->vocabulary_size();
    about["documents"] = stream_.num_documents();
    about["tokens"] = stream_.num_tokens();
    about["bytes"] = stream_.num_bytes();
    about["words"] = stream_.num_words();
    about["protocol"] = NameOf(options_.windows.protocol);
    if (options_.windows.protocol != rows::Protocol::kBlocks) {
      about["step"] = options_.windows.step;
    }
    about["every"] = options_.windows.every;
    about["documents_per_group"] = options_.documents_per_group;
    about["drop_last"] = options_.windows.drop_last;
    if (options_.trained_length > 0) {
      about["trained_length"] = options_.trained_length;
    }
    return about;
  }

  const PerplexityOptions options_;
  const std::unique_ptr<tokenizers::TextTokenizer> tokenizer_;
  const std::vector<std::unique_ptr<store::TokenStore>> stores_;
  const std::string fingerprint_;
  const TokenStream stream_;
  // Of each length, and the windows before them and before the end.
  std::vector<Windows> windows_;
  std::vector<int64_t> begins_ = {0};
};

}  // namespace

absl::StatusOr<std::unique_ptr<tasks::EvaluationTask>> OpenPerplexity(
    const tasks::DataAccess& access, const PerplexityOptions& options) {
  ORDO_ASSIGN_OR_RETURN(auto tokenizer,
                        OpenTokenizer(access, options.text.field + ".tokenizer",
                                      options.text.tokenizer));
  ORDO_ASSIGN_OR_RETURN(auto stores,
                        OpenTokenData(access, options.text, *tokenizer));
  auto task = std::make_unique<Perplexity>(options, std::move(tokenizer),
                                           std::move(stores));
  ORDO_RETURN_IF_ERROR(task->MakeWindows());
  return task;
}

}  // namespace ordo::model::text::task
