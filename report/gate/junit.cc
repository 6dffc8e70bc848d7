#include "report/gate/junit.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace ordo::report::gate {
namespace {

using stats::Verdict;

// In a log nobody reads more.
constexpr size_t kMaxItems = 20;
constexpr size_t kMaxTextBytes = 300;

std::string Attribute(const char* name, std::string_view value) {
  return absl::StrCat(" ", name, "=\"", EscapeXml(value), "\"");
}

std::string ItemText(const WorseItem& item) {
  std::string text = absl::StrFormat("%s: %.6g, was %.6g\n", item.id,
                                     item.candidate, item.reference);
  const auto add = [&](const char* what, const std::string& value) {
    if (value.empty()) return;
    absl::StrAppend(&text, "  ", what, ": ", Shorten(value, kMaxTextBytes),
                    "\n");
  };
  add("unit", item.unit);
  add("prompt", item.prompt);
  add("reference", item.reference_output);
  add("candidate", item.candidate_output);
  return text;
}

std::string Details(const Result& result, const std::string& sentence) {
  std::string text = sentence + "\n";
  for (const std::string& difference : result.differences) {
    absl::StrAppend(&text, "Note: ", difference, ".\n");
  }
  if (!result.notation.empty() && !result.worse.empty()) {
    absl::StrAppend(&text, "Note: in questions and answers ", result.notation,
                    ".\n");
  }
  size_t num_listed = 0;
  for (const WorseItem& item : result.worse) {
    if (num_listed == kMaxItems) break;
    ++num_listed;
    text += ItemText(item);
  }
  if (result.num_worse > static_cast<int64_t>(num_listed)) {
    absl::StrAppend(&text, num_listed, " of ", result.num_worse,
                    " items that got worse.\n");
  }
  return text;
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  // As characters, tabs and ends of lines would become spaces in an attribute.
  return absl::StrReplaceAll(Printable(text), {{"&", "&amp;"},
                                               {"<", "&lt;"},
                                               {">", "&gt;"},
                                               {"\"", "&quot;"},
                                               {"\t", "&#9;"},
                                               {"\n", "&#10;"},
                                               {"\r", "&#13;"}});
}

std::string ToJunit(const Account& account) {
  const Decision& decision = account.decision;
  std::string cases;
  int num_failed = 0;
  int num_skipped = 0;
  for (size_t i = 0; i < decision.results.size(); ++i) {
    const Result& result = decision.results[i];
    const std::string sentence = SentenceOf(result, account.powers[i]);
    const std::string details = EscapeXml(Details(result, sentence));
    absl::StrAppend(&cases, "    <testcase",
                    Attribute("classname", absl::StrCat("gate.", account.job)),
                    Attribute("name", TitleOf(result)), ">\n");
    switch (OutcomeOf(result.gate.verdict, decision.options.on_inconclusive)) {
      case Verdict::kFail:
        ++num_failed;
        absl::StrAppend(&cases, "      <failure",
                        Attribute("type", NameOf(result.gate.verdict)),
                        Attribute("message", sentence), ">", details,
                        "</failure>\n");
        break;
      case Verdict::kInconclusive:
        ++num_skipped;
        absl::StrAppend(&cases, "      <skipped",
                        Attribute("message", sentence),
                        "/>\n      <system-out>", details, "</system-out>\n");
        break;
      case Verdict::kPass:
        absl::StrAppend(&cases, "      <system-out>", details,
                        "</system-out>\n");
        break;
    }
    cases += "    </testcase>\n";
  }
  const std::string counts =
      absl::StrCat(" tests=\"", decision.results.size(), "\" failures=\"",
                   num_failed, "\" errors=\"0\" skipped=\"", num_skipped, "\"");
  std::string properties;
  for (const Subject& subject : account.subjects) {
    absl::StrAppend(
        &properties, "      <property", Attribute("name", subject.role),
        Attribute("value", absl::StrCat(subject.name, " ", subject.digest)),
        "/>\n");
  }
  absl::StrAppend(&properties, "      <property", Attribute("name", "verdict"),
                  Attribute("value", NameOf(decision.verdict)), "/>\n");
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites",
                      Attribute("name", "ordo gate"), counts, ">\n  <testsuite",
                      Attribute("name", absl::StrCat("gate ", account.job)),
                      counts, ">\n    <properties>\n", properties,
                      "    </properties>\n", cases,
                      "  </testsuite>\n</testsuites>\n");
}

}  // namespace ordo::report::gate
