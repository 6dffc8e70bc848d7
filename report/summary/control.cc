#include "report/summary/control.h"

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "report/summary/results.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;
using Parts = std::vector<const PartResult*>;
using Property = std::function<std::string(const PartResult&)>;

constexpr size_t kShownDigits = 12;

// Of a digest what a person compares.
std::string Shown(const std::string& value) {
  return value.empty() ? "not recorded" : value.substr(0, kShownDigits);
}

// Adds a sentence when the property is not recorded of all, or not one.
void CheckSame(const std::string& what, const Parts& parts,
               const Property& property, std::vector<std::string>* reasons) {
  std::map<std::string, std::vector<std::string>> jobs;
  for (const PartResult* part : parts) {
    jobs[property(*part)].push_back(part->job());
  }
  if (jobs.size() < 2 && jobs.count("") == 0) return;
  std::vector<std::string> texts;
  for (const auto& [value, names] : jobs) {
    texts.push_back(
        absl::StrCat(Shown(value), " (", absl::StrJoin(names, ", "), ")"));
  }
  reasons->push_back(absl::StrCat(what, ": ", absl::StrJoin(texts, ", ")));
}

std::string Number(int64_t value) {
  return value == 0 ? "" : absl::StrCat(value);
}

// What differs within a seed.
void CheckSeed(uint64_t seed, const Parts& parts,
               std::vector<std::string>* reasons) {
  const std::string of = absl::StrCat(" of seed ", seed);
  const auto data = [](const PartResult& p) { return p.data_digest(); };
  const auto tokens = [](const PartResult& p) { return Number(p.tokens()); };
  const auto steps = [](const PartResult& p) {
    return Number(p.checkpoint().step());
  };
  const auto initial = [](const PartResult& p) {
    return p.control().initial_digest();
  };
  CheckSame("steps" + of, parts, steps, reasons);
  CheckSame("tokens" + of, parts, tokens, reasons);
  CheckSame("order of data" + of, parts, data, reasons);
  CheckSame("initial values outside of the encoding" + of, parts, initial,
            reasons);
}

void CheckAll(const Parts& parts, std::vector<std::string>* reasons) {
  CheckSame(
      "build of the trainer", parts,
      [](const PartResult& p) { return p.build_digest(); }, reasons);
  std::map<std::string, std::vector<std::string>> devices;
  CheckSame(
      "precision", parts,
      [](const PartResult& p) { return p.control().precision(); }, reasons);
  for (const PartResult* part : parts) {
    devices[part->control().device()].push_back(part->job());
  }
  if (devices.size() > 1 || devices.count("") > 0) {
    std::vector<std::string> texts;
    for (const auto& [device, jobs] : devices) {
      texts.push_back(absl::StrCat(device.empty() ? "not recorded" : device,
                                   " (", absl::StrJoin(jobs, ", "), ")"));
    }
    reasons->push_back(absl::StrCat("device: ", absl::StrJoin(texts, ", ")));
  }
  std::vector<std::string> varying;
  std::vector<std::string> inexact;
  for (const PartResult* part : parts) {
    if (!part->control().deterministic()) varying.push_back(part->job());
    if (!part->exact()) inexact.push_back(part->job());
  }
  if (!varying.empty()) {
    reasons->push_back(
        absl::StrCat("computing it again may give other numbers: ",
                     absl::StrJoin(varying, ", ")));
  }
  if (!inexact.empty()) {
    reasons->push_back(absl::StrCat(
        "an attempt did not go on exactly where the one before was: ",
        absl::StrJoin(inexact, ", ")));
  }
}

}  // namespace

std::vector<std::string> WhyNotControlled(const SummarizeSpec& spec) {
  std::vector<std::string> reasons;
  Parts finished;
  std::map<uint64_t, Parts> seeds;
  for (const PartResult& part : spec.parts()) {
    if (HasSucceeded(part)) {
      finished.push_back(&part);
      seeds[part.seed()].push_back(&part);
    } else {
      reasons.push_back(absl::StrCat(part.job(), " is ", part.state(),
                                     part.reason().empty() ? "" : ", ",
                                     part.reason()));
    }
  }
  for (const auto& [seed, parts] : seeds) CheckSeed(seed, parts, &reasons);
  CheckAll(finished, &reasons);
  return reasons;
}

}  // namespace ordo::report::summary
