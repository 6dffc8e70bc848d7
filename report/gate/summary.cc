#include "report/gate/summary.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "report/forest.h"
#include "report/gate/json.h"
#include "report/page.h"
#include "report/source.h"
#include "report/table.h"

namespace ordo::report::gate {
namespace {

constexpr size_t kPageTextBytes = 600;
constexpr size_t kMarkdownTextBytes = 200;
// Of all comparisons: CI systems show a megabyte.
constexpr size_t kMaxMarkdownItemsInAll = 400;

constexpr char kMethod[] =
    "A difference is the candidate's score less the reference's, item by item, "
    "and more is better. The gate passes when the interval's lower bound is "
    "above minus the margin, so that what got worse by less than the margin "
    "passes. It fails, unless it passes, when the upper bound is below zero, "
    "or below minus the margin where fail_below says so. Each bound errs with "
    "half of what the level leaves; where several comparisons are decided "
    "together, all must pass, and the upper bound is corrected for their "
    "number (Bonferroni). Items of one unit may depend on each other, and "
    "intervals allow for it. Discordance is the share of items on which the "
    "scores differ, power the probability that a candidate equal to the "
    "reference passes at that discordance, and items for 0.8 how many items "
    "make that 0.8. Where a set grows both are of its budget, the most items "
    "that it may come to have, not of the items that there are.";

std::string Text(const std::optional<double>& value) {
  return value.has_value() ? absl::StrFormat("%.2g", *value) : kNoValue;
}

std::string Text(const std::optional<int64_t>& value) {
  return value.has_value() ? absl::StrCat(*value) : kNoValue;
}

Table ComparisonTable(const Account& account) {
  Table table;
  table.title = "Comparisons";
  table.num_text_columns = 3;
  table.header = {"task",   "against", "verdict",      "difference",
                  "low",    "high",    "margin",       "items",
                  "units",  "better",  "worse",        "discordance",
                  "budget", "power",   "items for 0.8"};
  for (size_t i = 0; i < account.decision.results.size(); ++i) {
    const Result& result = account.decision.results[i];
    const stats::GateResult& gate = result.gate;
    table.rows.push_back(
        {result.task, NameOf(result.reference), NameOf(gate.verdict),
         NumberText(gate.estimate.mean), NumberText(gate.interval.low),
         NumberText(gate.interval.high), NumberText(result.options.margin),
         absl::StrCat(gate.estimate.num_items),
         absl::StrCat(gate.estimate.num_units), absl::StrCat(result.num_better),
         absl::StrCat(result.num_worse), NumberText(gate.discordance),
         result.budget > 0 ? absl::StrCat(result.budget) : kNoValue,
         Text(account.powers[i].equal_passes),
         Text(account.powers[i].needed_items)});
  }
  return table;
}

Table SubjectTable(const Account& account) {
  Table table;
  table.title = "Checkpoints";
  table.num_text_columns = 3;
  table.header = {"role", "name", "digest"};
  for (const Subject& subject : account.subjects) {
    table.rows.push_back({subject.role, subject.name,
                          subject.digest.empty() ? kNoValue : subject.digest});
  }
  return table;
}

// As code of Markdown: between more backticks than it has in a row.
std::string Code(const std::string& text) {
  if (text.empty()) return "";
  size_t longest = 0;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return absl::StrCat(fence, " ",
                      absl::StrReplaceAll(text, {{"\r", " "}, {"\n", " "}}),
                      " ", fence);
}

struct ItemForm {
  size_t max_items = 0;
  size_t max_text_bytes = 0;
  bool as_code = false;
};

Table WorseTable(const Result& result, const ItemForm& form) {
  Table table;
  const size_t num_listed = std::min(form.max_items, result.worse.size());
  table.title = absl::StrCat("Items that got worse: ", TitleOf(result));
  if (static_cast<int64_t>(num_listed) < result.num_worse) {
    absl::StrAppend(&table.title, " (", num_listed, " of ", result.num_worse,
                    ")");
  }
  table.num_text_columns = 5;
  table.header = {"item",      "unit", "prompt", "reference",
                  "candidate", "was",  "is"};
  const auto cell = [&](const std::string& text) {
    const std::string shown = Shorten(Printable(text), form.max_text_bytes);
    return form.as_code ? Code(shown) : shown;
  };
  for (size_t i = 0; i < num_listed; ++i) {
    const WorseItem& item = result.worse[i];
    table.rows.push_back(
        {cell(item.id), cell(item.unit), cell(item.prompt),
         cell(item.reference_output), cell(item.candidate_output),
         NumberText(item.reference), NumberText(item.candidate)});
  }
  return table;
}

void AddWorse(const Account& account, const ItemForm& form,
              std::vector<Table>* tables) {
  for (const Result& result : account.decision.results) {
    if (!result.worse.empty()) tables->push_back(WorseTable(result, form));
  }
}

// All but the items.
summary::Summary Frame(const Account& account) {
  summary::Summary summary;
  summary.title = absl::StrCat("gate ", account.job, ": ",
                               NameOf(account.decision.outcome));
  summary.created =
      account.command.empty()
          ? account.created
          : absl::StrCat(account.created, "; again: ", account.command);
  summary.lead.push_back(SentenceOf(account.decision));
  std::set<std::string> noted;
  for (size_t i = 0; i < account.decision.results.size(); ++i) {
    const Result& result = account.decision.results[i];
    summary.lead.push_back(absl::StrCat(TitleOf(result), ": ",
                                        SentenceOf(result, account.powers[i])));
    std::vector<std::string> notes;
    for (const std::string& difference : result.differences) {
      notes.push_back(
          absl::StrCat(result.task, ", not alike: ", difference, "."));
    }
    if (!result.notation.empty() && !result.worse.empty()) {
      notes.push_back(absl::StrCat(result.task, ": in questions and answers ",
                                   result.notation, "."));
    }
    for (const std::string& note : notes) {
      if (noted.insert(note).second) summary.lead.push_back(note);
    }
  }
  if (const auto joint = JointPower(account.powers);
      joint.has_value() && account.powers.size() > 1) {
    summary.lead.push_back(absl::StrFormat(
        "Power of all comparisons together: at least %.2g.", *joint));
  }
  summary.tables = {ComparisonTable(account), SubjectTable(account)};
  summary.method = kMethod;
  return summary;
}

}  // namespace

Figure DifferencePlot(const Account& account) {
  Forest forest;
  forest.title = absl::StrCat("gate ", account.job);
  forest.x_label =
      absl::StrFormat("difference, %.6g %%; dotted: less the margin",
                      100 * account.decision.options.level);
  std::set<double> marks;
  for (const Result& result : account.decision.results) {
    forest.rows.push_back({TitleOf(result), result.gate.estimate.mean,
                           result.gate.interval.low,
                           result.gate.interval.high});
    marks.insert(-result.options.margin);
  }
  forest.marks.assign(marks.begin(), marks.end());
  Figure figure = ForestPlot(forest);
  FigureSource source{account.job, {}, account.command};
  for (const Subject& subject : account.subjects) {
    source.models.push_back({subject.name, subject.digest});
  }
  figure.source = SourceText(source);
  return figure;
}

summary::Summary Summarize(const Account& account) {
  summary::Summary summary = Frame(account);
  AddWorse(account, {kMaxPageItems, kPageTextBytes, false}, &summary.tables);
  summary.figures.push_back(
      {"difference",
       "Each comparison with its interval. A gate passes where the whole "
       "interval is right of the margin. It fails, unless it passes, where "
       "the interval is left of zero, or of the margin where fail_below says "
       "so. A point without a bar has no interval: its items bound nothing.",
       DifferencePlot(account)});
  const Decision& decision = account.decision;
  summary.csv = ToCsv(summary.tables.front());
  summary.json = ToJson(account);
  summary.metrics["num_comparisons"] =
      static_cast<double>(decision.results.size());
  summary.metrics["passed"] = decision.verdict == stats::Verdict::kPass;
  summary.metrics["failed"] = decision.verdict == stats::Verdict::kFail;
  for (const Result& result : decision.results) {
    summary.metrics[absl::StrCat("difference_", result.task, "_",
                                 NameOf(result.reference))] =
        result.gate.estimate.mean;
  }
  return summary;
}

std::string ToMarkdown(const Account& account) {
  summary::Summary summary = Frame(account);
  const size_t num_results =
      std::max<size_t>(1, account.decision.results.size());
  const size_t max_items =
      std::min(kMaxMarkdownItems, kMaxMarkdownItemsInAll / num_results);
  AddWorse(account, {max_items, kMarkdownTextBytes, true}, &summary.tables);
  return RenderMarkdown(summary);
}

}  // namespace ordo::report::gate
