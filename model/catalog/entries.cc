#include "model/catalog/entries.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/catalog/attention_classes.h"

namespace ordo::model::catalog {

Entry EncodingEntry(std::string name, std::string text, std::string source) {
  Entry entry;
  entry.kind = Kind::kEncoding;
  entry.name = std::move(name);
  entry.text = std::move(text);
  entry.source = std::move(source);
  return entry;
}

std::vector<std::string> NamesOf(const std::vector<Entry>& entries,
                                 bool (*test)(const EncodingTraits& traits)) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (entry.kind == Kind::kEncoding && test(entry.encoding)) {
      names.push_back(entry.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ParamPath(std::string_view field, std::string_view name) {
  return absl::StrCat(std::string(field), ".params.", std::string(name));
}

void CheckEvenWidth(std::string_view field,
                    const ordo::training::v1::Component& component,
                    const ModelShape& shape,
                    std::vector<base::FieldViolation>* violations) {
  if (shape.width % 2 == 0) return;
  violations->push_back(
      {absl::StrCat(std::string(field), ".name"),
       absl::StrCat(component.name(),
                    " has as many sines as cosines: model.width must be even, "
                    "is ",
                    shape.width)});
}

Param Integer(std::string name, int64_t value, Range range, std::string text) {
  return {std::move(name), ParamType::kInteger, value, range.min, range.max, {},
          range.unit,      std::move(text)};
}

Param Number(std::string name, double value, Range range, std::string text) {
  return {std::move(name), ParamType::kNumber, value, range.min, range.max, {},
          range.unit,      std::move(text)};
}

Param Numbers(std::string name, Range range, std::string text) {
  return {std::move(name), ParamType::kNumbers, std::vector<double>(),
          range.min,       range.max,           {},
          range.unit,      std::move(text)};
}

Param Bool(std::string name, bool value, std::string text) {
  return {std::move(name), ParamType::kBool, value, {}, {}, {}, "",
          std::move(text)};
}

Param String(std::string name, std::string value, std::string text) {
  return {std::move(name), ParamType::kString, std::move(value), {}, {}, {}, "",
          std::move(text)};
}

Param Strings(std::string name, std::string text) {
  return {std::move(name),
          ParamType::kStrings,
          std::vector<std::string>(),
          {},
          {},
          {},
          "",
          std::move(text)};
}

Entry WithLengths(LengthAxis axis, Entry entry) {
  Param param = {"lengths",
                 ParamType::kLengths,
                 std::vector<double>(),
                 1,
                 1e6,
                 {},
                 FindParam(entry, axis.params.front())->unit,
                 absl::StrCat("Several lengths, in the place of ",
                              absl::StrJoin(axis.params, " and "),
                              ", each a number or, as 2x, a multiple of the "
                              "trained one: scores for each. Left out: none.")};
  if (!axis.limit_param.empty()) {
    absl::StrAppend(&param.text, " Beyond ", axis.params.front(), ", ",
                    axis.limit_param, " grows in proportion.");
  }
  param.filled_in = false;
  entry.params.push_back(std::move(param));
  entry.evaluation.length = std::move(axis);
  return entry;
}

Param Choice(std::string name, std::vector<std::string> choices,
             std::string text) {
  std::string value = choices.front();
  return {std::move(name),
          ParamType::kString,
          std::move(value),
          {},
          {},
          std::move(choices),
          "",
          std::move(text)};
}

std::vector<Entry> AllEntries() {
  std::vector<Entry> all;
  for (const auto family :
       {BiasEntries, ContentEntries, InputEntries, InsideEntries,
        RetrievalEntries, RotaryEntries, StateEntries, CombiningEntries,
        CompositionalEntries, LengthTaskEntries, ScrollsEntries, TaskEntries,
        TextEntries}) {
    std::vector<Entry> entries = family();
    std::move(entries.begin(), entries.end(), std::back_inserter(all));
  }
  LinkCombining(&all);
  for (Entry& entry : all) {
    if (entry.kind != Kind::kEncoding) continue;
    const AttentionClass& about = AttentionClassOf(entry.name);
    entry.encoding.kernels = KernelNames(about);
    entry.encoding.kernels.push_back(kReferenceKernel);
    entry.encoding.no_cuda_kernel = about.no_cuda;
  }
  return all;
}

}  // namespace ordo::model::catalog
