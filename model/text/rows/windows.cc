#include "model/text/rows/windows.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::model::text::rows {
namespace {

// How many of a group there are before every k-th is taken.
uint64_t CountAll(uint64_t num_tokens, const WindowOptions& options) {
  const auto length = static_cast<uint64_t>(options.length);
  const auto step = static_cast<uint64_t>(options.step);
  if (options.protocol == Protocol::kBlocks) {
    const uint64_t blocks = num_tokens / length;
    return blocks > 0 && options.drop_last ? blocks - 1 : blocks;
  }
  if (num_tokens <= length) return 0;
  return (num_tokens - length + step - 1) / step;
}

}  // namespace

Windows::Windows(std::vector<uint64_t> begins, const WindowOptions& options)
    : options_(options), begins_(std::move(begins)) {
  for (size_t i = 1; i < begins_.size(); ++i) {
    windows_.push_back(windows_.back() +
                       CountAll(begins_[i] - begins_[i - 1], options));
  }
  const auto every = static_cast<uint64_t>(options.every);
  size_ = (windows_.back() + every - 1) / every;
}

absl::StatusOr<Windows> Windows::Create(std::vector<uint64_t> begins,
                                        const WindowOptions& options) {
  ORDO_CHECK(!begins.empty() && begins.front() == 0 &&
             std::is_sorted(begins.begin(), begins.end()))
      << "groups from 0 on";
  std::vector<base::FieldViolation> violations;
  if (options.length < 2) {
    violations.push_back({"length", "must be 2 or more"});
  }
  if (options.step < 1) violations.push_back({"step", "must be 1 or more"});
  if (options.protocol == Protocol::kStride && options.step >= options.length) {
    violations.push_back(
        {"step",
         "must be less than length: a window's first token has "
         "nothing before it"});
  }
  if (options.every < 1) violations.push_back({"every", "must be 1 or more"});
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return Windows(std::move(begins), options);
}

Window Windows::Get(uint64_t index) const {
  ORDO_CHECK(index < size_);
  const bool blocks = options_.protocol == Protocol::kBlocks;
  const auto apart =
      static_cast<uint64_t>(blocks ? options_.length : options_.step);
  const uint64_t number = index * static_cast<uint64_t>(options_.every);
  const auto next = std::upper_bound(windows_.begin(), windows_.end(), number);
  const auto group = static_cast<size_t>(next - windows_.begin()) - 1;
  Window window;
  window.begin = begins_[group] + (number - windows_[group]) * apart;
  window.length = options_.length;
  window.first_scored = options_.protocol == Protocol::kStride
                            ? options_.length - options_.step
                            : 1;
  return window;
}

uint64_t Windows::num_scored() const {
  if (size_ == 0) return 0;
  const Window first = Get(0);
  return size_ * static_cast<uint64_t>(first.length - first.first_scored);
}

}  // namespace ordo::model::text::rows
