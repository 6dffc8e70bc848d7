#include "model/tasks/by_lengths.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "model/tasks/shares.h"

namespace ordo::model::tasks {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kError[] = "error";

// What parts sum up by the lengths beside training, which is done here.
bool IsSummary(const std::string& metric) {
  return metric == kError || metric == "score" || metric == "trained_mean";
}

class ByLengths : public EvaluationTask {
 public:
  ByLengths(std::vector<TaskAtLength> parts, ByLengthsAbout about)
      : parts_(std::move(parts)), about_(std::move(about)) {
    ORDO_CHECK(!parts_.empty()) << "no lengths";
    ORDO_CHECK(First().measure() == Measure::kRight ||
               First().measure() == Measure::kText)
        << "not of right answers";
    for (const TaskAtLength& part : parts_) {
      begins_.push_back(size_);
      size_ += part.task->size();
    }
  }

  const Tokenizer& tokenizer() const override { return First().tokenizer(); }
  int64_t size() const override { return size_; }
  Measure measure() const override { return First().measure(); }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    const Place place = PlaceOf(index);
    return place.part.task->Generate(seed, place.index);
  }
  int PromptLength(int64_t index) const override {
    const Place place = PlaceOf(index);
    return place.part.task->PromptLength(place.index);
  }
  int AnswerLength(int64_t index) const override {
    const Place place = PlaceOf(index);
    return place.part.task->AnswerLength(place.index);
  }
  std::optional<int64_t> end_token() const override {
    return First().end_token();
  }
  std::string ItemId(uint64_t seed, int64_t index) const override {
    const Place place = PlaceOf(index);
    return Named(place.part, place.part.task->ItemId(seed, place.index));
  }
  std::string UnitId(uint64_t seed, int64_t index) const override {
    const auto& [part, i] = PlaceOf(index);
    return UnitOf(part, part.task->ItemId(seed, i), part.task->UnitId(seed, i));
  }
  double ItemScore(const Marks& marks) const override {
    return First().ItemScore(marks);
  }
  std::string data_fingerprint() const override {
    return First().data_fingerprint();
  }

  Scores Score(const Marked& marked) const override {
    Scores scores;
    scores.csv = absl::StrCat(about_.by, ",error,items\n");
    scores.markdown =
        absl::StrCat("|", about_.by, "|error in per cent|of|\n|---|---|---|\n");
    Json rows = Json::array();
    std::string details;
    Mean mean, longer;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const TaskAtLength& part = parts_[i];
      const Marked of_part = MarkedOf(marked, i);
      Scores own = part.task->Score(of_part);
      const double error = ErrorOf(part, of_part, own);
      mean.Add(error);
      if (about_.trained > 0 && part.length > about_.trained) longer.Add(error);
      TakeMetrics(part, error, own, &scores);
      TakeLists(own, &scores);
      rows.push_back({{about_.by, part.length},
                      {kError, error},
                      {"items", part.task->size()}});
      absl::StrAppend(&scores.csv, part.length, ",", error, ",",
                      part.task->size(), "\n");
      absl::StrAppendFormat(&scores.markdown, "|%d|%.1f|%d|\n", part.length,
                            100 * error, part.task->size());
      absl::StrAppend(&details, "\n## ", about_.by, " ", part.length, "\n\n",
                      own.markdown);
      for (ScoredItem& item : own.items) {
        item.unit = UnitOf(part, item.id, item.unit);
        item.id = Named(part, item.id);
        scores.items.push_back(std::move(item));
      }
    }
    scores.metrics[kError] = mean.sum / mean.count;
    if (longer.count > 0) {
      scores.metrics["error_longer"] = longer.sum / longer.count;
    }
    scores.details["by_length"] = std::move(rows);
    scores.details["trained_length"] = about_.trained;
    scores.markdown += details;
    return scores;
  }

 private:
  // A question, as its part knows it.
  struct Place {
    const TaskAtLength& part;
    int64_t index;
  };

  const EvaluationTask& First() const { return *parts_.front().task; }

  Place PlaceOf(int64_t index) const {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), index);
    const auto i = static_cast<size_t>(next - begins_.begin()) - 1;
    return {parts_[i], index - begins_[i]};
  }

  static std::string Named(const TaskAtLength& part, const std::string& name) {
    return absl::StrCat(part.length, "/", name);
  }

  // Of an item of the part.
  static std::string UnitOf(const TaskAtLength& part, const std::string& item,
                            const std::string& unit) {
    return unit == item ? Named(part, unit) : unit;
  }

  Marked MarkedOf(const Marked& marked, size_t i) const {
    const int64_t begin = begins_[i], end = begin + parts_[i].task->size();
    Marked of_part;
    of_part.seed = marked.seed;
    if (measure() == Measure::kText) {
      of_part.texts = {marked.texts.begin() + begin,
                       marked.texts.begin() + end};
    } else {
      of_part.answers = {marked.answers.begin() + begin,
                         marked.answers.begin() + end};
    }
    return of_part;
  }

  double ErrorOf(const TaskAtLength& part, const Marked& marked,
                 const Scores& scores) const {
    const auto own = scores.metrics.find(kError);
    if (own != scores.metrics.end()) return own->second;
    double sum = 0;
    for (const ScoredItem& item : scores.items) sum += item.score;
    for (const Marks& marks : marked.answers) {
      sum += part.task->ItemScore(marks);
    }
    return 1 - sum / static_cast<double>(part.task->size());
  }

  static void TakeMetrics(const TaskAtLength& part, double error,
                          const Scores& own, Scores* scores) {
    const auto named = [&part](const std::string& name) {
      return absl::StrCat(name, "_", part.length);
    };
    scores->metrics[named(kError)] = error;
    for (const auto& [name, value] : own.metrics) {
      if (!IsSummary(name)) scores->metrics[named(name)] = value;
    }
  }

  // Those whose entries say their length themselves.
  static void TakeLists(const Scores& own, Scores* scores) {
    for (const char* name : {"cells", "prompt_tokens"}) {
      const auto list = own.details.find(name);
      if (list == own.details.end()) continue;
      for (const Json& entry : *list) scores->details[name].push_back(entry);
    }
  }

  const std::vector<TaskAtLength> parts_;
  const ByLengthsAbout about_;
  // Index of the first question of each part.
  std::vector<int64_t> begins_;
  int64_t size_ = 0;
};

}  // namespace

std::unique_ptr<EvaluationTask> MakeByLengths(std::vector<TaskAtLength> parts,
                                              ByLengthsAbout about) {
  return std::make_unique<ByLengths>(std::move(parts), std::move(about));
}

}  // namespace ordo::model::tasks
