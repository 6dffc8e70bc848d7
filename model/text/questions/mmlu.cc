#include "model/text/questions/mmlu.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "model/text/questions/layouts.h"
#include "model/text/questions/object_lines.h"
#include "model/text/scoring/unicode.h"

namespace ordo::model::text::questions {
namespace {

// Goes up with whatever gives the same files other questions or scores.
constexpr char kVersion[] = "mmlu 1";

constexpr int64_t kNumChoices = 4;

struct Category {
  const char* name;
  std::vector<const char*> subjects;
};

const std::vector<Category>& Categories() {
  static const auto& categories = *new std::vector<Category>{
      {"humanities",
       {"formal_logic", "high_school_european_history",
        "high_school_us_history", "high_school_world_history",
        "international_law", "jurisprudence", "logical_fallacies",
        "moral_disputes", "moral_scenarios", "philosophy", "prehistory",
        "professional_law", "world_religions"}},
      {"social_sciences",
       {"econometrics", "high_school_geography",
        "high_school_government_and_politics", "high_school_macroeconomics",
        "high_school_microeconomics", "high_school_psychology",
        "human_sexuality", "professional_psychology", "public_relations",
        "security_studies", "sociology", "us_foreign_policy"}},
      {"stem",
       {"abstract_algebra", "anatomy", "astronomy", "college_biology",
        "college_chemistry", "college_computer_science", "college_mathematics",
        "college_physics", "computer_security", "conceptual_physics",
        "electrical_engineering", "elementary_mathematics",
        "high_school_biology", "high_school_chemistry",
        "high_school_computer_science", "high_school_mathematics",
        "high_school_physics", "high_school_statistics", "machine_learning"}},
      {"other",
       {"business_ethics", "clinical_knowledge", "college_medicine",
        "global_facts", "human_aging", "management", "marketing",
        "medical_genetics", "miscellaneous", "nutrition",
        "professional_accounting", "professional_medicine", "virology"}},
  };
  return categories;
}

struct Item {
  std::string subject;
  // With its choices, up to "Answer:".
  std::string prompt;
  size_t right_choice = 0;
};

std::vector<std::string> Letters() { return {"A", "B", "C", "D"}; }

absl::Status CheckSubject(const ObjectLine& line, const std::string& subject) {
  const auto& categories = MmluCategories();
  if (categories.count(subject) > 0) return absl::OkStatus();
  std::vector<std::string> names;
  for (const auto& [name, category] : categories) names.push_back(name);
  return WrongField(line, "subject",
                    absl::StrCat("'", subject, "' is none of MMLU",
                                 base::SuggestName(subject, names)));
}

absl::StatusOr<Item> ReadItem(const ObjectLine& line) {
  Item item;
  ORDO_ASSIGN_OR_RETURN(item.subject, StringField(line, "subject"));
  ORDO_RETURN_IF_ERROR(CheckSubject(line, item.subject));
  ORDO_ASSIGN_OR_RETURN(const std::string question,
                        StringField(line, "question"));
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> choices,
                        StringsField(line, "choices"));
  if (choices.size() != kNumChoices) {
    return WrongField(
        line, "choices",
        absl::StrCat("must be four, and there are ", choices.size()));
  }
  ORDO_ASSIGN_OR_RETURN(const int64_t answer, IntegerField(line, "answer"));
  if (answer < 0 || answer >= kNumChoices) {
    return WrongField(line, "answer", "must be the number of a choice, 0 to 3");
  }
  item.right_choice = static_cast<size_t>(answer);
  item.prompt = std::string(scoring::Strip(question));
  for (size_t i = 0; i < choices.size(); ++i) {
    absl::StrAppend(&item.prompt, "\n", Letters()[i], ". ", choices[i]);
  }
  absl::StrAppend(&item.prompt, "\nAnswer:");
  return item;
}

struct Items {
  std::vector<Item> items;
  std::string digest;
};

absl::StatusOr<Items> ReadItems(base::Filesystem& files,
                                const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<ObjectReader> reader,
                        ObjectReader::Open(files, path, LineLayout("mmlu")));
  Items read;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<ObjectLine> line, reader->Next());
    if (!line.has_value()) break;
    ORDO_ASSIGN_OR_RETURN(Item item, ReadItem(*line));
    read.items.push_back(std::move(item));
  }
  read.digest = reader->FinishDigest();
  return read;
}

// Answered examples by subject, at most `few_shot` of each.
std::map<std::string, std::vector<std::string>> ExamplesOf(
    const std::vector<Item>& items, size_t few_shot) {
  std::map<std::string, std::vector<std::string>> examples;
  for (const Item& item : items) {
    auto& of_subject = examples[item.subject];
    if (of_subject.size() == few_shot) continue;
    of_subject.push_back(
        absl::StrCat(item.prompt, " ", Letters()[item.right_choice]));
  }
  return examples;
}

}  // namespace

const std::map<std::string, std::string>& MmluCategories() {
  static const auto& categories = *[] {
    auto* by_subject = new std::map<std::string, std::string>;
    for (const Category& category : Categories()) {
      for (const char* subject : category.subjects) {
        (*by_subject)[subject] = category.name;
      }
    }
    return by_subject;
  }();
  return categories;
}

absl::StatusOr<TextQuestions> ReadMmlu(base::Filesystem& files,
                                       const MmluOptions& options) {
  if (options.few_shot < 0) {
    return base::InvalidField("few_shot", "must be 0 or more");
  }
  const auto few_shot = static_cast<size_t>(options.few_shot);
  Items dev;
  if (few_shot > 0) {
    ORDO_ASSIGN_OR_RETURN(dev, ReadItems(files, options.dev_path));
  }
  auto examples = ExamplesOf(dev.items, few_shot);
  ORDO_ASSIGN_OR_RETURN(const Items test, ReadItems(files, options.test_path));
  TextQuestions questions;
  questions.metric = Metric::kAccuracy;
  questions.categories = MmluCategories();
  std::map<std::string, int> numbers;
  for (const Item& item : test.items) {
    const std::vector<std::string>& shown = examples[item.subject];
    if (shown.size() < few_shot) {
      return base::InvalidField(
          "few_shot",
          absl::StrCat(few_shot, " is more than the ", shown.size(),
                       " examples of ", item.subject, " in ", options.dev_path,
                       ": take fewer, or add examples"));
    }
    TextQuestion question;
    question.group = item.subject;
    question.id = absl::StrCat(item.subject, "-", numbers[item.subject]++);
    question.unit = question.id;
    question.choices = Letters();
    question.right_choice = item.right_choice;
    const std::string subject = absl::StrReplaceAll(item.subject, {{"_", " "}});
    question.prompt = JoinPrompt(
        {absl::StrCat("The following are multiple choice questions (with ",
                      "answers) about ", subject, ".\n\n"),
         shown, "\n\n", item.prompt});
    ORDO_RETURN_IF_ERROR(
        AddQuestion(options.test_path, std::move(question), &questions));
  }
  if (questions.items.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("read ", options.test_path,
                     ": it has no lines; each should be ", LineLayout("mmlu")));
  }
  questions.version = base::Sha256Hex(
      absl::StrCat(kVersion, " ", few_shot, " ", dev.digest, " ", test.digest));
  return questions;
}

}  // namespace ordo::model::text::questions
