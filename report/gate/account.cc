#include "report/gate/account.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ordo::report::gate {
namespace {

using stats::Verdict;

std::string Bound(double value) {
  return std::isfinite(value) ? absl::StrFormat("%+.4g", value) : "-";
}

std::string WhatWasSeen(const Result& result) {
  const stats::GateResult& gate = result.gate;
  std::string text =
      absl::StrFormat("difference %+.4g, interval [%s, %s] on %d items",
                      gate.estimate.mean, Bound(gate.interval.low),
                      Bound(gate.interval.high), gate.estimate.num_items);
  if (gate.estimate.num_units != gate.estimate.num_items) {
    absl::StrAppend(&text, " in ", gate.estimate.num_units, " units");
  }
  return text;
}

std::string WhatItTakes(const Result& result, const Power& power) {
  std::string text;
  if (power.equal_passes.has_value()) {
    text = absl::StrFormat(
        "An equal candidate passes with probability %s%.2g at the discordance "
        "that was seen, %.3g",
        result.budget > 0 ? "at least " : "", *power.equal_passes,
        result.gate.discordance);
    if (power.needed_items.has_value()) {
      absl::StrAppendFormat(&text, "; %.2g needs %s%d items", kWantedPower,
                            result.budget > 0 ? "a budget of " : "",
                            *power.needed_items);
    } else {
      text += "; no feasible number of items makes that 0.8";
    }
    return text + ".";
  }
  return absl::StrCat("Its power cannot be stated: ", power.why_not, ".");
}

}  // namespace

Account MakeAccount(Decision decision) {
  Account account;
  for (const Result& result : decision.results) {
    account.powers.push_back(StatePower(result));
  }
  account.decision = std::move(decision);
  return account;
}

std::string TitleOf(const Result& result) {
  return absl::StrCat(result.task, " against the ", NameOf(result.reference));
}

std::string SentenceOf(const Result& result, const Power& power) {
  const std::string seen = WhatWasSeen(result);
  const std::string margin =
      absl::StrFormat("the margin %.4g", result.options.margin);
  switch (result.gate.verdict) {
    case Verdict::kPass:
      if (result.gate.interval.high < 0) {
        return absl::StrCat("pass: it got worse, by less than ", margin, ": ",
                            seen, ".");
      }
      return absl::StrCat("pass: a loss of ", margin,
                          " or more is ruled out: ", seen, ".");
    case Verdict::kFail:
      return absl::StrCat("fail: it got worse",
                          result.options.fail_below == stats::FailBelow::kMargin
                              ? absl::StrCat(" by more than ", margin)
                              : "",
                          ": ", seen, "; ", result.num_worse,
                          " items got worse and ", result.num_better,
                          " better.");
    case Verdict::kInconclusive:
      break;
  }
  return absl::StrCat("inconclusive: neither a loss of ", margin,
                      " is ruled out nor one is shown: ", seen, ". ",
                      WhatItTakes(result, power));
}

std::string SentenceOf(const Decision& decision) {
  std::string text = absl::StrCat("Verdict: ", NameOf(decision.verdict));
  if (decision.outcome != decision.verdict) {
    absl::StrAppend(&text, ", which counts as ", NameOf(decision.outcome),
                    " here (on_inconclusive)");
  }
  return text + ".";
}

std::string Printable(std::string_view text) {
  constexpr char kReplacement[] = "\xEF\xBF\xBD";
  std::string printable;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const std::string_view three = text.substr(i, 3);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
      printable += kReplacement;
    } else if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      printable += kReplacement;
      i += 2;
    } else {
      printable += text[i];
    }
  }
  return printable;
}

std::string Shorten(const std::string& text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  // Of a character its first byte alone has other than 10 in its highest bits.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end) + " ...";
}

}  // namespace ordo::report::gate
