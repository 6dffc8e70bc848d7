#include "model/formats/tensors.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/catalog/foreign.h"

namespace ordo::model::formats {
namespace {

using ordo::training::v1::Component;
using ordo::training::v1::Model;

// A name whose first part of digits only is '#', and that part.
struct Pattern {
  std::string name;
  std::string layer;
};

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(c);
  });
}

Pattern PatternOf(const std::string& name) {
  std::vector<std::string> parts = absl::StrSplit(name, '.');
  Pattern pattern;
  for (std::string& part : parts) {
    if (!IsNumber(part)) continue;
    pattern.layer = part;
    part = "#";
    break;
  }
  pattern.name = absl::StrJoin(parts, ".");
  return pattern;
}

std::string InLayer(const std::string& name, const std::string& layer) {
  const size_t place = name.find('#');
  if (place == std::string::npos) return name;
  return absl::StrCat(name.substr(0, place), layer, name.substr(place + 1));
}

bool IsTransposed(Layout layout) {
  return layout == Layout::kTransposed || layout == Layout::kJoinedTransposed;
}

std::vector<int64_t> JoinedRows(const Model& model) {
  const int64_t key_rows =
      int64_t{model.key_value_heads()} * model.head_width();
  return {int64_t{model.heads()} * model.head_width(), key_rows, key_rows};
}

// One tensor of theirs as those of a rule; nothing when the shape does not fit.
std::optional<std::vector<at::Tensor>> Split(const at::Tensor& theirs,
                                             const TensorRule& rule,
                                             const Model& model) {
  at::Tensor tensor = theirs;
  if (IsTransposed(rule.layout)) {
    if (tensor.dim() != 2) return std::nullopt;
    tensor = tensor.t();
  }
  if (rule.ours.size() == 1) return {{tensor.contiguous()}};
  const std::vector<int64_t> rows = JoinedRows(model);
  if (tensor.dim() < 1 || tensor.size(0) != rows[0] + rows[1] + rows[2]) {
    return std::nullopt;
  }
  if (rule.layout == Layout::kJoinedByHead) {
    if (rows[1] != rows[0]) return std::nullopt;
    const at::Tensor by_head =
        tensor.unflatten(0, {model.heads(), 3, model.head_width()});
    std::vector<at::Tensor> parts;
    for (int64_t i = 0; i < 3; ++i) {
      parts.push_back(by_head.select(1, i).flatten(0, 1).contiguous());
    }
    return parts;
  }
  std::vector<at::Tensor> parts;
  int64_t begin = 0;
  for (const int64_t count : rows) {
    parts.push_back(tensor.narrow(0, begin, count).contiguous());
    begin += count;
  }
  return parts;
}

// The opposite.
at::Tensor Join(const std::vector<at::Tensor>& ours, Layout layout,
                const Model& model) {
  if (layout == Layout::kJoinedByHead) {
    std::vector<at::Tensor> by_head;
    for (const at::Tensor& tensor : ours) {
      by_head.push_back(
          tensor.unflatten(0, {model.heads(), 1, model.head_width()}));
    }
    return at::cat(by_head, 1).flatten(0, 2).contiguous();
  }
  const at::Tensor joined = ours.size() == 1 ? ours[0] : at::cat(ours, 0);
  return IsTransposed(layout) ? joined.t().contiguous() : joined;
}

// The rule, by what their names look like.
using RuleMap = std::map<std::string, TensorRule>;

RuleMap RulesOf(const TensorNames& names) {
  RuleMap rules;
  for (const TensorRule& rule : names.rules) {
    const bool bare = absl::StartsWith(rule.theirs, "/");
    rules[bare ? rule.theirs.substr(1) : rule.theirs] = rule;
  }
  return rules;
}

// What of an encoding's tensors is not as a plain rule says.
absl::Status CheckConstant(const std::string& name, const at::Tensor& tensor,
                           const std::string& param,
                           const Component& encoding) {
  const double value = catalog::Params(encoding.params()).Number(param);
  if (tensor.numel() == 1 && tensor.to(at::kDouble).item<double>() == value) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tensor '", name, "' is not the encoding's ", param, ", ",
                   value, "; set encoding.params.", param));
}

}  // namespace

absl::StatusOr<TensorMap> ImportTensors(const TensorNames& names,
                                        const Model& model,
                                        const Component& encoding,
                                        const TensorMap& theirs) {
  RuleMap rules = RulesOf(names);
  std::map<std::string, std::string> constants;
  for (const catalog::ForeignTensor& tensor :
       catalog::ForeignTensors(encoding)) {
    TensorRule rule{tensor.theirs, {}};
    if (!tensor.ours.empty()) rule.ours.push_back(tensor.ours);
    rules[tensor.theirs] = rule;
    if (!tensor.param.empty()) constants[tensor.theirs] = tensor.param;
  }
  TensorMap ours;
  for (const auto& [full_name, tensor] : theirs) {
    std::string name = full_name;
    if (!names.prefix.empty() && absl::StartsWith(name, names.prefix)) {
      name = name.substr(names.prefix.size());
    }
    const Pattern pattern = PatternOf(name);
    const auto rule = rules.find(pattern.name);
    if (rule == rules.end()) {
      if (names.others_keep_theirs) {
        ours[name] = tensor;
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("tensor '", full_name, "' is not known"));
    }
    if (const auto constant = constants.find(pattern.name);
        constant != constants.end()) {
      ORDO_RETURN_IF_ERROR(
          CheckConstant(full_name, tensor, constant->second, encoding));
    }
    if (rule->second.ours.empty()) continue;
    const auto parts = Split(tensor, rule->second, model);
    if (!parts) {
      return absl::DataLossError(
          absl::StrCat("tensor '", full_name,
                       "' has a shape that does not fit the configuration"));
    }
    for (size_t i = 0; i < parts->size(); ++i) {
      // A number here is a tensor of one element.
      at::Tensor part = (*parts)[i];
      if (part.dim() == 0) part = part.view({1});
      ours[InLayer(rule->second.ours[i], pattern.layer)] = part;
    }
  }
  return ours;
}

absl::StatusOr<TensorMap> ExportTensors(const TensorNames& names,
                                        const Model& model,
                                        const TensorMap& ours) {
  TensorMap theirs;
  std::set<std::string> done;
  for (const TensorRule& rule : names.rules) {
    if (rule.ours.empty()) continue;
    const bool in_layers = absl::StrContains(rule.theirs, "#");
    for (int number = 0; number < (in_layers ? model.layers() : 1); ++number) {
      const std::string layer = absl::StrCat(number);
      std::vector<at::Tensor> parts;
      for (const std::string& pattern : rule.ours) {
        const std::string name = InLayer(pattern, layer);
        const auto found = ours.find(name);
        if (found == ours.end()) continue;
        parts.push_back(found->second);
        done.insert(name);
      }
      if (parts.size() != rule.ours.size()) continue;
      const bool bare = absl::StartsWith(rule.theirs, "/");
      theirs[InLayer(bare ? rule.theirs.substr(1)
                          : absl::StrCat(names.prefix, rule.theirs),
                     layer)] = Join(parts, rule.layout, model);
    }
  }
  for (const auto& [name, tensor] : ours) {
    if (done.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor '", name, "' has no name there"));
    }
  }
  return theirs;
}

}  // namespace ordo::model::formats
