#ifndef ORDO_MODEL_FORMATS_CONFIG_KEYS_H_
#define ORDO_MODEL_FORMATS_CONFIG_KEYS_H_

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace ordo::model::formats {

using Json = nlohmann::ordered_json;

// Reads the keys of a Hugging Face config.json and remembers what is wrong and
// which keys nobody has asked for. A key that is null counts as absent. Values
// that are wrong read as their fallback; Finish() says so.
class ConfigKeys {
 public:
  // `json` is an object.
  explicit ConfigKeys(const Json& json);

  // The first of the names that is there.
  int Integer(const std::vector<const char*>& names);
  int IntegerOr(const char* name, int fallback);
  double NumberOr(std::initializer_list<const char*> names, double fallback);
  bool BoolOr(const char* name, bool fallback);
  std::string StringOr(const char* name, const std::string& fallback);
  // Whether the key is there, if only as null.
  bool Has(const char* name) const { return given_.count(name) > 0; }
  // The value, or null.
  Json Value(const char* name);

  // Refuses any value but this one; the key may be absent.
  void Require(const char* name, const Json& value);
  // Keys that decide nothing in evaluation.
  void Ignore(std::initializer_list<const char*> names);
  // `what` is wrong with the key.
  void Refuse(const std::string& key, const std::string& what);
  // Takes over what `other` found, as in an object inside; `prefix` goes in
  // front of keys.
  void Merge(const ConfigKeys& other, const std::string& prefix);

  // INVALID_ARGUMENT names the first key that is wrong, or one that is not
  // known: whoever wrote it meant something by it.
  absl::Status Finish() const;

 private:
  // Marks a key as asked for; nullptr when absent.
  const Json* Take(const char* name);

  Json json_;
  std::set<std::string> given_;
  std::set<std::string> taken_;
  absl::Status status_;
};

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_CONFIG_KEYS_H_
