#include "base/text/lines.h"

namespace ordo::base {
namespace {

std::string_view WithoutBlanks(std::string_view text) {
  constexpr char kBlanks[] = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::string LineValue(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos &&
        WithoutBlanks(line.substr(0, colon)) == key) {
      return std::string(WithoutBlanks(line.substr(colon + 1)));
    }
    text.remove_prefix(line.size() < text.size() ? line.size() + 1
                                                 : text.size());
  }
  return "";
}

}  // namespace ordo::base
