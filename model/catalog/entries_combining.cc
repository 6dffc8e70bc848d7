#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "model/catalog/entries.h"
#include "model/catalog/extra_cost.h"
#include "model/catalog/pattern.h"

// No encoding, and those made of others.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using Violations = std::vector<base::FieldViolation>;

constexpr char kRandomPositions[] = "random_positions";
constexpr char kPerLayer[] = "per_layer";
constexpr int kMaxPattern = 64;
// Kernels take tables of all distances between ids up to this.
constexpr double kMaxPosition = 1 << 20;

Entry None() {
  Entry entry = EncodingEntry(
      "none", "No positional encoding: nothing but the causal mask.",
      "Kazemnejad et al. 2023, arXiv:2305.19466");
  entry.encoding.formula = "s_ij = q_i . k_j / sqrt(d)";
  entry.encoding.beyond = "defined";
  entry.encoding.takes_positions = false;
  entry.encoding.count_cost = CostOfNothing;
  return entry;
}

// What every encoding under random positions takes and promises.
void AddRandomPositions(Entry* entry) {
  entry->params.push_back(
      Integer("max_position", 1024, {1, kMaxPosition, "positions"},
              "Number L of positions that are drawn from."));
  entry->params.push_back(
      Choice("eval", {"random", "arange"},
             "Positions in evaluation: drawn as in training, or 0, 1, 2, ..."));
  entry->params.push_back(
      Integer("eval_seed", 1, {0, 9007199254740991.0},
              "Seed of the draws in evaluation, the same for all rows of a "
              "length."));
  entry->encoding.limit_length = [](const Component& component) {
    return Params(component.params()).Integer("max_position");
  };
  entry->encoding.beyond = "defined up to L positions, then an error";
  entry->encoding.draws_positions = true;
  // A subset in ascending order.
  entry->encoding.ordered_positions = true;
}

constexpr char kRandomSource[] = "Ruoss et al. 2023, arXiv:2305.16843";

void CheckRandomPositions(std::string_view field, const Component& component,
                          const ModelShape& /*shape*/, Violations* violations) {
  const int64_t drawn = Params(component.params()).Integer("max_position");
  for (const Component& inner : component.with()) {
    const int64_t limit = MaxLength(inner);
    if (limit == 0 || limit >= drawn) continue;
    violations->push_back(
        {ParamPath(field, "max_position"),
         absl::StrCat("is ", drawn, ", but ", inner.name(), " has room for ",
                      limit,
                      " positions; lower max_position or raise the limit of ",
                      inner.name())});
  }
}

Entry RandomPositions() {
  Entry entry = EncodingEntry(
      kRandomPositions,
      "Randomised positions under another encoding: in training each batch "
      "has a random ascending subset of L position ids.",
      kRandomSource);
  AddRandomPositions(&entry);
  entry.min_with = entry.max_with = 1;
  entry.encoding.sums_with = true;
  entry.encoding.separates = true;
  entry.encoding.check_shape = CheckRandomPositions;
  entry.encoding.formula =
      "ids = sorted subset of {0..L-1}, as many as a row has tokens; then as "
      "the encoding with it";
  entry.encoding.count_cost = CostOfNothing;
  return entry;
}

// `base` under random positions, named in one.
Entry RandomOver(const Entry& base, std::string name, std::string text) {
  Entry entry = base;
  entry.name = std::move(name);
  entry.text = std::move(text);
  entry.source = kRandomSource;
  entry.with.clear();
  entry.max_with = entry.min_with = 0;
  entry.encoding.sums_with = false;
  entry.encoding.formula =
      absl::StrCat("ids = sorted subset of {0..L-1}; then as ", base.name);
  AddRandomPositions(&entry);
  return entry;
}

const Entry& Named(const std::vector<Entry>& entries, const std::string& name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(),
                   [&](const Entry& entry) { return entry.name == name; });
  ORDO_CHECK(found != entries.end()) << name;
  return *found;
}

Entry RandomRope() {
  return RandomOver(Named(RotaryEntries(), "rope"), "random_rope",
                    "Rotary encoding with randomised positions in training.");
}

Entry RandomSinusoidal() {
  return RandomOver(
      Named(InputEntries(), "sinusoidal"), "random_sinusoidal",
      "Sinusoidal encoding with randomised positions in training.");
}

Entry RandomLearned() {
  Entry entry = RandomOver(
      Named(InputEntries(), "learned"), "random_learned",
      "A learned vector for each of L positions, with randomised positions in "
      "training.");
  const auto length = std::find_if(
      entry.params.begin(), entry.params.end(),
      [](const Param& param) { return param.name == "max_length"; });
  ORDO_CHECK(length != entry.params.end()) << "learned has no max_length";
  entry.params.erase(length);
  entry.encoding.parameters = "L C";
  entry.encoding.count_parameters = [](const Component& component,
                                       const ModelShape& shape) {
    return Params(component.params()).Integer("max_position") * shape.width;
  };
  return entry;
}

// Why an encoding cannot be that of some layers only; empty where it can.
std::string WhyNotInOneLayer(const EncodingTraits& traits) {
  if (traits.carries_state) return "its state travels from layer to layer";
  if (traits.at_input) return "it acts on the input, in no layer";
  if (traits.draws_positions) return "all layers have the same position ids";
  return "";
}

// The same of a resolved component.
std::string WhyNotInOneLayer(const Component& component) {
  const Entry& entry = *Find(Kind::kEncoding, component.name());
  const std::string why = WhyNotInOneLayer(entry.encoding);
  constexpr char kSegments[] = "segment_length";
  if (why.empty() && FindParam(entry, kSegments) != nullptr &&
      Params(component.params()).Integer(kSegments) > 0) {
    return "all layers have the same segments; leave out segment_length";
  }
  return why;
}

// Those in the pattern and those that act beside them.
void CheckMembers(const std::string& field, const Component& component,
                  Violations* violations) {
  for (int i = 0; i < component.with_size(); ++i) {
    const Component& member = component.with(i);
    const std::string path = absl::StrCat(field, ".with[", i, "]");
    const std::string why = WhyNotInOneLayer(member);
    if (!why.empty()) {
      violations->push_back(
          {path + ".name", absl::StrCat(kPerLayer, " cannot be combined with ",
                                        member.name(), ": ", why)});
    }
    CheckMembers(path, member, violations);
  }
}

void CheckPerLayer(std::string_view field, const Component& component,
                   const ModelShape& shape, Violations* violations) {
  CheckMembers(std::string(field), component, violations);
  if (component.with_size() <= shape.layers) return;
  violations->push_back({absl::StrCat(std::string(field), ".with"),
                         absl::StrCat("has ", component.with_size(),
                                      " encodings for ", shape.layers,
                                      " layers; leave out those that no layer "
                                      "would have")});
}

int64_t CountPerLayer(const Component& component, const ModelShape& shape) {
  const Pattern pattern = PatternOf(component, shape.layers);
  int64_t count = 0;
  for (size_t i = 0; i < pattern.members.size(); ++i) {
    ModelShape part = shape;
    part.layers =
        static_cast<int>(pattern.LayersOf(static_cast<int>(i)).size());
    count += CountParameters(*pattern.members[i], part);
  }
  return count;
}

ExtraCost CostOfPerLayer(const Component& component, const ModelShape& shape,
                         const CostQuery& query) {
  const Pattern pattern = PatternOf(component, shape.layers);
  if (query.layer != kInputLayer) {
    const int member = pattern.member_of_layer[query.layer];
    CostQuery theirs = query;
    theirs.first_layer = pattern.LayersOf(member).front();
    return CountCost(*pattern.members[member], shape, theirs);
  }
  ExtraCost all;
  for (const Component* member : pattern.members) {
    all = Sum(all, CountCost(*member, shape, query));
  }
  return all;
}

Entry PerLayer() {
  Entry entry = EncodingEntry(
      kPerLayer,
      "A pattern of encodings, one for each layer, again and again from the "
      "first layer to the last.",
      "Yang et al. 2025, arXiv:2501.18795");
  entry.min_with = 1;
  entry.max_with = kMaxPattern;
  entry.encoding.separates = true;
  entry.encoding.formula = "layer l is as encoding l mod n of the n with it";
  entry.encoding.beyond = "as its encodings";
  entry.encoding.parameters =
      "those of its encodings, in the layers where each acts; equal ones are "
      "one encoding";
  entry.encoding.initial = "as those of its encodings";
  entry.encoding.count_parameters = CountPerLayer;
  entry.encoding.check_shape = CheckPerLayer;
  entry.encoding.count_cost = CostOfPerLayer;
  return entry;
}

}  // namespace

void LinkCombining(std::vector<Entry>* all) {
  const std::vector<std::string> positioned =
      NamesOf(*all, [](const EncodingTraits& traits) {
        return traits.takes_positions && !traits.draws_positions;
      });
  std::vector<std::string> layered =
      NamesOf(*all, [](const EncodingTraits& traits) {
        return WhyNotInOneLayer(traits).empty();
      });
  layered.erase(std::remove(layered.begin(), layered.end(), kPerLayer),
                layered.end());
  for (Entry& entry : *all) {
    if (entry.name == kRandomPositions) entry.with = positioned;
    if (entry.name == kPerLayer) entry.with = layered;
  }
}

std::vector<Entry> CombiningEntries() {
  return {None(),       PerLayer(),        RandomLearned(), RandomPositions(),
          RandomRope(), RandomSinusoidal()};
}

}  // namespace ordo::model::catalog
