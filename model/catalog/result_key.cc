#include "model/catalog/result_key.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/digest/digest.h"
#include "google/protobuf/map.h"
#include "google/protobuf/struct.pb.h"

namespace ordo::model::catalog {
namespace {

using google::protobuf::Value;
using ordo::training::v1::Component;
using ordo::training::v1::ResultKey;

constexpr char kDefaultDevice[] = "cpu";
constexpr char kCuda[] = "cuda";
constexpr absl::string_view kBestOf = "best of ";

// A name and its value; the length tells where that ends, whatever is in it.
void Add(absl::string_view name, absl::string_view value, std::string* text) {
  if (value.empty()) return;
  absl::StrAppend(text, name, "=", value.size(), ":", value, "\n");
}

std::string TextOf(const Value& value);

template <typename Fields>
std::string FieldsText(const Fields& fields) {
  const std::map<std::string, Value> sorted(fields.begin(), fields.end());
  std::string text;
  for (const auto& [name, value] : sorted) Add(name, TextOf(value), &text);
  return text;
}

// The first letter says the type, so that no two values have one text.
std::string TextOf(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      // Of the two zeros one.
      return absl::StrFormat(
          "n%.17g", value.number_value() == 0 ? 0.0 : value.number_value());
    case Value::kStringValue:
      return absl::StrCat("s", value.string_value());
    case Value::kBoolValue:
      return value.bool_value() ? "b1" : "b0";
    case Value::kListValue: {
      std::string text = "l";
      for (const Value& each : value.list_value().values()) {
        Add("", TextOf(each), &text);
      }
      return text;
    }
    case Value::kStructValue:
      return absl::StrCat("m", FieldsText(value.struct_value().fields()));
    default:
      return "0";
  }
}

std::string TextOf(const Component& component) {
  std::string text;
  Add("name", component.name(), &text);
  Add("params", FieldsText(component.params()), &text);
  for (const Component& each : component.with()) {
    Add("with", TextOf(each), &text);
  }
  return text;
}

std::string QuestionText(const ResultKey& key) {
  std::string text;
  Add("manifest_sha256", key.manifest_sha256(), &text);
  Add("task", key.task(), &text);
  Add("params", FieldsText(key.params()), &text);
  if (key.seed() != 0) Add("seed", absl::StrCat(key.seed()), &text);
  if (!absl::StartsWith(key.kernel(), kBestOf)) {
    Add("kernel", key.kernel(), &text);
  }
  if (key.has_encoding()) Add("encoding", TextOf(key.encoding()), &text);
  Add("device", key.device(), &text);
  return text;
}

}  // namespace

ResultKey QuestionOf(const AskedOfCheckpoint& asked) {
  ResultKey key;
  key.set_manifest_sha256(asked.manifest_sha256);
  key.set_task(asked.evaluation.task());
  *key.mutable_params() = asked.evaluation.params();
  key.set_seed(asked.evaluation.seed());
  key.set_kernel(asked.evaluation.kernel());
  if (asked.encoding != nullptr) *key.mutable_encoding() = *asked.encoding;
  key.set_device(asked.device.empty() ? kDefaultDevice : asked.device);
  return key;
}

std::string QuestionDigest(const ResultKey& key) {
  return base::Sha256Hex(absl::StrCat("question\n", QuestionText(key)));
}

std::string KeyDigest(const ResultKey& key) {
  std::string text = absl::StrCat("key\n", QuestionText(key));
  if (key.task_version() != 0) {
    Add("task_version", absl::StrCat(key.task_version()), &text);
  }
  Add("precision", key.precision(), &text);
  Add("data_fingerprint", key.data_fingerprint(), &text);
  if (absl::StartsWith(key.kernel(), kBestOf)) {
    Add("kernels", key.kernel(), &text);
  }
  return base::Sha256Hex(text);
}

std::string BestOf(const std::string& kernels) {
  return kernels.empty() ? "" : absl::StrCat(kBestOf, kernels);
}

std::string FilesDigest(
    const google::protobuf::RepeatedPtrField<ordo::training::v1::FileInfo>&
        files) {
  std::map<std::string, std::string> sorted;
  for (const ordo::training::v1::FileInfo& file : files) {
    std::string& text = sorted[file.path()];
    Add("size_bytes", absl::StrCat(file.size_bytes()), &text);
    Add("sha256", file.sha256(), &text);
  }
  std::string text = "files\n";
  for (const auto& [path, about] : sorted) Add(path, about, &text);
  return base::Sha256Hex(text);
}

std::string EvaluationPrecision(const std::string& device) {
  return device == kCuda ? "bf16" : "fp32";
}

}  // namespace ordo::model::catalog
