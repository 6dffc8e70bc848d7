#include "model/tasks/by_lengths.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "model/tasks/rate.h"
#include "model/tasks/shares.h"

namespace ordo::model::tasks {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kError[] = "error";

// What parts sum up by the lengths beside training, which is done here.
bool IsSummary(const std::string& metric) {
  return metric == kError || metric == "score" || metric == "trained_mean";
}

// A metric with what is known of its uncertainty.
Estimate EstimateOfMetric(const Scores& scores, const std::string& metric) {
  Estimate estimate;
  estimate.value = scores.metrics.at(metric);
  if (const auto error = scores.standard_errors.find(metric);
      error != scores.standard_errors.end()) {
    estimate.standard_error = error->second;
  }
  if (const auto sampled = scores.sampled.find(metric);
      sampled != scores.sampled.end()) {
    estimate.num_units = sampled->second.units;
    estimate.num_items = sampled->second.items;
  }
  return estimate;
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
    scores.csv = absl::StrCat(about_.by, ",error,items,standard_error\n");
    scores.markdown = absl::StrCat("|", about_.by,
                                   "|error in per cent ± standard error|of|\n"
                                   "|---|---|---|\n");
    Json rows = Json::array();
    std::string details;
    UnitNumbers units;
    std::vector<PartError> errors, longer;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const TaskAtLength& part = parts_[i];
      Scores own = part.task->Score(MarkedOf(marked, i));
      PartError found = ErrorOf(i, marked, own, &units);
      TakeMetrics(part, found.error, own, &scores);
      TakeLists(own, &scores);
      rows.push_back(RowOf(part, found));
      AppendLines(part, found, &scores);
      absl::StrAppend(&details, "\n## ", about_.by, " ", part.length, "\n\n",
                      own.markdown);
      for (ScoredItem& item : own.items) {
        item.unit = UnitOf(part, item.id, item.unit);
        item.id = Named(part, item.id);
        scores.items.push_back(std::move(item));
      }
      if (about_.trained > 0 && part.length > about_.trained) {
        longer.push_back(found);
      }
      errors.push_back(std::move(found));
    }
    Scores means;
    SetMetrics({{kError, MeanOfParts(errors)}}, &means);
    if (!longer.empty()) {
      SetMetrics({{"error_longer", MeanOfParts(longer)}}, &means);
    }
    absl::StrAppend(&scores.markdown, "\n", MetricLines(means));
    scores.metrics.merge(means.metrics);
    scores.standard_errors.merge(means.standard_errors);
    scores.sampled.merge(means.sampled);
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

  // What went wrong at one length.
  struct PartError {
    Estimate error;
    // Worths of its items, by numbers of units that all lengths have in common.
    Rate items;
    // Whether the part says its error itself.
    bool is_own = false;
  };

  // What the error is a mean of; 0: not known.
  static int64_t NumItemsOf(const PartError& found) {
    return found.is_own ? found.error.num_items : found.items.total();
  }

  // Of `by_length`.
  Json RowOf(const TaskAtLength& part, const PartError& found) const {
    const int64_t num_items = NumItemsOf(found);
    Json row = {{about_.by, part.length}, {kError, found.error.value}};
    if (num_items > 0) row["items"] = num_items;
    AddError(found.error, found.items.num_units(), &row);
    return row;
  }

  // The same in csv and markdown.
  static void AppendLines(const TaskAtLength& part, const PartError& found,
                          Scores* scores) {
    const int64_t num_items = NumItemsOf(found);
    const std::string count = num_items > 0 ? absl::StrCat(num_items) : "";
    absl::StrAppend(&scores->csv, part.length, ",", found.error.value, ",",
                    count, ",", ErrorCell(found.error), "\n");
    absl::StrAppend(&scores->markdown, "|", part.length, "|",
                    PercentWithError(found.error), "|", count, "|\n");
  }

  // By name.
  using UnitNumbers = std::map<std::string, int64_t>;

  // Items of texts are those that the part says. Units that are not in `units`
  // yet get the next number.
  PartError ErrorOf(size_t i, const Marked& marked, const Scores& own,
                    UnitNumbers* units) const {
    PartError found;
    const auto add = [&found, units](const std::string& unit, double worth) {
      const auto next = static_cast<int64_t>(units->size());
      found.items.Add(units->emplace(unit, next).first->second, worth);
    };
    const int64_t begin = begins_[i], end = begin + parts_[i].task->size();
    if (measure() == Measure::kText) {
      for (const ScoredItem& item : own.items) {
        add(UnitOf(parts_[i], item.id, item.unit), item.score);
      }
    } else {
      for (int64_t index = begin; index < end; ++index) {
        add(UnitId(marked.seed, index), ItemScore(marked.answers[index]));
      }
    }
    found.is_own = own.metrics.count(kError) > 0;
    if (found.is_own) {
      found.error = EstimateOfMetric(own, kError);
    } else {
      found.error = EstimateOf(found.items);
      found.error.value = 1 - found.error.value;
    }
    return found;
  }

  // Each length counts the same. Where parts say their errors themselves, what
  // one draws tells nothing of the others.
  static Estimate MeanOfParts(const std::vector<PartError>& parts) {
    const auto count = static_cast<double>(parts.size());
    Estimate mean;
    std::vector<const Rate*> rates;
    double squares = 0;
    bool is_known = true;
    int64_t fewest_items = parts.front().error.num_items;
    for (const PartError& part : parts) {
      fewest_items = std::min(fewest_items, part.error.num_items);
      mean.value += part.error.value;
      rates.push_back(&part.items);
      is_known = is_known && part.error.standard_error.has_value();
      const double error = part.error.standard_error.value_or(0);
      squares += error * error;
    }
    mean.value /= count;
    const Estimate of_items = MeanOf(rates);
    mean.num_units = of_items.num_units;
    mean.num_items = static_cast<int64_t>(parts.size()) * fewest_items;
    if (!parts.front().is_own) {
      mean.standard_error = of_items.standard_error;
    } else if (is_known) {
      mean.standard_error = std::sqrt(squares) / count;
    }
    return mean;
  }

  static void TakeMetrics(const TaskAtLength& part, const Estimate& error,
                          const Scores& own, Scores* scores) {
    const auto named = [&part](const std::string& name) {
      return absl::StrCat(name, "_", part.length);
    };
    Estimates estimates = {{named(kError), error}};
    for (const auto& [name, value] : own.metrics) {
      if (IsSummary(name)) continue;
      estimates[named(name)] = EstimateOfMetric(own, name);
    }
    SetMetrics(estimates, scores);
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
