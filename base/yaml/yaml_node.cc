#include "base/yaml/yaml_node.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/status/details.h"
#include "base/yaml/limits.h"

namespace ordo::base {
namespace {

// Tags that yaml-cpp gives to scalars without a tag of their own.
constexpr char kPlainTag[] = "?";
constexpr char kQuotedTag[] = "!";

// Builds the trees. Keeps the first violations and goes on to the end, so that
// all are found.
class TreeBuilder : public YAML::EventHandler {
 public:
  const std::vector<FieldViolation>& violations() const { return violations_; }
  std::vector<YamlNode> TakeDocuments() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (begin_.has_value() && begin_->pos == mark.pos) {
      stuck_ = true;
      Refuse(mark, "bad syntax: nothing begins like this");
    }
    begin_ = mark;
  }
  void OnDocumentEnd() override {}

  // Of a text that goes on in no way the parser makes documents for ever.
  bool is_stuck() const { return stuck_; }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    Put(NodeAt(mark, YamlNode::Kind::kNull));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "aliases (*name) are not supported; write the value out");
    Put(NodeAt(mark, YamlNode::Kind::kNull));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    YamlNode node = NodeAt(mark, YamlNode::Kind::kScalar);
    node.text = value;
    node.quoted = tag == kQuotedTag;
    Put(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    RefuseTag(mark, tag);
    Open(mark, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    RefuseTag(mark, tag);
    Open(mark, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map that is not complete yet, and in a map the key whose value
  // comes next.
  struct Unfinished {
    YamlNode node;
    std::optional<std::string> key;
  };

  static YamlNode NodeAt(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    return node;
  }

  void Refuse(const YAML::Mark& mark, const std::string& why) {
    violations_.push_back(
        {"", why + " (line " + std::to_string(mark.line + 1) + ")"});
  }

  void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) Refuse(mark, "anchors (&name) are not supported");
  }

  void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == kPlainTag || tag == kQuotedTag) return;
    Refuse(mark, "tags are not supported: " + tag);
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    RefuseAnchor(mark, anchor);
    if (unfinished_.size() == kMaxTextDepth) {
      Refuse(mark, "lists and maps are nested deeper than " +
                       std::to_string(kMaxTextDepth));
    }
    unfinished_.push_back({NodeAt(mark, kind), std::nullopt});
  }

  void Close() {
    YamlNode node = std::move(unfinished_.back().node);
    unfinished_.pop_back();
    Put(std::move(node));
  }

  void Put(YamlNode node) {
    if (unfinished_.empty()) {
      if (node.kind != YamlNode::Kind::kNull) {
        documents_.push_back(std::move(node));
      }
      return;
    }
    Unfinished& parent = unfinished_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key) {
      parent.node.Add(*std::move(parent.key), std::move(node));
      parent.key.reset();
    } else {
      parent.key = TakeKey(parent.node, node);
    }
  }

  std::string TakeKey(const YamlNode& map, const YamlNode& key) {
    YAML::Mark mark;
    mark.line = key.line - 1;
    if (key.kind != YamlNode::Kind::kScalar) {
      Refuse(mark, "a key must be a word or a quoted text");
    } else if (std::find(map.keys.begin(), map.keys.end(), key.text) !=
               map.keys.end()) {
      Refuse(mark, "'" + key.text + "' is there twice");
    }
    return key.text;
  }

  std::vector<YamlNode> documents_;
  std::vector<Unfinished> unfinished_;
  std::vector<FieldViolation> violations_;
  // Of the last document; the next one begins behind it.
  std::optional<YAML::Mark> begin_;
  bool stuck_ = false;
};

// `text` in double quotes, as JSON and YAML both read it.
std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < ' ' || byte == 0x7F) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", byte);
      quoted += escape.data();
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// True when YAML reads `text`, without quotes, as this very string.
bool IsPlainWord(const std::string& text) {
  constexpr std::string_view kInner = "_-./+@";
  constexpr std::string_view kReserved[] = {"null", "true", "false", "yes",
                                            "no",   "on",   "off",   "y",
                                            "n",    "nan",  "inf"};
  std::string lower = text;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (lower.empty()) return false;
  const char first = lower.front();
  if (!((first >= 'a' && first <= 'z') || first == '_' || first == '/')) {
    return false;
  }
  for (const char c : lower) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!is_word && kInner.find(c) == std::string_view::npos) return false;
  }
  return std::find(std::begin(kReserved), std::end(kReserved), lower) ==
         std::end(kReserved);
}

std::string PrintKey(const std::string& key) {
  return IsPlainWord(key) ? key : Quote(key);
}

// Appends `node`, which follows "key:" or "-" or begins the text, at a depth.
void AppendYaml(const YamlNode& node, int depth, std::string* out) {
  const std::string indent(2 * static_cast<size_t>(depth), ' ');
  // The text before the first entry of a block stands on the same line.
  bool is_first = true;
  const auto begin_entry = [&] {
    if (!is_first) *out += indent;
    is_first = false;
  };
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      *out += "null\n";
      return;
    case YamlNode::Kind::kScalar:
      *out += (node.quoted && !IsPlainWord(node.text) ? Quote(node.text)
                                                      : node.text) +
              "\n";
      return;
    case YamlNode::Kind::kList:
      if (node.items.empty()) *out += "[]\n";
      for (const YamlNode& item : node.items) {
        begin_entry();
        *out += "- ";
        AppendYaml(item, depth + 1, out);
      }
      return;
    case YamlNode::Kind::kMap:
      if (node.items.empty()) *out += "{}\n";
      for (size_t i = 0; i < node.items.size(); ++i) {
        begin_entry();
        *out += PrintKey(node.keys[i]) + ":";
        const bool is_block = !node.items[i].items.empty();
        *out += is_block ? "\n" + std::string(2 * (depth + 1), ' ') : " ";
        AppendYaml(node.items[i], depth + 1, out);
      }
      return;
  }
}

void AppendJson(const YamlNode& node, std::string* out) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      *out += "null";
      return;
    case YamlNode::Kind::kScalar:
      *out += node.quoted ? Quote(node.text) : node.text;
      return;
    case YamlNode::Kind::kList:
    case YamlNode::Kind::kMap:
      break;
  }
  const bool is_map = node.kind == YamlNode::Kind::kMap;
  *out += is_map ? '{' : '[';
  for (size_t i = 0; i < node.items.size(); ++i) {
    if (i > 0) *out += ',';
    if (is_map) *out += Quote(node.keys[i]) + ":";
    AppendJson(node.items[i], out);
  }
  *out += is_map ? '}' : ']';
}

}  // namespace

absl::StatusOr<std::vector<YamlNode>> ParseYaml(std::string_view text) {
  if (text.size() > kMaxTextBytes) return TextTooLong(text.size());
  TreeBuilder builder;
  std::istringstream stream{std::string(text)};
  // The only place that catches what yaml-cpp throws.
  try {
    YAML::Parser parser(stream);
    while (!builder.is_stuck() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    std::vector<FieldViolation> violations = builder.violations();
    violations.push_back({"", "bad syntax: " + error.msg + " (line " +
                                  std::to_string(error.mark.line + 1) +
                                  ", column " +
                                  std::to_string(error.mark.column + 1) + ")"});
    return InvalidFields(violations);
  }
  const absl::Status status = InvalidFields(builder.violations());
  if (!status.ok()) return status;
  return builder.TakeDocuments();
}

absl::Status TextTooLong(size_t num_bytes) {
  return InvalidField(
      "", "the text has " + std::to_string(num_bytes) + " bytes; at most " +
              std::to_string(kMaxTextBytes) +
              " are accepted: divide it among several files, or shorten its "
              "longest lists and texts");
}

std::string PrintYaml(const YamlNode& node) {
  std::string out;
  AppendYaml(node, 0, &out);
  return out;
}

std::string PrintJson(const YamlNode& node) {
  std::string out;
  AppendJson(node, &out);
  return out;
}

}  // namespace ordo::base
