#ifndef ORDO_BASE_YAML_YAML_NODE_H_
#define ORDO_BASE_YAML_YAML_NODE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ordo::base {

// A YAML document (JSON is one too) as a tree. Scalars are text: only the field
// that takes one knows its type.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  // Of a scalar. A quoted one is never a number or a bool.
  std::string text;
  bool quoted = false;
  // Of a list; of a map, beside its keys.
  std::vector<YamlNode> items;
  std::vector<std::string> keys;
  // Where it begins, from 1; 0 when it comes from no text.
  int line = 0;

  // Appends an entry to a map.
  void Add(std::string key, YamlNode value) {
    keys.push_back(std::move(key));
    items.push_back(std::move(value));
  }
};

// The documents of a text, empty ones left out. INVALID_ARGUMENT with the line
// for bad syntax, nesting beyond kMaxTextDepth, a text beyond kMaxTextBytes, a
// key that is there twice, a key that is no scalar, and for anchors, aliases
// and tags, which nothing here needs and which let a short text stand for an
// endless one.
absl::StatusOr<std::vector<YamlNode>> ParseYaml(std::string_view text);

// The error of a text of `num_bytes` beyond kMaxTextBytes.
absl::Status TextTooLong(size_t num_bytes);

// YAML in block style, ending in a line break.
std::string PrintYaml(const YamlNode& node);

// JSON in one line. A scalar that is not quoted is written as it stands.
std::string PrintJson(const YamlNode& node);

}  // namespace ordo::base

#endif  // ORDO_BASE_YAML_YAML_NODE_H_
