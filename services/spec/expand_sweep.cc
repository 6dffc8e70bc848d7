#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/proto_bytes.h"
#include "services/spec/early_stopping.h"
#include "services/spec/expand_kinds.h"
#include "services/spec/overrides.h"

namespace ordo::services::spec {
namespace {

using google::protobuf::Value;
using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Overrides;
using ordo::jobs::v1::Sweep;
using Violations = std::vector<base::FieldViolation>;

constexpr int kMaxPaths = 16;

// One path of the matrix and its values.
struct Axis {
  std::string path;
  const Sweep::Values* values = nullptr;
};

// In the order of their paths.
std::vector<Axis> AxesOf(const Sweep& sweep) {
  std::map<std::string, const Sweep::Values*> sorted;
  for (const auto& [path, values] : sweep.matrix()) sorted[path] = &values;
  std::vector<Axis> axes;
  for (const auto& [path, values] : sorted) axes.push_back({path, values});
  return axes;
}

// How many runs there are; more than kMaxParts may be any number of them.
size_t NumberOfRuns(const Sweep& sweep, const std::vector<Axis>& axes) {
  size_t number = 1;
  const auto times = [&number](int count) {
    number = std::min(number * static_cast<size_t>(std::max(count, 1)),
                      kMaxParts + 1);
  };
  times(sweep.runs_size());
  for (const Axis& axis : axes) times(axis.values->values_size());
  times(sweep.seeds_size());
  return number;
}

// What `number` runs have of their own, all together.
size_t BytesOfValues(const Sweep& sweep, const std::vector<Axis>& axes,
                     size_t number) {
  size_t bytes = 0;
  for (const Axis& axis : axes) {
    size_t of_one_each = 0;
    for (const auto& value : axis.values->values()) {
      of_one_each += axis.path.size() + value.ByteSizeLong();
    }
    const int count = std::max(axis.values->values_size(), 1);
    bytes += of_one_each * (number / static_cast<size_t>(count));
  }
  for (const Overrides& run : sweep.runs()) {
    bytes +=
        run.ByteSizeLong() * (number / static_cast<size_t>(sweep.runs_size()));
  }
  return bytes;
}

// Of one path of the matrix.
void CheckValues(const std::string& field, const Sweep::Values& values,
                 Violations* violations) {
  if (values.values().empty()) {
    violations->push_back({field, "required; name at least one"});
  }
  std::set<std::string> seen;
  for (int i = 0; i < values.values_size(); ++i) {
    const Value& value = values.values(i);
    if (seen.insert(base::DeterministicBytes(value)).second) continue;
    violations->push_back(
        {absl::StrCat(field, "[", i, "]"),
         absl::StrCat(ValueText(value), " is there twice; leave one out")});
  }
}

bool CheckShape(const Sweep& sweep, const std::vector<Axis>& axes,
                Violations* violations) {
  const size_t num_wrong = violations->size();
  if (axes.empty() && sweep.runs().empty() && sweep.seeds().empty()) {
    violations->push_back({"sweep.matrix",
                           "nothing varies; name values of fields here, or "
                           "runs, or seeds"});
  }
  if (axes.size() > size_t{kMaxPaths}) {
    violations->push_back(
        {"sweep.matrix",
         absl::StrCat("has ", axes.size(), " paths; at most ", kMaxPaths)});
  }
  for (const Axis& axis : axes) {
    CheckValues(absl::StrCat("sweep.matrix.", axis.path, ".values"),
                *axis.values, violations);
  }
  for (int i = 0; i < sweep.runs_size(); ++i) {
    const auto& set = sweep.runs(i).set();
    const std::string path = absl::StrCat("sweep.runs[", i, "].set");
    if (set.size() > size_t{kMaxOverrides}) {
      violations->push_back(
          {path, absl::StrCat("has ", set.size(), " paths; at most ",
                              kMaxOverrides)});
    }
    for (const Axis& axis : axes) {
      if (set.count(axis.path) == 0) continue;
      violations->push_back({absl::StrCat(path, ".", axis.path),
                             "is in sweep.matrix too; leave one of them out"});
    }
  }
  CheckSeeds("sweep.seeds", sweep.seeds(), violations);
  return violations->size() == num_wrong;
}

// Makes run after run.
class RunMaker {
 public:
  RunMaker(const JobSpec& parent, const std::vector<Axis>& axes,
           PartViolations* violations)
      : parent_(parent),
        sweep_(parent.sweep()),
        axes_(axes),
        violations_(*violations) {}

  // The run with this number: the seed changes fastest, then the last path.
  Part Make(size_t number) const {
    size_t rest = number;
    const auto take = [&rest](int count) {
      const size_t size = static_cast<size_t>(std::max(count, 1));
      const int index = static_cast<int>(rest % size);
      rest /= size;
      return index;
    };
    Part part;
    part.spec = sweep_.run();
    part.spec.set_name(absl::StrCat(parent_.name(), "-", number));
    part.origin = "sweep.run";
    const int seed = take(sweep_.seeds_size());
    ValuesByPath values;
    for (size_t i = axes_.size(); i-- > 0;) {
      const int index = take(axes_[i].values->values_size());
      const std::string& path = axes_[i].path;
      values[path] = &axes_[i].values->values(index);
      part.sources[path] =
          absl::StrCat("sweep.matrix.", path, ".values[", index, "]");
    }
    if (!sweep_.runs().empty()) {
      const int index = static_cast<int>(rest);
      for (const auto& [path, value] : sweep_.runs(index).set()) {
        values[path] = &value;
        part.sources[path] = absl::StrCat("sweep.runs[", index, "].set.", path);
      }
    }
    Name(values, seed, &part);
    Violations wrong;
    ApplyOverrides(values, &part.spec, &wrong);
    violations_.Add(part, wrong);
    if (!sweep_.seeds().empty()) {
      SetSeed({"training.seed", sweep_.seeds(seed),
               absl::StrCat("sweep.seeds[", seed, "]")},
              &part, &violations_);
    }
    return part;
  }

 private:
  void Name(const ValuesByPath& values, int seed, Part* part) const {
    std::vector<std::string> texts;
    for (const auto& [path, value] : values) {
      texts.push_back(absl::StrCat(path, "=", ValueText(*value)));
    }
    if (!sweep_.seeds().empty()) {
      texts.push_back(absl::StrCat("training.seed=", sweep_.seeds(seed)));
    }
    part->label = texts.empty() ? "unchanged" : absl::StrJoin(texts, ", ");
    part->differs = part->label;
  }

  const JobSpec& parent_;
  const Sweep& sweep_;
  const std::vector<Axis>& axes_;
  PartViolations& violations_;
};

}  // namespace

void MakeSweepParts(JobSpec* parent, std::vector<Part>* parts,
                    Violations* violations) {
  if (!parent->has_sweep()) {
    violations->push_back({"sweep", "required with kind: sweep"});
    return;
  }
  Sweep& sweep = *parent->mutable_sweep();
  CheckMaxParallel("sweep", static_cast<int>(kMaxParts), &sweep, violations);
  const std::vector<Axis> axes = AxesOf(sweep);
  const bool has_run =
      CheckTemplate("sweep.run", {JobSpec::TRAIN, JobSpec::EVALUATE},
                    sweep.mutable_run(), violations);
  if (has_run && sweep.run().kind() == JobSpec::EVALUATE &&
      !sweep.seeds().empty()) {
    violations->push_back({"sweep.seeds",
                           "are those of training; leave them out and vary "
                           "evaluations[0].seed"});
    return;
  }
  ResolveEarlyStopping(&sweep, violations);
  const bool has_shape = CheckShape(sweep, axes, violations);
  const size_t number = NumberOfRuns(sweep, axes);
  BytesOfParts bytes = BytesOfEach(*parent, sweep.run());
  bytes.of_all = BytesOfValues(sweep, axes, number);
  const bool has_number =
      CheckNumberOfParts("sweep", number, bytes, violations);
  if (!has_run || !has_shape || !has_number) return;
  PartViolations wrong;
  const RunMaker maker(*parent, axes, &wrong);
  for (size_t i = 0; i < number; ++i) parts->push_back(maker.Make(i));
  wrong.MoveTo(*parts, violations);
}

void CheckSweepParts(const std::vector<Part>& parts, JobSpec* parent,
                     Violations* violations) {
  Sweep& sweep = *parent->mutable_sweep();
  if (sweep.has_early_stopping()) {
    FitEarlyStopping(parts, sweep.mutable_early_stopping(), violations);
  }
  std::map<std::string, const Part*> seen;
  for (const Part& part : parts) {
    JobSpec unnamed = part.spec;
    unnamed.clear_name();
    const auto [first, added] =
        seen.emplace(base::DeterministicBytes(unnamed), &part);
    if (added) continue;
    // Where it says what it has of its own.
    std::string field = "sweep";
    for (const auto& [here, there] : part.sources) {
      if (absl::StartsWith(there, "sweep.")) field = there;
    }
    violations->push_back(
        {field,
         absl::StrCat("the run with ", part.label, " is the one with ",
                      first->second->label, " again; leave one of them out")});
  }
}

}  // namespace ordo::services::spec
