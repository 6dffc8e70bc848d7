#include "model/tasks/sample_slice.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random/random.h"

namespace ordo::model::tasks {

SampleSlice::SampleSlice(std::unique_ptr<EvaluationTask> whole,
                         std::unique_ptr<EvaluationTask> part,
                         const Range& range)
    : whole_(std::move(whole)),
      part_(std::move(part)),
      range_(range),
      num_samples_(whole_->size() / range.items_per_sample) {
  ORDO_CHECK(part_->size() == range.count * range.items_per_sample)
      << "a slice of " << range.count << " samples has " << part_->size()
      << " questions";
  ORDO_CHECK(range.first >= 0 && range.first + range.count <= num_samples_)
      << "samples from " << range.first << " on of " << num_samples_;
  const auto num_kinds = static_cast<uint64_t>(range.items_per_sample);
  for (int64_t i = 0; num_kinds > 1 && i < range.count; ++i) {
    base::RandomSequence random(range.seed,
                                absl::StrCat("slice/", range.first + i));
    kinds_.push_back(random.Permutation(num_kinds));
  }
}

absl::StatusOr<Question> SampleSlice::Generate(uint64_t seed,
                                               int64_t index) const {
  return whole_->Generate(seed, InWhole(index));
}

std::string SampleSlice::ItemId(uint64_t seed, int64_t index) const {
  const Place place = PlaceOf(index);
  if (range_.items_per_sample == 1)
    return absl::StrCat(seed, "-", place.sample);
  return absl::StrCat(seed, "-", place.kind, "-", place.sample);
}

Scores SampleSlice::Score(const Marked& marked) const {
  Marked sorted;
  sorted.seed = marked.seed;
  sorted.answers.resize(marked.answers.size());
  sorted.nats.resize(marked.nats.size());
  sorted.texts.resize(marked.texts.size());
  for (int64_t index = 0; index < size(); ++index) {
    const Place place = PlaceOf(index);
    const int64_t in_part =
        place.kind * range_.count + place.sample - range_.first;
    if (!marked.answers.empty()) {
      sorted.answers[in_part] = marked.answers[index];
    }
    if (!marked.nats.empty()) sorted.nats[in_part] = marked.nats[index];
    if (!marked.texts.empty()) sorted.texts[in_part] = marked.texts[index];
  }
  Scores scores = part_->Score(sorted);
  scores.details["first_sample"] = range_.first;
  return scores;
}

SampleSlice::Place SampleSlice::PlaceOf(int64_t index) const {
  const int64_t sample = index / range_.items_per_sample;
  if (kinds_.empty()) return {0, range_.first + sample};
  const int64_t number = index % range_.items_per_sample;
  return {static_cast<int64_t>(kinds_[sample][number]), range_.first + sample};
}

int64_t SampleSlice::InWhole(int64_t index) const {
  const Place place = PlaceOf(index);
  return place.kind * num_samples_ + place.sample;
}

}  // namespace ordo::model::tasks
