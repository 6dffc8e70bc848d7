#include "base/text/nearest.h"

#include <algorithm>
#include <cstddef>

namespace ordo::base {
namespace {

// Whether `name` has the first letter of each word of a candidate of several.
bool AreInitials(std::string_view name, std::string_view candidate) {
  constexpr char kBetweenWords = '_';
  std::string initials;
  char before = kBetweenWords;
  for (const char letter : candidate) {
    if (before == kBetweenWords) initials += letter;
    before = letter;
  }
  return initials.size() > 1 && initials == name;
}

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  // distance[i][j] is that of the first i of `a` and the first j of `b`.
  std::vector<std::vector<int>> distance(a.size() + 1,
                                         std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) distance[i][0] = static_cast<int>(i);
  for (size_t j = 0; j <= b.size(); ++j) distance[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      int least = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                            distance[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least = std::min(least, distance[i - 2][j - 2] + 1);
      }
      distance[i][j] = least;
    }
  }
  return distance[a.size()][b.size()];
}

std::string Nearest(std::string_view name,
                    const std::vector<std::string>& candidates) {
  // The table above is quadratic; nobody means a name this long.
  constexpr size_t kMaxName = 128;
  constexpr size_t kMinBeginning = 3;
  if (name.size() > kMaxName) return "";
  for (const std::string& candidate : candidates) {
    if (AreInitials(name, candidate)) return candidate;
  }
  const int limit = std::max(2, static_cast<int>(name.size()) / 3);
  std::string nearest;
  int least = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxName) continue;
    const int distance = EditDistance(name, candidate);
    // Nothing of a short name is left after as many edits as it has letters.
    if (distance >= static_cast<int>(std::max(name.size(), candidate.size()))) {
      continue;
    }
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty() || name.size() < kMinBeginning) return nearest;
  const auto longer = std::find_if(
      candidates.begin(), candidates.end(), [&](const std::string& candidate) {
        return std::string_view(candidate).substr(0, name.size()) == name;
      });
  return longer == candidates.end() ? "" : *longer;
}

std::string SuggestName(std::string_view name,
                        const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  const std::string nearest = Nearest(name, candidates);
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  std::string list;
  for (const std::string& candidate : candidates) {
    list += (list.empty() ? "; valid: " : ", ") + candidate;
  }
  return list;
}

}  // namespace ordo::base
