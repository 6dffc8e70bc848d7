#include "model/catalog/foreign.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Component;

constexpr char kTypeKey[] = "rope_type";
constexpr char kOldTypeKey[] = "type";
constexpr char kFactorKey[] = "factor";
constexpr char kOriginalKey[] = "original_max_position_embeddings";
constexpr char kTrainedLength[] = "trained_length";

struct RopeKey {
  const char* key;
  const char* param;
  bool required = false;
};

// Where a type's trained length is said.
enum class LengthFrom { kNowhere, kMaximum, kOriginal, kOriginalOrMaximum };

struct RopeType {
  const char* type;
  const char* encoding;
  std::vector<RopeKey> keys;
  LengthFrom length = LengthFrom::kNowhere;
  // A factor that is not given is the maximum over the trained length.
  bool factor_from_lengths = false;
};

// The first row of an encoding or type decides.
const std::vector<RopeType>& RopeTypes() {
  static const auto* const types = [] {
    const RopeType longrope = {"longrope",
                               "longrope",
                               {{kFactorKey, "factor"},
                                {"short_factor", "short_factors", true},
                                {"long_factor", "long_factors", true},
                                {"attention_factor", "attention_factor"}},
                               LengthFrom::kOriginalOrMaximum,
                               true};
    RopeType su = longrope;
    su.type = "su";
    return new std::vector<RopeType>{
        {"default", "rope", {}},
        {"default", "theta", {}},
        {"linear", "linear", {{kFactorKey, "factor", true}}},
        {"dynamic",
         "dynamic_ntk",
         {{kFactorKey, "factor", true}},
         LengthFrom::kMaximum},
        {"yarn",
         "yarn",
         {{kFactorKey, "factor"},
          {"beta_fast", "beta_fast"},
          {"beta_slow", "beta_slow"},
          {"truncate", "truncate"},
          {"attention_factor", "attention_factor"},
          {"mscale", "mscale"},
          {"mscale_all_dim", "mscale_all_dim"}},
         LengthFrom::kOriginalOrMaximum,
         true},
        longrope,
        su,
        {"llama3",
         "llama3",
         {{kFactorKey, "factor", true},
          {"low_freq_factor", "low_freq_factor", true},
          {"high_freq_factor", "high_freq_factor", true}},
         LengthFrom::kOriginal},
    };
  }();
  return *types;
}

absl::Status BadKey(std::string_view key, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("rope_scaling.", std::string(key), ": ", std::string(what)));
}

bool IsNamed(const Component& encoding, std::string_view name) {
  return encoding.name() == name;
}

std::string TypeOf(const ParamMap& scaling) {
  for (const char* key : {kTypeKey, kOldTypeKey}) {
    const auto found = scaling.find(key);
    if (found != scaling.end()) return found->second.string_value();
  }
  return scaling.empty() ? "default" : "";
}

const RopeType* FindType(const std::string& type) {
  for (const RopeType& row : RopeTypes()) {
    if (type == row.type) return &row;
  }
  return nullptr;
}

bool IsKnownKey(const RopeType& row, const std::string& key) {
  if (key == kTypeKey || key == kOldTypeKey) return true;
  if (key == kOriginalKey) {
    return row.length == LengthFrom::kOriginal ||
           row.length == LengthFrom::kOriginalOrMaximum;
  }
  return std::any_of(row.keys.begin(), row.keys.end(),
                     [&](const RopeKey& known) { return key == known.key; });
}

// The trained length by the row's rule; 0 when it has none.
absl::StatusOr<int64_t> TrainedLength(const RopeType& row,
                                      const ForeignRope& rope) {
  if (row.length == LengthFrom::kNowhere) return 0;
  const auto original = rope.scaling.find(kOriginalKey);
  if (original != rope.scaling.end()) {
    const double length = original->second.number_value();
    if (!(length >= 1) || length > 1e9 || length != std::floor(length)) {
      return BadKey(kOriginalKey, "must be a number of tokens");
    }
    return static_cast<int64_t>(length);
  }
  if (row.length == LengthFrom::kOriginal) {
    return BadKey(kOriginalKey, "required");
  }
  if (rope.max_positions == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_position_embeddings: required for rope_scaling of "
                     "type ",
                     row.type));
  }
  return rope.max_positions;
}

void SetNumber(const std::string& name, double value, Component* encoding) {
  (*encoding->mutable_params())[name].set_number_value(value);
}

}  // namespace

absl::StatusOr<Component> FromForeignRope(const ForeignRope& rope) {
  const std::string type = TypeOf(rope.scaling);
  if (type.empty()) return BadKey(kTypeKey, "required");
  const RopeType* row = FindType(type);
  if (row == nullptr) {
    return BadKey(kTypeKey, absl::StrCat("'", type, "' is not supported"));
  }
  Component encoding;
  encoding.set_name(row->encoding);
  SetNumber("base", rope.base, &encoding);
  SetNumber("partial", rope.partial, &encoding);
  for (const auto& [key, value] : rope.scaling) {
    if (!IsKnownKey(*row, key)) {
      return BadKey(key, absl::StrCat("is not supported for type ", type));
    }
  }
  for (const RopeKey& key : row->keys) {
    const auto found = rope.scaling.find(key.key);
    if (found != rope.scaling.end()) {
      (*encoding.mutable_params())[key.param] = found->second;
    } else if (key.required) {
      return BadKey(key.key, absl::StrCat("required for type ", type));
    }
  }
  const auto length = TrainedLength(*row, rope);
  if (!length.ok()) return length.status();
  if (*length > 0) SetNumber(kTrainedLength, *length, &encoding);
  if (row->factor_from_lengths && rope.scaling.count(kFactorKey) == 0) {
    SetNumber("factor",
              std::max(1.0, static_cast<double>(rope.max_positions) / *length),
              &encoding);
  }
  return encoding;
}

std::optional<ForeignRope> ToForeignRope(const Component& encoding) {
  const auto row = std::find_if(
      RopeTypes().begin(), RopeTypes().end(),
      [&](const RopeType& type) { return IsNamed(encoding, type.encoding); });
  if (row == RopeTypes().end() || encoding.with_size() > 0) return std::nullopt;
  const Params params(encoding.params());
  if (params.String("layout") != "half_split") return std::nullopt;
  ForeignRope rope;
  rope.base = params.Number("base");
  rope.partial = params.Number("partial");
  if (std::string_view(row->type) == "default") return rope;
  rope.scaling[kTypeKey].set_string_value(row->type);
  const Entry& entry = *Find(Kind::kEncoding, encoding.name());
  for (const RopeKey& key : row->keys) {
    const auto& value = encoding.params().at(key.param);
    const ParamType type = FindParam(entry, key.param)->type;
    if (type == ParamType::kNumbers && value.list_value().values().empty()) {
      return std::nullopt;
    }
    // 0 stands for what the formula gives.
    const bool left_out =
        type == ParamType::kNumber && value.number_value() == 0;
    if (!left_out) rope.scaling[key.key] = value;
  }
  if (row->length == LengthFrom::kMaximum) {
    rope.max_positions = params.Integer(kTrainedLength);
  } else if (row->length != LengthFrom::kNowhere) {
    rope.scaling[kOriginalKey].set_number_value(params.Integer(kTrainedLength));
  }
  return rope;
}

Component FromImplied(ImpliedEncoding kind, int64_t num_positions) {
  Component encoding;
  if (kind == ImpliedEncoding::kLinearBias) {
    encoding.set_name("alibi");
  } else {
    encoding.set_name("learned");
    SetNumber("max_length", num_positions, &encoding);
  }
  return encoding;
}

bool IsImplied(ImpliedEncoding kind, const Component& encoding) {
  return encoding.with_size() == 0 &&
         IsNamed(encoding, FromImplied(kind, 1).name());
}

int64_t LearnedPositions(const Component& encoding) {
  return Params(encoding.params()).Integer("max_length");
}

std::string LearnedPositionsTensor() { return "model.learned.weight"; }

std::vector<ForeignTensor> ForeignTensors(const Component& encoding) {
  const std::string layer = "model.layers.#.";
  const std::string attention = layer + "self_attn.";
  const std::string theirs = attention + "rotary_emb.";
  if (IsNamed(encoding, "tape")) {
    const std::string ours = attention + "tape.";
    std::vector<ForeignTensor> tensors = {
        {layer + "post_attention_linear.weight", ours + "mix.weight"},
        {layer + "pe.up_proj.weight", ours + "in_proj.weight"},
        {layer + "pe.x_proj.weight", ours + "gate_proj.weight"},
        {layer + "pe.down_proj.weight", ours + "out_proj.weight"},
    };
    if (TrainsFrequencies(encoding)) {
      tensors.push_back(
          {"model.rotary_emb.inv_freq", "model.tape.start.frequencies"});
    }
    return tensors;
  }
  if (IsNamed(encoding, "alibi")) return {{attention + "alibi", ""}};
  if (IsNamed(encoding, "xpos")) {
    // Only where a row was longer than those of training.
    return {{theirs + "freqs_cached", ""}, {theirs + "scale_cached", ""}};
  }
  if (IsNamed(encoding, "t5")) {
    return {{attention + "relative_attention_bias.weight",
             attention + "t5.weight"}};
  }
  if (IsNamed(encoding, "fire")) {
    const std::string ours = attention + "fire.";
    return {
        {theirs + "mlp.0.weight", ours + "in_proj.weight"},
        {theirs + "mlp.0.bias", ours + "in_proj.bias"},
        {theirs + "mlp.2.weight", ours + "out_proj.weight"},
        {theirs + "mlp.2.bias", ours + "out_proj.bias"},
        {theirs + "c", ours + "c"},
        {theirs + "L_multiplier", ours + "l"},
        {theirs + "init_L", "", "length"},
    };
  }
  return {};
}

}  // namespace ordo::model::catalog
