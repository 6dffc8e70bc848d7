#include "model/text/questions/task_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "model/text/questions/layouts.h"
#include "model/text/questions/object_lines.h"
#include "model/text/questions/template.h"

namespace ordo::model::text::questions {
namespace {

constexpr int64_t kMaxAnswerTokens = 1 << 20;

// The first line, read.
struct Header {
  Metric metric = Metric::kExactMatch;
  Template prompt;
  // Of answers in words.
  Template target;
  // Of choices: a list of the item, or each.
  std::optional<Template> listed_choices;
  std::vector<Template> choices;
  Template answer;
  std::string description;
  std::string delimiter = " ";
  std::string separator = "\n\n";
  Template id;
  std::optional<Template> unit;
  std::optional<Template> group;
  std::vector<std::string> stops;
  AnswerLimits limits;
  // Examples with their answers, ready to be put before a question.
  std::vector<std::string> examples;
};

bool Has(const ObjectLine& line, const char* field) {
  return line.object.contains(field);
}

absl::StatusOr<Template> ParseTemplate(const ObjectLine& line,
                                       const std::string& field,
                                       const std::string& text) {
  auto parsed = Template::Parse(text);
  if (parsed.ok()) return parsed;
  return WrongField(line, field, std::string(parsed.status().message()));
}

absl::StatusOr<Template> TemplateField(const ObjectLine& line,
                                       const std::string& field) {
  ORDO_ASSIGN_OR_RETURN(const std::string text, StringField(line, field));
  return ParseTemplate(line, field, text);
}

absl::Status ReadText(const ObjectLine& line, const char* field,
                      std::string* text) {
  if (!Has(line, field)) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(*text, StringField(line, field));
  return absl::OkStatus();
}

absl::Status ReadOptional(const ObjectLine& line, const char* field,
                          std::optional<Template>* result) {
  if (!Has(line, field)) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(*result, TemplateField(line, field));
  return absl::OkStatus();
}

// Fields that only the other kind of metric has.
absl::Status CheckFields(const ObjectLine& line, Metric metric) {
  for (const auto& [name, value] : line.object.items()) {
    const auto& known = FirstLineFields();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return WrongField(line, name,
                        absl::StrCat("is no field of the first line of a task ",
                                     "file", base::SuggestName(name, known)));
    }
  }
  const std::vector<const char*> others =
      IsOfChoices(metric)
          ? std::vector<const char*>{"target", "stop", "max_answer_tokens"}
          : std::vector<const char*>{"choices", "answer"};
  for (const char* field : others) {
    if (!Has(line, field)) continue;
    return WrongField(line, field,
                      absl::StrCat("does not go with metric '", NameOf(metric),
                                   "': take it out, or take another metric"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Metric> ReadMetric(const ObjectLine& line) {
  ORDO_ASSIGN_OR_RETURN(const std::string name, StringField(line, "metric"));
  const std::optional<Metric> metric = MetricOf(name);
  if (metric.has_value()) return *metric;
  return WrongField(line, "metric",
                    absl::StrCat("'", name, "' is no metric",
                                 base::SuggestName(name, MetricNames())));
}

absl::Status ReadChoices(const ObjectLine& line, Header* header) {
  ORDO_ASSIGN_OR_RETURN(header->answer, TemplateField(line, "answer"));
  const auto choices = line.object.find("choices");
  if (choices == line.object.end() || choices->is_string()) {
    ORDO_ASSIGN_OR_RETURN(header->listed_choices,
                          TemplateField(line, "choices"));
    return absl::OkStatus();
  }
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                        StringsField(line, "choices"));
  for (const std::string& text : texts) {
    const std::string field =
        absl::StrCat("choices[", header->choices.size(), "]");
    ORDO_ASSIGN_OR_RETURN(Template choice, ParseTemplate(line, field, text));
    header->choices.push_back(std::move(choice));
  }
  return absl::OkStatus();
}

absl::Status ReadTarget(const ObjectLine& line, Header* header) {
  ORDO_ASSIGN_OR_RETURN(header->target, TemplateField(line, "target"));
  if (Has(line, "stop")) {
    ORDO_ASSIGN_OR_RETURN(header->stops, StringsField(line, "stop"));
    for (const std::string& stop : header->stops) {
      if (stop.empty()) {
        return WrongField(line, "stop",
                          "an empty text would end every answer: take it out");
      }
    }
  }
  if (!Has(line, "max_answer_tokens")) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(const int64_t tokens,
                        IntegerField(line, "max_answer_tokens"));
  if (tokens < 1 || tokens > kMaxAnswerTokens) {
    return WrongField(line, "max_answer_tokens",
                      absl::StrCat("must be 1 to ", kMaxAnswerTokens));
  }
  header->limits.answer_tokens = static_cast<size_t>(tokens);
  return absl::OkStatus();
}

// What `result` says of a template of `line`, with its place.
absl::StatusOr<std::string> Fill(const Template& text, const ObjectLine& line) {
  return base::AddContext(text.Fill(line.object), line.where);
}

absl::StatusOr<std::vector<std::string>> ReferencesOf(const Header& header,
                                                      const ObjectLine& line) {
  const Json* listed = header.target.OnlyValue(line.object);
  if (listed == nullptr || !listed->is_array()) {
    ORDO_ASSIGN_OR_RETURN(std::string reference, Fill(header.target, line));
    return std::vector<std::string>{std::move(reference)};
  }
  auto references = StringsOf(*listed);
  if (!references.has_value() || references->empty()) {
    return WrongField(line, "target",
                      "the field that it names must be a string or a list of "
                      "strings, at least one");
  }
  return *std::move(references);
}

absl::StatusOr<std::vector<std::string>> ChoicesOf(const Header& header,
                                                   const ObjectLine& line) {
  std::vector<std::string> choices;
  for (const Template& choice : header.choices) {
    ORDO_ASSIGN_OR_RETURN(std::string text, Fill(choice, line));
    choices.push_back(std::move(text));
  }
  if (header.listed_choices.has_value()) {
    const Json* listed = header.listed_choices->OnlyValue(line.object);
    auto strings = listed == nullptr ? std::nullopt : StringsOf(*listed);
    if (!strings.has_value()) {
      return WrongField(line, "choices",
                        "must name a field of the item, \"{field}\", that is a "
                        "list of strings, or be a list of templates");
    }
    choices = *std::move(strings);
  }
  ORDO_RETURN_IF_ERROR(
      base::AddContext(CheckChoices("choices", choices), line.where));
  return choices;
}

absl::StatusOr<size_t> RightChoice(const Header& header, const ObjectLine& line,
                                   const std::vector<std::string>& choices) {
  const Json* value = header.answer.OnlyValue(line.object);
  if (value != nullptr && value->is_number_integer()) {
    const auto number = value->get<int64_t>();
    if (number >= 0 && number < static_cast<int64_t>(choices.size())) {
      return static_cast<size_t>(number);
    }
    return WrongField(line, "answer",
                      absl::StrCat(number, " is not the number of a choice, 0 ",
                                   "to ", choices.size() - 1));
  }
  ORDO_ASSIGN_OR_RETURN(const std::string text, Fill(header.answer, line));
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end()) {
    return WrongField(line, "answer",
                      absl::StrCat("'", text, "' is none of the choices: give ",
                                   "the text of one, or its number from 0"));
  }
  return static_cast<size_t>(found - choices.begin());
}

// Prompt and right answers; no id yet.
absl::StatusOr<TextQuestion> Ask(const Header& header, const ObjectLine& line) {
  TextQuestion question;
  ORDO_ASSIGN_OR_RETURN(question.prompt, Fill(header.prompt, line));
  if (IsOfChoices(header.metric)) {
    ORDO_ASSIGN_OR_RETURN(question.choices, ChoicesOf(header, line));
    ORDO_ASSIGN_OR_RETURN(question.right_choice,
                          RightChoice(header, line, question.choices));
  } else {
    ORDO_ASSIGN_OR_RETURN(question.references, ReferencesOf(header, line));
  }
  return question;
}

absl::Status ReadExamples(const ObjectLine& line, Header* header) {
  const Json none = Json::array();
  const auto found = line.object.find("examples");
  const Json& examples = found == line.object.end() ? none : *found;
  if (!examples.is_array()) {
    return WrongField(line, "examples", "must be a list of items");
  }
  auto num_shown = static_cast<int64_t>(examples.size());
  if (Has(line, "few_shot")) {
    ORDO_ASSIGN_OR_RETURN(num_shown, IntegerField(line, "few_shot"));
    if (num_shown < 0 || num_shown > static_cast<int64_t>(examples.size())) {
      return WrongField(
          line, "few_shot",
          absl::StrCat(num_shown, " is more than the ", examples.size(),
                       " of examples, or less than 0: add examples"));
    }
  }
  for (int64_t i = 0; i < num_shown; ++i) {
    const ObjectLine example = {
        examples[i], absl::StrCat(line.where, ": examples[", i, "]")};
    if (!example.object.is_object()) {
      return WrongField(line, absl::StrCat("examples[", i, "]"),
                        "must be an item, an object");
    }
    ORDO_ASSIGN_OR_RETURN(const TextQuestion asked, Ask(*header, example));
    const std::string& answer = IsOfChoices(header->metric)
                                    ? asked.choices[asked.right_choice]
                                    : asked.references[0];
    header->examples.push_back(
        absl::StrCat(asked.prompt, header->delimiter, answer));
  }
  return absl::OkStatus();
}

absl::StatusOr<Header> ReadHeader(const ObjectLine& line) {
  if (!Has(line, "prompt")) {
    return WrongField(line, "prompt",
                      "is missing: the first line of a task file says how the "
                      "items below it are asked");
  }
  Header header;
  ORDO_ASSIGN_OR_RETURN(header.metric, ReadMetric(line));
  ORDO_RETURN_IF_ERROR(CheckFields(line, header.metric));
  ORDO_ASSIGN_OR_RETURN(header.prompt, TemplateField(line, "prompt"));
  ORDO_RETURN_IF_ERROR(IsOfChoices(header.metric) ? ReadChoices(line, &header)
                                                  : ReadTarget(line, &header));
  ORDO_RETURN_IF_ERROR(ReadText(line, "description", &header.description));
  ORDO_RETURN_IF_ERROR(ReadText(line, "delimiter", &header.delimiter));
  ORDO_RETURN_IF_ERROR(ReadText(line, "separator", &header.separator));
  std::optional<Template> id;
  ORDO_RETURN_IF_ERROR(ReadOptional(line, "id", &id));
  if (!id.has_value()) {
    ORDO_ASSIGN_OR_RETURN(id, Template::Parse("{id}"));
  }
  header.id = *std::move(id);
  ORDO_RETURN_IF_ERROR(ReadOptional(line, "unit", &header.unit));
  ORDO_RETURN_IF_ERROR(ReadOptional(line, "group", &header.group));
  ORDO_RETURN_IF_ERROR(ReadExamples(line, &header));
  return header;
}

absl::StatusOr<TextQuestion> ReadItem(const Header& header,
                                      const ObjectLine& line) {
  ORDO_ASSIGN_OR_RETURN(TextQuestion question, Ask(header, line));
  question.prompt = JoinPrompt(
      {header.description, header.examples, header.separator, question.prompt});
  ORDO_ASSIGN_OR_RETURN(question.id, Fill(header.id, line));
  if (question.id.empty()) {
    return WrongField(line, "id", "must not be empty");
  }
  question.unit = question.id;
  if (header.unit.has_value()) {
    ORDO_ASSIGN_OR_RETURN(question.unit, Fill(*header.unit, line));
  }
  if (header.group.has_value()) {
    ORDO_ASSIGN_OR_RETURN(question.group, Fill(*header.group, line));
  }
  return question;
}

}  // namespace

absl::StatusOr<TextQuestions> ReadTaskFile(base::Filesystem& files,
                                           const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<ObjectReader> reader,
                        ObjectReader::Open(files, path, LineLayout("own")));
  ORDO_ASSIGN_OR_RETURN(std::optional<ObjectLine> line, reader->Next());
  if (!line.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "read ", path, ": it is empty: write a line with prompt, metric and ",
        "target or choices, and a line for each item"));
  }
  ORDO_ASSIGN_OR_RETURN(const Header header, ReadHeader(*line));
  TextQuestions questions;
  questions.metric = header.metric;
  questions.delimiter = header.delimiter;
  questions.limits = header.limits;
  questions.stops = header.stops;
  std::map<std::string, std::string> ids;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(line, reader->Next());
    if (!line.has_value()) break;
    ORDO_ASSIGN_OR_RETURN(TextQuestion question, ReadItem(header, *line));
    const auto [same, is_first] = ids.emplace(question.id, line->where);
    if (!is_first) {
      return WrongField(*line, "id",
                        absl::StrCat("'", question.id, "' is that of another ",
                                     "item (", same->second, ")"));
    }
    ORDO_RETURN_IF_ERROR(AddQuestion(path, std::move(question), &questions));
  }
  if (questions.items.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "read ", path, ": it has no items: write one behind its first line"));
  }
  questions.version = reader->FinishDigest();
  return questions;
}

}  // namespace ordo::model::text::questions
