#ifndef ORDO_REPORT_GATE_ACCOUNT_H_
#define ORDO_REPORT_GATE_ACCOUNT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/gate/decision.h"
#include "report/gate/power.h"

// What a report says of a gate, in words that all its forms share. Pure
// functions, thread-safe.

namespace ordo::report::gate {

// A checkpoint of a gate.
struct Subject {
  // `candidate`, `baseline` or `anchor`.
  std::string role;
  // jobs/{job}/checkpoints/{checkpoint}, or how else it was named.
  std::string name;
  // SHA-256 of its manifest; empty when unknown.
  std::string digest;
};

// A decided gate and what it is of. Texts are well-formed UTF-8.
struct Account {
  // Id of its job.
  std::string job;
  // When it was made, for people; and the command that makes it again.
  std::string created;
  std::string command;
  std::vector<Subject> subjects;
  Decision decision;
  // Of each result, in its order.
  std::vector<Power> powers;
};

// With the power of each result stated; the rest is the caller's.
Account MakeAccount(Decision decision);

// "addition against the baseline".
std::string TitleOf(const Result& result);

// One sentence: the verdict, why, and for one that shows nothing what it would
// take. REQUIRES: `power` is that of `result`.
std::string SentenceOf(const Result& result, const Power& power);

// The joint verdict, and how it counts where that is another.
std::string SentenceOf(const Decision& decision);

// `text` as any form of a report can hold it and any terminal can show it:
// control characters but tab and ends of lines, U+FFFE and U+FFFF become
// U+FFFD.
std::string Printable(std::string_view text);

// At most `max_bytes` of `text` and " ...", cut between characters.
std::string Shorten(const std::string& text, size_t max_bytes);

}  // namespace ordo::report::gate

#endif  // ORDO_REPORT_GATE_ACCOUNT_H_
