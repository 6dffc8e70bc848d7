#include "scheduler/core/job_reason.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

// Sorted.
const std::vector<std::string>& Shared() {
  static const auto& shared = *new std::vector<std::string>([] {
    std::vector<std::string> texts(std::begin(reason::kAll),
                                   std::end(reason::kAll));
    std::sort(texts.begin(), texts.end());
    return texts;
  }());
  return shared;
}

bool IsShared(const std::string* text) {
  const std::vector<std::string>& shared = Shared();
  const std::less<const std::string*> before;
  return !before(text, shared.data()) &&
         before(text, shared.data() + shared.size());
}

}  // namespace

JobReason::JobReason(const JobReason& other) { *this = other; }

JobReason& JobReason::operator=(const JobReason& other) {
  if (this == &other) return *this;
  const std::string* const text = other.text_.get();
  text_.reset(text == nullptr || IsShared(text) ? text
                                                : new std::string(*text));
  return *this;
}

JobReason& JobReason::operator=(std::string_view text) {
  const std::vector<std::string>& shared = Shared();
  const auto it = std::lower_bound(shared.begin(), shared.end(), text);
  if (it != shared.end() && *it == text) {
    text_.reset(&*it);
  } else {
    text_.reset(text.empty() ? nullptr : new std::string(text));
  }
  return *this;
}

const std::string& JobReason::value() const {
  static const std::string& empty = *new std::string();
  return text_ == nullptr ? empty : *text_;
}

void JobReason::FreeOwn::operator()(const std::string* text) const {
  if (!IsShared(text)) delete text;
}

}  // namespace ordo::scheduler::core
