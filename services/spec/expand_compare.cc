#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/nearest.h"
#include "base/text/proto_bytes.h"
#include "base/yaml/field_path.h"
#include "model/catalog/fields.h"
#include "services/spec/budget.h"
#include "services/spec/expand_kinds.h"
#include "services/spec/overrides.h"
#include "services/spec/spec_diff.h"
#include "services/spec/tune.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::Compare;
using ordo::jobs::v1::JobSpec;
using Violations = std::vector<base::FieldViolation>;

constexpr int kMinArms = 2;
constexpr int kMaxArms = 64;
constexpr int kMaxSeeds = 100;
constexpr int kMaxDiffers = 64;
constexpr double kMinConfidence = 0.5;
constexpr double kMaxConfidence = 0.9999;
constexpr double kDefaultConfidence = 0.95;

std::string ArmPath(int i) { return absl::StrCat("compare.arms[", i, "]"); }

std::vector<std::string> ArmNames(const Compare& compare) {
  std::vector<std::string> names;
  for (const Compare::Arm& arm : compare.arms()) names.push_back(arm.name());
  return names;
}

bool CheckArms(const Compare& compare, Violations* violations) {
  if (compare.arms_size() < kMinArms || compare.arms_size() > kMaxArms) {
    violations->push_back(
        {"compare.arms", absl::StrCat("must have ", kMinArms, "..", kMaxArms,
                                      " arms, has ", compare.arms_size())});
    return false;
  }
  std::set<std::string> seen;
  for (int i = 0; i < compare.arms_size(); ++i) {
    const Compare::Arm& arm = compare.arms(i);
    const std::string field = ArmPath(i) + ".name";
    if (!model::catalog::IsId(arm.name())) {
      violations->push_back(
          {field, absl::StrCat(arm.name().empty() ? "required; " : "must be ",
                               model::catalog::IdRule())});
    } else if (!seen.insert(arm.name()).second) {
      violations->push_back(
          {field, absl::StrCat("'", arm.name(),
                               "' is there twice; give each its own")});
    }
    if (arm.set_size() > kMaxOverrides) {
      violations->push_back({ArmPath(i) + ".set",
                             absl::StrCat("has ", arm.set_size(),
                                          " paths; at most ", kMaxOverrides)});
    }
  }
  return true;
}

void ResolveCompare(Compare* compare, Violations* violations) {
  CheckMaxParallel("compare", static_cast<int>(kMaxParts), compare, violations);
  model::catalog::ResolveNumber(
      {"confidence", kMinConfidence, kMaxConfidence, kDefaultConfidence},
      "compare", compare, violations);
  if (compare->seeds().empty()) {
    for (const uint64_t seed : {1, 2, 3}) compare->add_seeds(seed);
  }
  if (compare->seeds_size() > kMaxSeeds) {
    violations->push_back(
        {"compare.seeds", absl::StrCat("has ", compare->seeds_size(),
                                       " entries; at most ", kMaxSeeds)});
  }
  CheckSeeds("compare.seeds", compare->seeds(), violations);
  ResolveTune(compare, violations);
  if (compare->differs().empty()) compare->add_differs("encoding");
  ResolveBudget(compare, violations);
  if (compare->differs_size() > kMaxDiffers) {
    violations->push_back(
        {"compare.differs", absl::StrCat("has ", compare->differs_size(),
                                         " entries; at most ", kMaxDiffers)});
    return;
  }
  for (int i = 0; i < compare->differs_size(); ++i) {
    Violations wrong;
    CheckOverridePath(compare->differs(i), &wrong);
    for (const auto& violation : wrong) {
      violations->push_back(
          {absl::StrCat("compare.differs[", i, "]"),
           absl::StrCat("'", violation.field, "': ", violation.description)});
    }
  }
}

void ResolveBaseline(Compare* compare, Violations* violations) {
  const std::vector<std::string> names = ArmNames(*compare);
  if (names.empty()) return;
  if (compare->baseline().empty()) compare->set_baseline(names.front());
  if (std::find(names.begin(), names.end(), compare->baseline()) !=
      names.end()) {
    return;
  }
  violations->push_back(
      {"compare.baseline",
       absl::StrCat("no arm is called '", compare->baseline(), "'",
                    base::SuggestName(compare->baseline(), names))});
}

// What the runs of an arm have in common; without a name.
Part MakeArm(const Compare& compare, int arm_index,
             PartViolations* violations) {
  const Compare::Arm& arm = compare.arms(arm_index);
  Part part;
  part.spec = compare.run();
  part.origin = "compare.run";
  part.label = arm.name();
  ValuesByPath values;
  std::vector<std::string> texts;
  for (const auto& [path, value] : arm.set()) values[path] = &value;
  for (const auto& [path, value] : values) {
    part.sources[path] = absl::StrCat(ArmPath(arm_index), ".set.", path);
    texts.push_back(absl::StrCat(path, "=", ValueText(*value)));
  }
  part.differs = absl::StrJoin(texts, ", ");
  Violations wrong;
  ApplyOverrides(values, &part.spec, &wrong);
  if (compare.has_tune() && part.spec.training().has_learning_rate()) {
    wrong.push_back(
        {"training.learning_rate", "is what compare.tune says; leave it out"});
  }
  violations->Add(part, wrong);
  return part;
}

// Seeds of a part, and where the comparison says them.
struct Seed {
  uint64_t value;
  std::string source;
};

void SetSeeds(const Seed& seed, Part* part, PartViolations* violations) {
  for (const char* path : {"training.seed", "data.seed"}) {
    SetSeed({path, seed.value, seed.source}, part, violations);
  }
}

Part MakeRun(const JobSpec& parent, const Part& arm, int seed_index,
             PartViolations* violations) {
  const uint64_t seed = parent.compare().seeds(seed_index);
  Part part = arm;
  part.spec.set_name(absl::StrCat(parent.name(), "-", arm.label, "-s", seed));
  absl::StrAppend(&part.differs, part.differs.empty() ? "" : ", ",
                  "training.seed=", seed, ", data.seed=", seed);
  SetSeeds({seed, absl::StrCat("compare.seeds[", seed_index, "]")}, &part,
           violations);
  if (parent.compare().has_tune()) FollowTrials(parent, &part);
  return part;
}

// As PartOrder says.
void MakeAll(const JobSpec& parent, std::vector<Part>* parts,
             PartViolations* violations) {
  const Compare& compare = parent.compare();
  const PartOrder order(compare);
  std::vector<Part> arms;
  for (int arm = 0; arm < compare.arms_size(); ++arm) {
    arms.push_back(MakeArm(compare, arm, violations));
  }
  for (size_t i = 0; i < order.num_paces; ++i) {
    Part pace = arms[i];
    SetSeeds({compare.seeds(0), "compare.seeds[0]"}, &pace, violations);
    MakePace(parent, &pace);
    parts->push_back(std::move(pace));
  }
  for (const Part& arm : arms) {
    for (int i = 0; i < compare.tune().learning_rate_size(); ++i) {
      Part trial = arm;
      MakeTrial(parent, i, &trial, violations);
      parts->push_back(std::move(trial));
    }
  }
  for (int seed = 0; seed < compare.seeds_size(); ++seed) {
    for (const Part& arm : arms) {
      parts->push_back(MakeRun(parent, arm, seed, violations));
    }
  }
  if (order.num_paces == 0) return;
  for (size_t i = order.num_paces; i < parts->size(); ++i) {
    const size_t arm = order.ArmOf(i);
    if (arm == order.baseline) continue;
    FollowPaces(parent, arms[arm].label, &(*parts)[i]);
  }
}

// Whether arms may differ at `path`.
bool MayDiffer(const Compare& compare, const std::string& path) {
  return std::any_of(compare.differs().begin(), compare.differs().end(),
                     [&path](const std::string& whole) {
                       return base::IsPartOf(path, whole);
                     });
}

// An arm and what it is compared with.
struct ArmAndBaseline {
  const Part& arm;
  // Its place in compare.arms.
  int index;
  const Part& baseline;
};

// Where a person said that the arm differs from the baseline there.
std::string SaidIn(const std::string& path, const ArmAndBaseline& pair) {
  for (const Part* part : {&pair.arm, &pair.baseline}) {
    std::string own = OwnSourceOf(*part, path);
    if (!own.empty()) return own;
  }
  return ArmPath(pair.index) + ".set";
}

// Without its name and what it takes from other parts of its own arm.
JobSpec WhatItIs(JobSpec spec) {
  spec.clear_name();
  spec.clear_tuned_by();
  spec.clear_paced_by();
  spec.clear_needs();
  return spec;
}

void CheckArm(const Compare& compare, const ArmAndBaseline& pair,
              Violations* violations) {
  const Part& arm = pair.arm;
  const Part& baseline = pair.baseline;
  for (const Difference& found :
       DiffSpecs(WhatItIs(arm.spec), WhatItIs(baseline.spec))) {
    if (MayDiffer(compare, found.path)) continue;
    const std::string field = SaidIn(found.path, pair);
    const bool told = std::any_of(
        violations->begin(), violations->end(),
        [&field](const auto& violation) { return violation.field == field; });
    if (told) continue;
    violations->push_back(
        {field, absl::StrCat(found.path, " is ", found.first, " in the arm ",
                             arm.label, " and ", found.second, " in ",
                             baseline.label, "; arms may differ in ",
                             absl::StrJoin(compare.differs(), ", "),
                             " alone: give all the same, or list it in "
                             "compare.differs")});
  }
}

}  // namespace

void MakeCompareParts(JobSpec* parent, std::vector<Part>* parts,
                      Violations* violations) {
  if (!parent->has_compare()) {
    violations->push_back({"compare", "required with kind: compare"});
    return;
  }
  Compare& compare = *parent->mutable_compare();
  const bool has_run = CheckTemplate("compare.run", {JobSpec::TRAIN},
                                     compare.mutable_run(), violations);
  ResolveCompare(&compare, violations);
  const bool has_arms = CheckArms(compare, violations);
  ResolveBaseline(&compare, violations);
  const PartOrder order(compare);
  const size_t number =
      order.num_paces + order.num_trials +
      order.num_arms * static_cast<size_t>(compare.seeds_size());
  BytesOfParts bytes = BytesOfEach(*parent, compare.run());
  for (const Compare::Arm& arm : compare.arms()) {
    bytes.of_all += arm.ByteSizeLong() * (number / order.num_arms);
  }
  const bool has_number =
      CheckNumberOfParts("compare", number, bytes, violations);
  if (!has_run || !has_arms || !has_number) return;
  PartViolations wrong;
  MakeAll(*parent, parts, &wrong);
  wrong.MoveTo(*parts, violations);
}

void CheckCompareParts(const JobSpec& parent, std::vector<Part>* parts,
                       Violations* violations) {
  const Compare& compare = parent.compare();
  const PartOrder order(compare);
  const Part* const runs = &(*parts)[order.Run(0)];
  std::map<std::string, std::string> seen;
  for (size_t i = 0; i < order.num_arms; ++i) {
    const auto [first, added] = seen.emplace(
        base::DeterministicBytes(WhatItIs(runs[i].spec)), runs[i].label);
    if (order.num_trials > 0 && violations->empty()) {
      CheckTuning((*parts)[order.Trial(i)], runs[i], violations);
    }
    if (!added) {
      violations->push_back(
          {ArmPath(static_cast<int>(i)) + ".set",
           absl::StrCat("makes the arm ", runs[i].label, " the same as ",
                        first->second,
                        "; give it what differs, or leave it out")});
    } else if (i != order.baseline) {
      CheckArm(compare, {runs[i], static_cast<int>(i), runs[order.baseline]},
               violations);
    }
  }
  if (violations->empty()) FitBudget(compare, parts, violations);
}

}  // namespace ordo::services::spec
