#include "report/summary/control.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/yaml/field_path.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

struct Run {
  const PartResult* part = nullptr;
  const PartRecords* records = nullptr;
};
using Runs = std::vector<Run>;

// What runs are compared by.
struct Property {
  std::string name;
  // Empty: not recorded.
  std::function<std::string(const Run&)> value;
  // Field that decides it; where arms may differ there, it may differ too.
  // Empty: it may not.
  std::string field = "";
  // Of a digest a person compares the first digits.
  size_t max_shown = std::string::npos;
};

constexpr size_t kDigestDigits = 12;
// Decides no parameters.
constexpr char kSteps[] = "training.steps";
// Of the FLOPs of runs, the largest to the smallest, when each is within one in
// a hundred of what it is to be.
constexpr double kMaxFlopsRatio = 1.01 / 0.99;
// The same of their device-seconds, of which one in twenty is a matter of what
// else the machine did.
constexpr double kMaxSecondsRatio = 1.05 / 0.95;
// Of libraries: a version and the first digits of a digest.
constexpr size_t kMaxLibrariesShown = 20;
// Compare.budget.
constexpr char kFlopsBudget[] = "flops";
constexpr char kSecondsBudget[] = "device_seconds";
// Parameters that are named one by one.
constexpr size_t kMaxNamed = 5;

std::string Number(int64_t value) {
  return value == 0 ? "" : absl::StrCat(value);
}

// Whether arms may differ at the path or below it.
bool MayDiffer(const SummarizeSpec& spec, const std::string& path) {
  const auto& differs = spec.comparison().differs();
  return !path.empty() &&
         std::any_of(differs.begin(), differs.end(), [&](const auto& listed) {
           return base::IsPartOf(path, listed) || base::IsPartOf(listed, path);
         });
}

bool MayDifferBesideTheEncoding(const SummarizeSpec& spec) {
  const auto& differs = spec.comparison().differs();
  return std::any_of(differs.begin(), differs.end(), [](const auto& listed) {
    return !base::IsPartOf(listed, "encoding") && listed != kSteps;
  });
}

void AddOnce(const std::string& sentence, std::vector<std::string>* sentences) {
  if (std::find(sentences->begin(), sentences->end(), sentence) ==
      sentences->end()) {
    sentences->push_back(sentence);
  }
}

// "a, b and 3 more".
std::string Named(const std::set<std::string>& names) {
  std::vector<std::string> first(names.begin(), names.end());
  if (first.size() <= kMaxNamed) return absl::StrJoin(first, ", ");
  first.resize(kMaxNamed);
  return absl::StrCat(absl::StrJoin(first, ", "), " and ",
                      names.size() - kMaxNamed, " more");
}

// Adds a sentence when the property is not recorded of all, or not one.
void CheckSame(const Property& property, const Runs& runs,
               const SummarizeSpec& spec, Control* control) {
  std::map<std::string, std::vector<std::string>> jobs;
  for (const Run& run : runs) {
    jobs[property.value(run)].push_back(run.part->job());
  }
  if (jobs.size() < 2 && jobs.count("") == 0) return;
  std::vector<std::string> texts;
  for (const auto& [value, names] : jobs) {
    texts.push_back(absl::StrCat(
        value.empty() ? "not recorded" : value.substr(0, property.max_shown),
        " (", absl::StrJoin(names, ", "), ")"));
  }
  auto& sentences =
      MayDiffer(spec, property.field) ? control->differences : control->reasons;
  sentences.push_back(
      absl::StrCat(property.name, ": ", absl::StrJoin(texts, ", ")));
}

// What is not the same in the parameters of some runs.
struct ParameterDifferences {
  // Names, by the arms that have them while others do not.
  std::map<std::string, std::set<std::string>> only_in;
  std::set<std::string> other_shape;
  // Of one shape, with other values.
  std::set<std::string> other_values;
};

ParameterDifferences CompareParameters(const Runs& runs) {
  // By name and shape the digests, by name the arms.
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  std::map<std::string, std::set<std::string>> arms;
  for (const Run& run : runs) {
    for (const auto& [name, value] : run.records->initial_values) {
      values[name][value.shape].insert(value.digest);
      arms[name].insert(run.part->part());
    }
  }
  ParameterDifferences differences;
  for (const auto& [name, shapes] : values) {
    if (arms[name].size() < runs.size()) {
      differences.only_in[absl::StrJoin(arms[name], ", ")].insert(name);
    }
    if (shapes.size() > 1) differences.other_shape.insert(name);
    for (const auto& [shape, digests] : shapes) {
      if (digests.size() > 1) differences.other_values.insert(name);
    }
  }
  return differences;
}

// The runs of a seed, one of each arm.
void CheckInitialValues(const Property& whole, const Runs& runs,
                        const SummarizeSpec& spec, Control* control) {
  std::set<std::string> digests;
  bool all_known = true;
  for (const Run& run : runs) {
    digests.insert(whole.value(run));
    all_known = all_known && !run.records->initial_values.empty();
  }
  if (digests.size() < 2 || !all_known) {
    CheckSame(whole, runs, spec, control);
    return;
  }
  const ParameterDifferences found = CompareParameters(runs);
  if (!found.other_values.empty()) {
    control->reasons.push_back(absl::StrCat(whole.name, ": not the same of ",
                                            Named(found.other_values)));
  }
  auto& sentences = MayDifferBesideTheEncoding(spec) ? control->differences
                                                     : control->reasons;
  for (const auto& [arms, names] : found.only_in) {
    AddOnce(absl::StrCat("parameters outside of the encoding in ", arms,
                         " alone: ", Named(names)),
            &sentences);
  }
  if (!found.other_shape.empty()) {
    AddOnce(absl::StrCat("parameters outside of the encoding that have another "
                         "shape in each arm: ",
                         Named(found.other_shape)),
            &sentences);
  }
}

// That each evaluation asked the same of all runs of a seed that have it. One
// that a single run has is compared with nothing.
void CheckQuestions(const std::string& of, const Runs& runs,
                    const SummarizeSpec& spec, Control* control) {
  std::map<std::string, Runs> evaluated;
  std::map<std::pair<std::string, const PartResult*>, std::string> asked;
  for (const Run& run : runs) {
    for (const CountedReport& counted : CountedReports(*run.part)) {
      evaluated[counted.evaluation].push_back(run);
      const auto found = run.records->questions.find(counted.report->path());
      if (found != run.records->questions.end()) {
        asked[{counted.evaluation, run.part}] = found->second;
      }
    }
  }
  for (const auto& [evaluation, its_runs] : evaluated) {
    if (its_runs.size() < 2) continue;
    const std::string& name = evaluation;
    const auto value = [&](const Run& run) { return asked[{name, run.part}]; };
    CheckSame({absl::StrCat("items of ", name, of), value, "", kDigestDigits},
              its_runs, spec, control);
  }
}

// What runs that end at other steps are to have spent alike.
struct Spent {
  const char* name;
  // In a step; 0: not recorded.
  std::function<double(const Run&)> in_step;
  // The most to the least.
  double max_ratio;
};

Spent Flops() {
  return {"FLOPs", [](const Run& r) { return r.part->control().step_flops(); },
          kMaxFlopsRatio};
}

Spent DeviceSeconds() {
  return {"device-seconds of steps",
          [](const Run& r) { return r.part->step_device_seconds(); },
          kMaxSecondsRatio};
}

void CheckSpent(const Spent& spent, const std::string& of, const Runs& runs,
                Control* control) {
  double least = INFINITY, most = 0;
  std::vector<std::string> texts;
  for (const Run& run : runs) {
    const double amount =
        spent.in_step(run) * static_cast<double>(run.part->checkpoint().step());
    least = std::min(least, amount);
    most = std::max(most, amount);
    texts.push_back(absl::StrCat(amount, " (", run.part->job(), ")"));
  }
  if (least > 0 && most <= spent.max_ratio * least) return;
  control->reasons.push_back(
      absl::StrCat(spent.name, of, ": ", absl::StrJoin(texts, ", ")));
}

// The order of data up to the newest step that can be compared.
void CheckCommonData(const std::string& of, const Runs& runs,
                     const SummarizeSpec& spec, Control* control) {
  const auto data = [](const Run& r) { return r.part->common_data_digest(); };
  CheckSame({absl::StrCat("order of data", of, " up to step ",
                          runs.front().part->common_step()),
             data, "data", kDigestDigits},
            runs, spec, control);
}

// What differs within a seed.
void CheckSeed(uint64_t seed, const Runs& runs, const SummarizeSpec& spec,
               Control* control) {
  const std::string of = absl::StrCat(" of seed ", seed);
  const auto data = [](const Run& r) { return r.part->data_digest(); };
  const auto tokens = [](const Run& r) { return Number(r.part->tokens()); };
  const auto steps = [](const Run& r) {
    return Number(r.part->checkpoint().step());
  };
  const auto initial = [](const Run& r) {
    return r.part->control().initial_digest();
  };
  CheckSame({"steps" + of, steps, kSteps}, runs, spec, control);
  const std::string& budget = spec.comparison().budget();
  if (budget == kFlopsBudget || budget == kSecondsBudget) {
    CheckSame({"tokens" + of, tokens, kSteps}, runs, spec, control);
    CheckSpent(budget == kFlopsBudget ? Flops() : DeviceSeconds(), of, runs,
               control);
    CheckCommonData(of, runs, spec, control);
  } else {
    CheckSame({"tokens" + of, tokens}, runs, spec, control);
    CheckSame({"order of data" + of, data, "data", kDigestDigits}, runs, spec,
              control);
  }
  CheckInitialValues({"initial values outside of the encoding" + of, initial,
                      "", kDigestDigits},
                     runs, spec, control);
  CheckQuestions(of, runs, spec, control);
}

// Field that decides a part of the environment.
struct EnvironmentPart {
  const char* name;
  const char* field;
};
constexpr EnvironmentPart kEnvironment[] = {
    {"threads", "resources.threads"}, {"libraries", "resources.device"},
    {"kernels", "training.kernel"},   {"settings", "resources.device"},
    {"gpu", "resources.device"},      {"ranks", "resources.ranks"},
};

// What the runs compute in beside build and device.
void CheckEnvironment(const Runs& runs, const SummarizeSpec& spec,
                      Control* control) {
  const auto is_known = [](const Run& run) {
    return run.part->control().environment().empty() ? "" : "recorded";
  };
  if (!std::all_of(runs.begin(), runs.end(),
                   [&](const Run& run) { return *is_known(run) != 0; })) {
    CheckSame({"environment", is_known}, runs, spec, control);
    return;
  }
  for (const auto& [name, field] : kEnvironment) {
    const std::string key = name;
    const auto value = [&key](const Run& run) -> std::string {
      const auto& parts = run.part->control().environment();
      const auto found = parts.find(key);
      return found == parts.end() ? "none" : found->second;
    };
    // With another kind of device come other libraries and kernels.
    const bool by_device = MayDiffer(spec, "resources.device");
    CheckSame({key, value, by_device ? "resources.device" : field,
               key == "libraries" ? kMaxLibrariesShown : std::string::npos},
              runs, spec, control);
  }
}

void CheckAll(const Runs& runs, const SummarizeSpec& spec, Control* control) {
  const auto build = [](const Run& r) { return r.part->build_digest(); };
  const auto precision = [](const Run& r) {
    return r.part->control().precision();
  };
  const auto device = [](const Run& r) { return r.part->control().device(); };
  CheckSame({"build of the trainer", build, "", kDigestDigits}, runs, spec,
            control);
  CheckSame({"precision", precision, "training.precision"}, runs, spec,
            control);
  CheckSame({"device", device, "resources.device"}, runs, spec, control);
  CheckEnvironment(runs, spec, control);
  std::vector<std::string> varying;
  std::vector<std::string> inexact;
  for (const Run& run : runs) {
    if (!run.part->control().deterministic()) {
      varying.push_back(run.part->job());
    }
    if (!run.part->exact()) inexact.push_back(run.part->job());
  }
  if (!varying.empty()) {
    control->reasons.push_back(
        absl::StrCat("computing it again may give other numbers: ",
                     absl::StrJoin(varying, ", ")));
  }
  if (!inexact.empty()) {
    control->reasons.push_back(absl::StrCat(
        "an attempt did not go on exactly where the one before was: ",
        absl::StrJoin(inexact, ", ")));
  }
}

// Whatever the arms are to differ in: what is asked is not the same.
void CheckTokenizers(const Tokenizers& all, Control* control) {
  for (const auto& [evaluation, tokenizers] : all) {
    if (!TokenizersDiffer(all, evaluation)) continue;
    std::vector<std::string> texts;
    for (const auto& [tokenizer, jobs] : tokenizers) {
      texts.push_back(
          absl::StrCat(tokenizer, " (", absl::StrJoin(jobs, ", "), ")"));
    }
    control->reasons.push_back(absl::StrCat("tokenizer of ", evaluation, ": ",
                                            absl::StrJoin(texts, ", ")));
  }
}

}  // namespace

std::vector<RecordedReport> RecordedReports(
    const SummarizeSpec& spec, const std::vector<PartRecords>& records) {
  std::vector<RecordedReport> all;
  for (int i = 0; i < spec.parts_size(); ++i) {
    const PartResult& part = spec.parts(i);
    if (!HasSucceeded(part) || static_cast<size_t>(i) >= records.size()) {
      continue;
    }
    for (CountedReport& counted : CountedReports(part)) {
      all.push_back({&part, std::move(counted), &records[i]});
    }
  }
  return all;
}

Tokenizers TokenizersOf(const SummarizeSpec& spec,
                        const std::vector<PartRecords>& records) {
  Tokenizers tokenizers;
  for (const auto& [part, counted, of_part] : RecordedReports(spec, records)) {
    const auto found = of_part->lengths.find(counted.report->path());
    if (found == of_part->lengths.end() || found->second.tokenizer.empty()) {
      continue;
    }
    tokenizers[counted.evaluation][found->second.tokenizer].push_back(
        part->job());
  }
  return tokenizers;
}

bool TokenizersDiffer(const Tokenizers& tokenizers,
                      const std::string& evaluation) {
  const auto found = tokenizers.find(evaluation);
  return found != tokenizers.end() && found->second.size() > 1;
}

Control CheckControl(const SummarizeSpec& spec,
                     const std::vector<PartRecords>& records) {
  Control control;
  const PartRecords nothing;
  Runs finished;
  std::map<uint64_t, Runs> seeds;
  for (int i = 0; i < spec.parts_size(); ++i) {
    const PartResult& part = spec.parts(i);
    if (!HasSucceeded(part)) {
      control.reasons.push_back(absl::StrCat(part.job(), " is ", part.state(),
                                             part.reason().empty() ? "" : ", ",
                                             part.reason()));
      continue;
    }
    const bool is_known = static_cast<size_t>(i) < records.size();
    finished.push_back({&part, is_known ? &records[i] : &nothing});
    seeds[part.seed()].push_back(finished.back());
  }
  for (const auto& [seed, runs] : seeds) {
    CheckSeed(seed, runs, spec, &control);
  }
  CheckTokenizers(TokenizersOf(spec, records), &control);
  CheckAll(finished, spec, &control);
  return control;
}

}  // namespace ordo::report::summary
