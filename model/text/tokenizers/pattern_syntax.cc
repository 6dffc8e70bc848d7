#include "model/text/tokenizers/pattern_syntax.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"

namespace ordo::model::text::tokenizers {
namespace {

// Members of a class. White_Space: PCRE2's own \s has U+180E too, which has not
// been a blank since Unicode 6.3.
constexpr char kBlanks[] = R"(\t-\r\x{85}\x{2028}\x{2029}\p{Zs})";
constexpr char kNoBlanks[] =
    R"(\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F})"
    R"(\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E})"
    R"(\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";
constexpr char kWord[] = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

struct NamedClass {
  std::string_view name;
  const char* members;
};
constexpr NamedClass kNamedClasses[] = {
    {"[:alnum:]", R"(\p{Alphabetic}\p{Nd})"},
    {"[:alpha:]", R"(\p{Alphabetic})"},
    {"[:digit:]", R"(\p{Nd})"},
    {"[:lower:]", R"(\p{Lowercase})"},
    {"[:space:]", kBlanks},
    {"[:upper:]", R"(\p{Uppercase})"},
};

// What may stand behind "(?". Options for the rest of a group reach less far in
// Ruby.
constexpr std::string_view kGroups[] = {"?:",  "?=",  "?!",  "?>",
                                        "?<=", "?<!", "?i:", "?-i:"};

bool BeginsWith(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  absl::StatusOr<std::string> Run() {
    while (!rest().empty()) ORDO_RETURN_IF_ERROR(Element());
    return std::move(translated_);
  }

 private:
  std::string_view rest() const { return pattern_.substr(at_); }

  // Copies `num_bytes`, or as many as are left.
  void Copy(size_t num_bytes) {
    const std::string_view bytes = rest().substr(0, num_bytes);
    translated_.append(bytes);
    at_ += bytes.size();
  }
  void Replace(size_t num_bytes, const std::string& by) {
    translated_.append(by);
    at_ += num_bytes;
  }

  absl::Status Refuse(size_t num_bytes, const char* fix) const {
    return absl::InvalidArgumentError(
        absl::StrCat("pattern '", std::string(pattern_), "' has '",
                     std::string(rest().substr(0, num_bytes)), "' at byte ",
                     at_, ", which is not supported: ", fix));
  }

  absl::Status Element() {
    const std::string_view text = rest();
    if (text[0] == '\\') return Escape(/*in_class=*/false);
    if (text[0] == '[') return Class();
    if (BeginsWith(text, "(*")) return Refuse(2, "leave it out");
    if (BeginsWith(text, "(?")) return Group();
    // Greedy, and repeated, in Ruby; possessive in PCRE2.
    if (BeginsWith(text, "}+")) return Refuse(2, "put the part in (?:...)");
    if (BeginsWith(text, "{,")) return Refuse(2, "write {0,");
    Copy(1);
    return absl::OkStatus();
  }

  absl::Status Group() {
    for (const std::string_view group : kGroups) {
      if (BeginsWith(rest().substr(1), group)) {
        Copy(1 + group.size());
        return absl::OkStatus();
      }
    }
    return Refuse(3, "groups may begin with ?: ?= ?! ?> ?<= ?<! ?i: and ?-i:");
  }

  absl::Status Escape(bool in_class) {
    const std::string_view text = rest();
    if (text.size() == 1 || !absl::ascii_isalnum(text[1])) {
      Copy(2);
      return absl::OkStatus();
    }
    switch (text[1]) {
      case 's':
        Replace(2, InClass(kBlanks, in_class));
        return absl::OkStatus();
      case 'S':
        Replace(2, InClass(kNoBlanks, in_class));
        return absl::OkStatus();
      case 'w':
        Replace(2, InClass(kWord, in_class));
        return absl::OkStatus();
      case 'W':
        if (in_class) return Refuse(2, "spell it out by properties");
        Replace(2, absl::StrCat("[^", kWord, "]"));
        return absl::OkStatus();
      case 'p':
      case 'P':
      case 'x':
        // With its name or number.
        Copy(text.size() > 2 && text[2] == '{' ? text.find('}') : 1);
        Copy(1);
        return absl::OkStatus();
      case 'd':
      case 'D':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        Copy(2);
        return absl::OkStatus();
      case 'A':
      case 'z':
        if (in_class) break;
        Copy(2);
        return absl::OkStatus();
      default:
        break;
    }
    return Refuse(2, "it loses characters, or means something else here");
  }

  static std::string InClass(const char* members, bool in_class) {
    return in_class ? members : absl::StrCat("[", members, "]");
  }

  absl::Status Class() {
    Copy(BeginsWith(rest(), "[^") ? 2 : 1);
    // First, it is a letter.
    if (BeginsWith(rest(), "]")) Replace(1, R"(\])");
    while (!rest().empty() && rest()[0] != ']') {
      ORDO_RETURN_IF_ERROR(Member());
    }
    Copy(1);
    return absl::OkStatus();
  }

  absl::Status Member() {
    const std::string_view text = rest();
    if (text[0] == '\\') return Escape(/*in_class=*/true);
    for (const NamedClass& named : kNamedClasses) {
      if (BeginsWith(text, named.name)) {
        Replace(named.name.size(), named.members);
        return absl::OkStatus();
      }
    }
    // A letter to PCRE2.
    if (text[0] == '[') {
      return Refuse(2,
                    R"(write \[ for the letter, and no class in a class but )"
                    "[:alnum:] [:alpha:] [:digit:] [:lower:] [:space:] and "
                    "[:upper:]");
    }
    if (BeginsWith(text, "&&")) return Refuse(2, R"(write \& for the letter)");
    Copy(1);
    return absl::OkStatus();
  }

  const std::string_view pattern_;
  size_t at_ = 0;
  std::string translated_;
};

}  // namespace

absl::StatusOr<std::string> ToPcre2(std::string_view pattern) {
  return Translator(pattern).Run();
}

}  // namespace ordo::model::text::tokenizers
