#include "services/cli/local_data.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "services/data/data_check.h"

namespace ordo::services::cli {
namespace {

using ordo::checkpoints::v1::UploadFile;
using ordo::data::v1::Data;
using ordo::data::v1::DataService;

// Folders below folders; a link to one of its parents would go on for ever.
constexpr int kMaxDepth = 32;

// Takes up the files below a folder.
class Collector {
 public:
  Collector(Context& context, LocalFolder* folder)
      : context_(context), folder_(*folder) {}

  // `path` is relative to the folder; "" is itself.
  absl::Status Collect(const std::string& path, int depth) {
    if (depth > kMaxDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat(base::JoinPath(folder_.path, path), " lies ", kMaxDepth,
                       " folders deep; is there a link to a parent?"));
    }
    const std::string whole =
        path.empty() ? folder_.path : base::JoinPath(folder_.path, path);
    ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          context_.files.List(whole));
    for (const std::string& name : names) {
      const std::string below =
          path.empty() ? name : base::JoinPath(path, name);
      if (name.front() == '.') {
        folder_.left_out.push_back(below);
        continue;
      }
      ORDO_ASSIGN_OR_RETURN(const auto info, context_.files.Stat(base::JoinPath(
                                                 folder_.path, below)));
      if (info.is_folder) {
        ORDO_RETURN_IF_ERROR(Collect(below, depth + 1));
      } else {
        ORDO_RETURN_IF_ERROR(Add(below, info));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Add(const std::string& path, const base::FileInfo& info) {
    if (info.size_bytes == 0) {
      folder_.left_out.push_back(path);
      return absl::OkStatus();
    }
    const std::string problem = data::DataPathProblem(path);
    if (!problem.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          base::JoinPath(folder_.path, path), ": its path ", problem));
    }
    UploadFile& file = *folder_.list.add_files();
    file.set_path(path);
    file.set_size_bytes(static_cast<int64_t>(info.size_bytes));
    // Known later: it takes long.
    file.set_sha256(std::string(64, '0'));
    return absl::OkStatus();
  }

 private:
  Context& context_;
  LocalFolder& folder_;
};

// A file, with the JSON file of a token file.
absl::Status CollectFile(Context& context, const std::string& path,
                         const base::FileInfo& info, LocalFolder* folder) {
  folder->path = base::FolderOf(path);
  Collector collector(context, folder);
  const std::string name = base::NameOf(path);
  ORDO_RETURN_IF_ERROR(collector.Add(name, info));
  const std::string beside = data::TokenInfoOf(name);
  if (beside.empty()) return absl::OkStatus();
  const auto found = context.files.Stat(base::JoinPath(folder->path, beside));
  // That it is missing is told with the list.
  if (!found.ok()) return absl::OkStatus();
  return collector.Add(beside, *found);
}

}  // namespace

absl::StatusOr<LocalFolder> ReadLocalData(Context& context,
                                          const std::string& path) {
  LocalFolder folder;
  folder.path = path;
  folder.list.set_kind(ordo::checkpoints::v1::Upload::DATA);
  ORDO_ASSIGN_OR_RETURN(const auto info, context.files.Stat(path));
  if (info.is_folder) {
    ORDO_RETURN_IF_ERROR(Collector(context, &folder).Collect("", 0));
  } else {
    ORDO_RETURN_IF_ERROR(CollectFile(context, path, info, &folder));
  }
  if (folder.list.files().empty()) {
    return absl::NotFoundError(absl::StrCat(
        path,
        " has no file with anything in it; files that begin with a dot "
        "are left out"));
  }
  ORDO_RETURN_IF_ERROR(
      base::AddContext(data::CheckDataList(folder.list), path));
  ORDO_RETURN_IF_ERROR(base::AddContext(
      data::CheckDataFiles(context.files, folder.path, folder.list),
      folder.path));
  ORDO_RETURN_IF_ERROR(FillFacts(context, &folder));
  return folder;
}

absl::StatusOr<Data> PushData(Context& context, const LocalFolder& folder,
                              const std::string& id) {
  ordo::data::v1::CreateUploadRequest create;
  *create.mutable_upload() = folder.list;
  ordo::data::v1::CommitUploadRequest commit;
  commit.set_name(UploadName(folder));
  commit.set_data_id(id);
  absl::StatusOr<Data> data;
  UploadCalls calls;
  calls.create = [&] {
    return context.client.Call(context.client.data(),
                               &DataService::Stub::CreateUpload, create);
  };
  calls.commit = [&] {
    data = context.client.Call(context.client.data(),
                               &DataService::Stub::CommitUpload, commit);
    return data.status();
  };
  ORDO_RETURN_IF_ERROR(SendFolder(context, folder, calls));
  return data;
}

}  // namespace ordo::services::cli
