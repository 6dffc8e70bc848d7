#ifndef ORDO_BASE_LOG_QUOTE_H_
#define ORDO_BASE_LOG_QUOTE_H_

#include <string>
#include <string_view>

// Values of log lines between quotes.

namespace ordo::base {

// For key=value lines: as it is, or quoted when it is empty or holds anything
// but printable ASCII without blanks, quotes, '=' and '\'. Other bytes than
// those of ASCII stay as they are.
std::string TextValue(std::string_view value);

// A string of JSON (RFC 8259), which holds well-formed UTF-8 whatever `value`
// holds: U+FFFD stands for each byte that is of no character.
std::string JsonString(std::string_view value);

}  // namespace ordo::base

#endif  // ORDO_BASE_LOG_QUOTE_H_
