#include "services/cli/remembered.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"

namespace ordo::services::cli {
namespace {

using google::protobuf::Struct;

constexpr size_t kMaxSettingsBytes = 1 << 20;
constexpr char kHeader[] =
    "# What `ordo up` was told: it holds at the next `ordo up` too. Change it\n"
    "# with its options --set, --data-root, --trainer and --trainer-env;\n"
    "# --fresh-settings forgets all that is not given beside it, and where it\n"
    "# listened.\n";

std::string NameOf(const std::string& assignment) {
  return assignment.substr(0, assignment.find('='));
}

// Whether a setting of `path` replaces that of `other`.
bool Covers(const std::string& path, const std::string& other) {
  if (!absl::StartsWith(other, path)) return false;
  return other.size() == path.size() || other[path.size()] == '.' ||
         other[path.size()] == '[';
}

// `remembered`, of which `given` replaces what it covers, with `given` behind.
std::vector<std::string> Merge(const std::vector<std::string>& remembered,
                               const std::vector<std::string>& given) {
  std::vector<std::string> merged = remembered;
  for (const std::string& assignment : given) {
    const std::string name = NameOf(assignment);
    merged.erase(std::remove_if(merged.begin(), merged.end(),
                                [&name](const std::string& other) {
                                  return Covers(name, NameOf(other));
                                }),
                 merged.end());
    merged.push_back(assignment);
  }
  return merged;
}

void PutTexts(const std::vector<std::string>& texts, const std::string& name,
              Struct* fields) {
  if (texts.empty()) return;
  auto& list = *(*fields->mutable_fields())[name].mutable_list_value();
  for (const std::string& text : texts) {
    list.add_values()->set_string_value(text);
  }
}

std::vector<std::string> TextsOf(const Struct& fields,
                                 const std::string& name) {
  std::vector<std::string> texts;
  const auto found = fields.fields().find(name);
  if (found == fields.fields().end()) return texts;
  for (const auto& value : found->second.list_value().values()) {
    texts.push_back(value.string_value());
  }
  return texts;
}

bool Has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

std::string SettingsFile(const std::string& folder) {
  return base::JoinPath(folder, "config/settings.yaml");
}

absl::StatusOr<DeploymentOptions> ReadRemembered(base::Filesystem& files,
                                                 const std::string& folder) {
  DeploymentOptions options;
  options.folder = folder;
  const std::string path = SettingsFile(folder);
  const auto text = base::ReadFile(files, path, kMaxSettingsBytes);
  if (absl::IsNotFound(text.status())) return options;
  ORDO_RETURN_IF_ERROR(text.status());
  Struct fields;
  absl::Status status =
      base::ReadMessage(*text, base::TextForm::kYaml, &fields);
  const auto trainer = fields.fields().find("trainer");
  if (trainer != fields.fields().end()) {
    options.trainer = trainer->second.string_value();
  }
  options.trainer_environment = TextsOf(fields, "trainer-env");
  options.settings = TextsOf(fields, "set");
  options.data_roots = TextsOf(fields, "data-root");
  if (status.ok()) status = CheckSettings(options);
  if (status.ok()) return options;
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", std::string(status.message()),
      "; correct it, or forget what was set with --fresh-settings"));
}

absl::Status Remember(base::Filesystem& files,
                      const DeploymentOptions& options) {
  Struct fields;
  if (!options.trainer.empty()) {
    (*fields.mutable_fields())["trainer"].set_string_value(options.trainer);
  }
  PutTexts(options.trainer_environment, "trainer-env", &fields);
  PutTexts(options.settings, "set", &fields);
  PutTexts(options.data_roots, "data-root", &fields);
  const std::string path = SettingsFile(options.folder);
  if (fields.fields().empty()) {
    return base::Exists(files, path) ? files.RemoveFile(path)
                                     : absl::OkStatus();
  }
  ORDO_RETURN_IF_ERROR(files.MakeFolders(base::FolderOf(path)));
  return base::AtomicWrite(
      files, path, kHeader + base::WriteMessage(fields, base::TextForm::kYaml));
}

DeploymentOptions WithRemembered(const DeploymentOptions& remembered,
                                 const DeploymentOptions& given) {
  DeploymentOptions options = given;
  if (options.trainer.empty()) options.trainer = remembered.trainer;
  options.trainer_environment =
      Merge(remembered.trainer_environment, given.trainer_environment);
  options.settings = Merge(remembered.settings, given.settings);
  options.data_roots = remembered.data_roots;
  for (const std::string& root : given.data_roots) {
    if (!Has(options.data_roots, root)) options.data_roots.push_back(root);
  }
  return options;
}

std::string AsBefore(const DeploymentOptions& given,
                     const DeploymentOptions& all) {
  std::vector<std::string> texts;
  if (all.trainer != given.trainer) {
    texts.push_back(absl::StrCat("--trainer ", all.trainer));
  }
  for (const std::string& variable : all.trainer_environment) {
    if (Has(given.trainer_environment, variable)) continue;
    texts.push_back(absl::StrCat("--trainer-env ", NameOf(variable), "=..."));
  }
  for (const std::string& setting : all.settings) {
    if (Has(given.settings, setting)) continue;
    texts.push_back(absl::StrCat("--set '", setting, "'"));
  }
  for (const std::string& root : all.data_roots) {
    if (Has(given.data_roots, root)) continue;
    texts.push_back(absl::StrCat("--data-root ", root));
  }
  return absl::StrJoin(texts, " ");
}

std::vector<std::string> LostDataRoots(const DeploymentOptions& all) {
  std::vector<std::string> texts;
  for (const std::string& root : all.data_roots) {
    const absl::Status status = DataRoot(root).status();
    if (status.ok()) continue;
    texts.push_back(absl::StrCat(
        std::string(status.message()),
        "; it is remembered, and jobs cannot read from it until it is back. To "
        "forget it take it out of ",
        SettingsFile(all.folder),
        ", or give --fresh-settings and what is to stay"));
  }
  return texts;
}

}  // namespace ordo::services::cli
