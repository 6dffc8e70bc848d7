#include "model/formats/config_keys.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace ordo::model::formats {
namespace {

// Keys of every configuration that decide nothing here: what trained the
// model, what its tokens are, how another program runs it.
const std::set<std::string>& CommonKeys() {
  static const auto* const keys = new std::set<std::string>{
      "_attn_implementation",
      "_name_or_path",
      "architectures",
      "attention_dropout",
      "auto_map",
      "bos_token_id",
      "classifier_dropout",
      "dtype",
      "eos_token_id",
      "finetuning_task",
      "gradient_checkpointing",
      "hidden_dropout",
      "id2label",
      "initializer_range",
      "is_decoder",
      "is_encoder_decoder",
      "keys_to_ignore_at_inference",
      "label2id",
      "model_type",
      "num_labels",
      "output_attentions",
      "output_hidden_states",
      "pad_token_id",
      "pretraining_tp",
      "problem_type",
      "return_dict",
      "return_dict_in_generate",
      "sep_token_id",
      "task_specific_params",
      "tokenizer_class",
      "torch_dtype",
      "transformers_version",
      "unk_token_id",
      "use_cache",
  };
  return *keys;
}

}  // namespace

ConfigKeys::ConfigKeys(const Json& json) : json_(Json::object()) {
  for (const auto& [key, value] : json.items()) {
    given_.insert(key);
    if (!value.is_null()) json_[key] = value;
  }
}

const Json* ConfigKeys::Take(const char* name) {
  taken_.insert(name);
  const auto found = json_.find(name);
  return found == json_.end() ? nullptr : &*found;
}

void ConfigKeys::Refuse(const std::string& key, const std::string& what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrCat(key, ": ", what));
}

int ConfigKeys::Integer(const std::vector<const char*>& names) {
  const Json* value = nullptr;
  const char* key = *names.begin();
  for (const char* name : names) {
    const Json* found = Take(name);
    if (value == nullptr && found != nullptr) {
      value = found;
      key = name;
    }
  }
  if (value != nullptr && value->is_number_integer()) {
    const int64_t number = *value;
    if (number >= 1 && number <= std::numeric_limits<int>::max()) {
      return static_cast<int>(number);
    }
  }
  Refuse(key, value == nullptr ? "required" : value->dump() + " is not a size");
  return 1;
}

int ConfigKeys::IntegerOr(const char* name, int fallback) {
  return Take(name) == nullptr ? fallback : Integer({name});
}

double ConfigKeys::NumberOr(std::initializer_list<const char*> names,
                            double fallback) {
  double number = fallback;
  bool found = false;
  for (const char* name : names) {
    const Json* value = Take(name);
    if (value == nullptr || found) continue;
    found = true;
    if (value->is_number()) {
      number = *value;
    } else {
      Refuse(name, value->dump() + " is not a number");
    }
  }
  return number;
}

bool ConfigKeys::BoolOr(const char* name, bool fallback) {
  const Json* value = Take(name);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return *value;
  Refuse(name, value->dump() + " is neither true nor false");
  return fallback;
}

std::string ConfigKeys::StringOr(const char* name,
                                 const std::string& fallback) {
  const Json* value = Take(name);
  if (value == nullptr) return fallback;
  if (value->is_string()) return *value;
  Refuse(name, value->dump() + " is not text");
  return fallback;
}

Json ConfigKeys::Value(const char* name) {
  const Json* value = Take(name);
  return value == nullptr ? Json() : *value;
}

void ConfigKeys::Require(const char* name, const Json& value) {
  const Json* found = Take(name);
  if (found == nullptr || *found == value) return;
  Refuse(name,
         absl::StrCat(found->dump(), " is not supported, only ", value.dump()));
}

void ConfigKeys::Ignore(std::initializer_list<const char*> names) {
  for (const char* name : names) taken_.insert(name);
}

void ConfigKeys::Merge(const ConfigKeys& other, const std::string& prefix) {
  const absl::Status status = other.Finish();
  if (status.ok() || !status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(prefix, std::string(status.message())));
}

absl::Status ConfigKeys::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [key, value] : json_.items()) {
    if (taken_.count(key) > 0 || CommonKeys().count(key) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(key, ": is not supported, is ", value.dump()));
  }
  return absl::OkStatus();
}

}  // namespace ordo::model::formats
