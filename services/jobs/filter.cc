#include "services/jobs/filter.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::Job;

constexpr char kLabelPrefix[] = "labels.";

struct Token {
  enum class Kind { kWord, kEquals, kQuoted, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  // Of its first character, from 1, for messages.
  size_t column = 0;
};

absl::Status Error(size_t column, const std::string& what) {
  return base::InvalidField("filter",
                            absl::StrCat("character ", column, ": ", what));
}

bool IsWordCharacter(char c) {
  return !absl::ascii_isspace(static_cast<unsigned char>(c)) &&
         std::string_view("=\"()<>!").find(c) == std::string_view::npos;
}

// Reads the quoted text that starts at `*position`.
absl::StatusOr<std::string> ReadQuoted(std::string_view text,
                                       size_t* position) {
  const size_t column = *position + 1;
  std::string value;
  for (size_t i = *position + 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      *position = i + 1;
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    value += text[i];
  }
  return Error(column, "the closing '\"' is missing");
}

absl::StatusOr<std::vector<Token>> Tokenise(std::string_view text) {
  std::vector<Token> tokens;
  size_t position = 0;
  while (position < text.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text[position]))) {
      ++position;
      continue;
    }
    Token token;
    token.column = position + 1;
    if (text[position] == '=') {
      token.kind = Token::Kind::kEquals;
      token.text = "=";
      ++position;
    } else if (text[position] == '"') {
      token.kind = Token::Kind::kQuoted;
      ORDO_ASSIGN_OR_RETURN(token.text, ReadQuoted(text, &position));
    } else if (IsWordCharacter(text[position])) {
      token.kind = Token::Kind::kWord;
      while (position < text.size() && IsWordCharacter(text[position])) {
        token.text += text[position++];
      }
    } else {
      return Error(token.column,
                   absl::StrCat("'", std::string(1, text[position]),
                                "' is not understood; terms are KEY = VALUE, "
                                "joined by AND"));
    }
    tokens.push_back(std::move(token));
  }
  Token end;
  end.column = text.size() + 1;
  tokens.push_back(end);
  return tokens;
}

absl::StatusOr<Job::State> ParseState(const Token& value) {
  std::vector<std::string> names;
  const auto* states = Job::State_descriptor();
  for (int i = 0; i < states->value_count(); ++i) {
    if (states->value(i)->number() != Job::STATE_UNSPECIFIED) {
      names.push_back(states->value(i)->name());
    }
  }
  const std::string name = absl::AsciiStrToUpper(value.text);
  Job::State state;
  if (!Job::State_Parse(name, &state) || state == Job::STATE_UNSPECIFIED) {
    return Error(value.column,
                 absl::StrCat("no state is called '", value.text, "'",
                              base::SuggestName(name, names)));
  }
  return state;
}

absl::Status AddTerm(const Token& key, const Token& value,
                     scheduler::JobFilter* filter) {
  if (key.text == "state") {
    ORDO_ASSIGN_OR_RETURN(filter->state, ParseState(value));
  } else if (key.text == "queue") {
    filter->queue = value.text;
  } else if (key.text == "owner") {
    filter->owner = value.text;
  } else if (key.text == "parent") {
    constexpr std::string_view kPrefix = "jobs/";
    const bool is_full = value.text.rfind(kPrefix, 0) == 0;
    filter->parent = value.text.substr(is_full ? kPrefix.size() : 0);
  } else if (key.text.rfind(kLabelPrefix, 0) == 0 &&
             key.text.size() > sizeof(kLabelPrefix) - 1) {
    filter->labels[key.text.substr(sizeof(kLabelPrefix) - 1)] = value.text;
  } else {
    return Error(
        key.column,
        absl::StrCat("jobs cannot be filtered by '", key.text, "'",
                     base::SuggestName(key.text, {"state", "queue", "owner",
                                                  "parent", "labels.KEY"})));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<scheduler::JobFilter> ParseFilter(std::string_view text) {
  scheduler::JobFilter filter;
  if (text.size() > kMaxFilterBytes) {
    return base::InvalidField(
        "filter",
        absl::StrCat("has ", text.size(), " bytes; at most ", kMaxFilterBytes));
  }
  ORDO_ASSIGN_OR_RETURN(const std::vector<Token> tokens, Tokenise(text));
  if (tokens.size() == 1) return filter;
  std::set<std::string> keys;
  // The last token is kEnd, which ends the loop before an index runs over.
  for (size_t i = 0;;) {
    const Token& key = tokens[i];
    if (key.kind != Token::Kind::kWord) {
      return Error(key.column,
                   "a key is expected: state, queue, owner, parent or "
                   "labels.KEY");
    }
    if (tokens[i + 1].kind != Token::Kind::kEquals) {
      return Error(tokens[i + 1].column,
                   absl::StrCat("'=' is expected after '", key.text, "'"));
    }
    const Token& value = tokens[i + 2];
    if (value.kind != Token::Kind::kWord &&
        value.kind != Token::Kind::kQuoted) {
      return Error(value.column,
                   absl::StrCat("a value is expected for '", key.text, "'"));
    }
    ORDO_RETURN_IF_ERROR(AddTerm(key, value, &filter));
    if (!keys.insert(key.text).second) {
      return Error(key.column, absl::StrCat("'", key.text, "' is there twice"));
    }
    const Token& next = tokens[i + 3];
    if (next.kind == Token::Kind::kEnd) return filter;
    if (next.kind != Token::Kind::kWord || next.text != "AND") {
      return Error(next.column,
                   absl::StrCat("AND is expected before '", next.text,
                                "'; quote values with spaces"));
    }
    i += 4;
  }
}

}  // namespace ordo::services::jobs
