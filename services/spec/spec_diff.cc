#include "services/spec/spec_diff.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/yaml/message_writer.h"
#include "base/yaml/yaml_node.h"

namespace ordo::services::spec {
namespace {

using base::YamlNode;
using Kind = base::YamlNode::Kind;

constexpr size_t kMaxShown = 60;

std::string TextOf(const YamlNode& node) {
  if (node.kind == Kind::kNull) return "nothing";
  if (node.kind != Kind::kScalar) return "a list or map";
  return node.text.substr(0, kMaxShown);
}

const YamlNode& Nothing() {
  static const auto& nothing = *new YamlNode;
  return nothing;
}

const YamlNode& Child(const YamlNode& map, const std::string& key) {
  const auto found = std::find(map.keys.begin(), map.keys.end(), key);
  if (found == map.keys.end()) return Nothing();
  return map.items[static_cast<size_t>(found - map.keys.begin())];
}

const YamlNode& Item(const YamlNode& list, size_t i) {
  return i < list.items.size() ? list.items[i] : Nothing();
}

bool IsMap(const YamlNode& node) { return node.kind == Kind::kMap; }
bool IsList(const YamlNode& node) { return node.kind == Kind::kList; }
bool IsNull(const YamlNode& node) { return node.kind == Kind::kNull; }

void Compare(const std::string& path, const YamlNode& a, const YamlNode& b,
             std::vector<Difference>* found) {
  if ((IsMap(a) || IsNull(a)) && (IsMap(b) || IsNull(b))) {
    std::vector<std::string> keys = a.keys;
    for (const std::string& key : b.keys) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
    for (const std::string& key : keys) {
      Compare(path.empty() ? key : absl::StrCat(path, ".", key), Child(a, key),
              Child(b, key), found);
    }
    return;
  }
  if ((IsList(a) || IsNull(a)) && (IsList(b) || IsNull(b))) {
    for (size_t i = 0; i < std::max(a.items.size(), b.items.size()); ++i) {
      Compare(absl::StrCat(path, "[", i, "]"), Item(a, i), Item(b, i), found);
    }
    return;
  }
  if (a.kind == b.kind && a.text == b.text) return;
  found->push_back({path, TextOf(a), TextOf(b)});
}

}  // namespace

std::vector<Difference> DiffSpecs(const ordo::jobs::v1::JobSpec& first,
                                  const ordo::jobs::v1::JobSpec& second) {
  ordo::jobs::v1::JobSpec a = first;
  ordo::jobs::v1::JobSpec b = second;
  a.clear_bound();
  b.clear_bound();
  b.set_name(a.name());
  std::vector<Difference> found;
  Compare("", base::WriteTree(a, /*for_json=*/false),
          base::WriteTree(b, /*for_json=*/false), &found);
  return found;
}

}  // namespace ordo::services::spec
