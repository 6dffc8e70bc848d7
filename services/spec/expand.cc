#include "services/spec/expand.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/catalog/fields.h"
#include "model/catalog/resolve_resources.h"
#include "services/spec/expand_kinds.h"
#include "services/spec/model_from.h"
#include "services/spec/references.h"
#include "services/spec/single_job.h"
#include "services/spec/spec_size.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using Violations = std::vector<base::FieldViolation>;

// Of all parts together: templates, what differs and what their parent adds.
constexpr size_t kMaxBytesOfParts = 64 << 20;

// Where a person puts what is refused in a spec of the kind itself.
std::string PlaceOfParts(JobSpec::Kind kind) {
  if (kind == JobSpec::SWEEP) return "sweep.run";
  return kind == JobSpec::COMPARE ? "compare.run" : "a stage of pipeline";
}

std::string KindName(JobSpec::Kind kind) {
  if (kind == JobSpec::SWEEP) return "sweep";
  return kind == JobSpec::COMPARE ? "compare" : "pipeline";
}

// Appends what is wrong with the resources of the parent. Its task computes on
// the CPU and holds a device all the same: where it names none, one of its
// parts' kind when all of these that name one name the same, so that there are
// workers with it.
void ResolveParentResources(const std::vector<Part>& parts, JobSpec* spec,
                            Violations* violations) {
  std::set<std::string> devices;
  for (const Part& part : parts) {
    if (part.spec.resources().device().empty()) continue;
    JobSpec named;
    named.mutable_resources()->set_device(part.spec.resources().device());
    // One that is none is told there.
    Violations wrong;
    model::catalog::ResolveResources("resources", named.mutable_resources(),
                                     &wrong);
    if (wrong.empty()) devices.insert(named.resources().device());
  }
  if (spec->resources().device().empty() && devices.size() == 1) {
    spec->mutable_resources()->set_device(*devices.begin());
  }
  model::catalog::ResolveResources("resources", spec->mutable_resources(),
                                   violations);
}

void ResolveParent(JobSpec* spec, Violations* violations) {
  const std::string kind = KindName(spec->kind());
  ResolveCommon(spec, violations);
  RefuseFields({"model", "encoding", "data", "training", "checkpoint",
                "evaluations", "checkpoints", "start_from", "benchmark",
                "tuned_by", "paced_by", "again"},
               absl::StrCat("has no meaning with kind: ", kind,
                            "; put it into ", PlaceOfParts(spec->kind())),
               *spec, violations);
  for (const char* name : {"sweep", "compare", "pipeline", "gate"}) {
    if (name == kind) continue;
    RefuseFields({name}, absl::StrCat("is for kind: ", name, "; leave it out"),
                 *spec, violations);
  }
}

void MakeParts(JobSpec* spec, std::vector<Part>* parts,
               Violations* violations) {
  if (spec->kind() == JobSpec::SWEEP) {
    MakeSweepParts(spec, parts, violations);
  } else if (spec->kind() == JobSpec::COMPARE) {
    MakeCompareParts(spec, parts, violations);
  } else {
    MakePipelineParts(spec, parts, violations);
  }
}

// A part needs what its parent needs, and in no weaker form: its end alone
// would let it start when its parent has failed.
void InheritNeeds(const JobSpec& parent, Part* part) {
  JobSpec& spec = part->spec;
  std::map<std::string, Need*> needed;
  for (Need& need : *spec.mutable_needs()) needed[need.job()] = &need;
  for (int i = 0; i < parent.needs_size(); ++i) {
    const Need& need = parent.needs(i);
    auto own = needed.find(need.job());
    if (own == needed.end()) {
      own = needed.find(need.job().substr(need.job().find('/') + 1));
    }
    if (own != needed.end()) {
      if (need.condition() != Need::ENDED) {
        own->second->set_condition(Need::SUCCEEDED);
      }
      continue;
    }
    part->sources[absl::StrCat("needs[", spec.needs_size(), "]")] =
        absl::StrCat("needs[", i, "]");
    *spec.add_needs() = need;
  }
}

// What the part has from its parent.
void Inherit(const JobSpec& parent, Part* part) {
  JobSpec& spec = part->spec;
  const auto from_parent = [part](const std::string& field) {
    part->sources[field] = field;
  };
  if (spec.queue().empty()) {
    spec.set_queue(parent.queue());
    from_parent("queue");
  }
  if (!spec.has_priority()) spec.set_priority(parent.priority());
  for (const auto& [key, value] : parent.labels()) {
    if (spec.mutable_labels()->insert({key, value}).second) {
      from_parent("labels." + key);
    }
  }
  if (!spec.has_resources()) {
    *spec.mutable_resources() = parent.resources();
    from_parent("resources");
  }
  InheritNeeds(parent, part);
  if (parent.hold()) spec.set_hold(true);
}

// The names of the parts, which are longer than the parent's. Those that are
// too long are told once and cut, so that the rest can be checked.
void CheckNames(std::vector<Part>* parts, Violations* violations) {
  std::string longest;
  for (const Part& part : *parts) {
    if (part.spec.name().size() > longest.size()) longest = part.spec.name();
  }
  if (longest.size() <= size_t{model::catalog::kMaxIdLength}) return;
  violations->push_back(
      {"name", absl::StrCat("a part would be called ", longest, ", which has ",
                            longest.size(), " characters; at most ",
                            model::catalog::kMaxIdLength,
                            " are allowed: shorten it, or the part's name")});
  for (Part& part : *parts) part.spec.set_name("part");
}

// Resolves the parts, each after the one that it takes its model from.
class Resolver {
 public:
  Resolver(std::vector<Part>* parts, const PartFillers& fillers)
      : parts_(*parts), fillers_(fillers), states_(parts->size(), State::kNew) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      places_[absl::StrCat("jobs/", parts_[i].spec.name())] = i;
    }
  }

  void Run(Violations* violations) {
    for (size_t i = 0; i < parts_.size(); ++i) Resolve(i);
    found_.MoveTo(parts_, violations);
  }

 private:
  enum class State { kNew, kBegun, kGood, kBad };

  void Resolve(size_t i) {
    if (states_[i] != State::kNew) return;
    states_[i] = State::kBegun;
    Part& part = parts_[i];
    Violations wrong;
    if (fillers_.references != nullptr) {
      fillers_.references(&part.spec, &wrong);
    }
    // Of its newest or of its best.
    const std::string& from = part.spec.model().from();
    const auto place = places_.find(
        NamesBest(from) ? from.substr(0, from.find("/checkpoints/")) : from);
    if (place != places_.end() && place->second != i) {
      Resolve(place->second);
      // Of a model that is wrong itself nothing follows.
      if (states_[place->second] == State::kGood) {
        const Part& source = parts_[place->second];
        TakeModel(source.spec, "stage " + source.label, &part.spec, &wrong);
      }
    } else if (fillers_.model != nullptr &&
               part.spec.kind() == JobSpec::TRAIN &&
               !part.spec.model().from().empty()) {
      fillers_.model(&part.spec, &wrong);
    }
    if (fillers_.data != nullptr) fillers_.data(&part.spec, &wrong);
    ResolveCommon(&part.spec, &wrong);
    ResolveSingleJob(&part.spec, &wrong);
    states_[i] = wrong.empty() ? State::kGood : State::kBad;
    found_.Add(part, wrong);
  }

  std::vector<Part>& parts_;
  const PartFillers& fillers_;
  std::vector<State> states_;
  // Place of each part by its resource name.
  std::map<std::string, size_t> places_;
  PartViolations found_;
};

}  // namespace

bool HasParts(JobSpec::Kind kind) {
  return kind == JobSpec::SWEEP || kind == JobSpec::COMPARE ||
         kind == JobSpec::PIPELINE;
}

absl::StatusOr<Expansion> Expand(JobSpec spec, const PartFillers& fillers) {
  ORDO_RETURN_IF_ERROR(CheckSpecSize(spec));
  Expansion expansion;
  Violations violations;
  ResolveParent(&spec, &violations);
  MakeParts(&spec, &expansion.parts, &violations);
  ResolveParentResources(expansion.parts, &spec, &violations);
  const bool all_made = violations.empty();
  CheckNames(&expansion.parts, &violations);
  for (Part& part : expansion.parts) {
    // A wrong name of the parent is told there.
    if (!model::catalog::IsId(spec.name())) part.spec.set_name("part");
    Inherit(spec, &part);
  }
  Resolver(&expansion.parts, fillers).Run(&violations);
  // Of parts that are wrong it says nothing what they have in common.
  if (all_made && violations.empty()) {
    if (spec.kind() == JobSpec::SWEEP) {
      CheckSweepParts(expansion.parts, &spec, &violations);
    } else if (spec.kind() == JobSpec::COMPARE) {
      CheckCompareParts(spec, &expansion.parts, &violations);
    }
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  expansion.spec = std::move(spec);
  return expansion;
}

bool CheckTemplate(const std::string& path,
                   const std::set<JobSpec::Kind>& kinds, JobSpec* run,
                   Violations* violations) {
  if (!run->name().empty()) {
    violations->push_back(
        {path + ".name", "parts are named after their job; leave it out"});
    run->clear_name();
  }
  if (run->kind() == JobSpec::KIND_UNSPECIFIED) run->set_kind(JobSpec::TRAIN);
  if (kinds.count(run->kind()) > 0) return true;
  violations->push_back({path + ".kind", kinds.size() == 1
                                             ? "must be train"
                                             : "must be train or evaluate"});
  return false;
}

bool CheckNumberOfParts(const std::string& path, size_t number,
                        const BytesOfParts& bytes, Violations* violations) {
  if (number > kMaxParts) {
    violations->push_back(
        {path, absl::StrCat("makes more than ", kMaxParts,
                            " runs; name fewer values, runs or seeds")});
    return false;
  }
  const size_t shared = number * bytes.of_each;
  if (shared + bytes.of_all <= kMaxBytesOfParts) return true;
  std::string largest = path;
  if (shared > bytes.of_all) {
    largest = bytes.from.empty() ? path + ".run" : bytes.from;
  }
  violations->push_back(
      {largest,
       absl::StrCat(number, " runs have ", bytes.of_each,
                    " bytes each that they share, and together ", bytes.of_all,
                    " bytes in which they differ; at most ", kMaxBytesOfParts,
                    " are accepted in all: shorten this, the largest, or name "
                    "fewer values, runs or seeds")});
  return false;
}

BytesOfParts BytesOfEach(const JobSpec& parent, const JobSpec& run) {
  JobSpec labels, resources, needs;
  *labels.mutable_labels() = parent.labels();
  *resources.mutable_resources() = parent.resources();
  *needs.mutable_needs() = parent.needs();
  size_t largest = run.ByteSizeLong();
  BytesOfParts bytes;
  bytes.of_each = largest;
  for (const auto& [field, inherited] :
       {std::pair("labels", &labels), std::pair("resources", &resources),
        std::pair("needs", &needs)}) {
    const size_t size = inherited->ByteSizeLong();
    bytes.of_each += size;
    if (size <= largest) continue;
    largest = size;
    bytes.from = field;
  }
  return bytes;
}

void CheckSeeds(const std::string& path,
                const google::protobuf::RepeatedField<uint64_t>& seeds,
                Violations* violations) {
  std::set<uint64_t> seen;
  for (int i = 0; i < seeds.size(); ++i) {
    if (seen.insert(seeds.Get(i)).second) continue;
    violations->push_back(
        {absl::StrCat(path, "[", i, "]"),
         absl::StrCat(seeds.Get(i), " is there twice; leave one out")});
  }
}

void CheckMaxParallel(const std::string& path, int max,
                      google::protobuf::Message* kind, Violations* violations) {
  const auto* field = kind->GetDescriptor()->FindFieldByName("max_parallel");
  if (!kind->GetReflection()->HasField(*kind, field)) return;
  model::catalog::ResolveNumber(
      {"max_parallel", 1, static_cast<double>(max), {}}, path, kind,
      violations);
}

void SetSeed(const SeedOfPart& seed, Part* part, PartViolations* violations) {
  JobSpec& spec = part->spec;
  const bool of_data = seed.path == "data.seed";
  if (of_data ? spec.data().has_seed() : spec.training().has_seed()) {
    const std::string said_in = seed.source.substr(0, seed.source.find('['));
    violations->Add(*part, {{seed.path, absl::StrCat("is what ", said_in,
                                                     " says; leave it out")}});
  }
  part->sources[seed.path] = seed.source;
  if (of_data) {
    spec.mutable_data()->set_seed(seed.value);
  } else {
    spec.mutable_training()->set_seed(seed.value);
  }
}

}  // namespace ordo::services::spec
