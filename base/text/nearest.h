#ifndef ORDO_BASE_TEXT_NEAREST_H_
#define ORDO_BASE_TEXT_NEAREST_H_

#include <string>
#include <string_view>
#include <vector>

namespace ordo::base {

// Number of insertions, deletions, replacements and swaps of neighbours that
// turn `a` into `b` (Damerau and Levenshtein, the restricted form in which no
// part is edited twice).
int EditDistance(std::string_view a, std::string_view b);

// The candidate whose words, divided by _, begin with the letters of `name`,
// such as learning_rate for "lr", or else the one nearest to `name`, the first
// of equals; empty when none is near enough to be what was meant (more than a
// third of `name` differs, at least two edits allowed) and none begins with
// `name`, of at least three letters.
std::string Nearest(std::string_view name,
                    const std::vector<std::string>& candidates);

// "; did you mean 'steps'?", or a list of the valid names when none is near, or
// empty when there are no candidates. To end an error message about `name`.
std::string SuggestName(std::string_view name,
                        const std::vector<std::string>& candidates);

}  // namespace ordo::base

#endif  // ORDO_BASE_TEXT_NEAREST_H_
