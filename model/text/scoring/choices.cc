#include "model/text/scoring/choices.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace ordo::model::text::scoring {
namespace {

template <typename Value>
size_t FirstOfLargest(const std::vector<Choice>& choices, const Value& value) {
  ORDO_CHECK(!choices.empty());
  const auto largest = std::max_element(
      choices.begin(), choices.end(),
      [&](const Choice& a, const Choice& b) { return value(a) < value(b); });
  return largest - choices.begin();
}

}  // namespace

size_t Likeliest(const std::vector<Choice>& choices) {
  return FirstOfLargest(
      choices, [](const Choice& choice) { return choice.log_likelihood; });
}

size_t LikeliestPerCharacter(const std::vector<Choice>& choices) {
  return FirstOfLargest(choices, [](const Choice& choice) {
    ORDO_CHECK(choice.num_characters >= 0);
    if (choice.num_characters == 0) {
      return -std::numeric_limits<double>::infinity();
    }
    return choice.log_likelihood / static_cast<double>(choice.num_characters);
  });
}

}  // namespace ordo::model::text::scoring
