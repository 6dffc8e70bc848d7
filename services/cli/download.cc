#include "services/cli/download.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/backoff/backoff.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"

namespace ordo::services::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Sink = std::function<absl::Status(std::string_view data)>;

// How far a download has come, and where it goes.
struct Transfer {
  const Sink& sink;
  uint64_t offset = 0;
  // Of the sink's last call.
  absl::Status sink_status = absl::OkStatus();
};

// Passes on what one stream gives.
template <typename Request, typename Response, typename Stub>
grpc::Status ReadStream(Context& context, Stub& stub, const RemoteFile& file,
                        Transfer* transfer) {
  Request request;
  request.set_name(file.resource.ToString());
  request.set_path(file.info.path());
  request.set_offset(static_cast<int64_t>(transfer->offset));
  const std::unique_ptr<grpc::ClientContext> call =
      context.client.StreamContext();
  const Interrupt::Scope cancel(context.interrupt, [&] { call->TryCancel(); });
  const auto reader = stub.ReadFile(call.get(), request);
  Response response;
  while (reader->Read(&response)) {
    transfer->sink_status = transfer->sink(response.data());
    if (!transfer->sink_status.ok()) {
      call->TryCancel();
      break;
    }
    transfer->offset += response.data().size();
  }
  return reader->Finish();
}

grpc::Status ReadOnce(Context& context, const RemoteFile& file,
                      Transfer* transfer) {
  if (file.resource.kind == ResourceName::Kind::kCheckpoint) {
    return ReadStream<checkpoints::v1::ReadFileRequest,
                      checkpoints::v1::ReadFileResponse>(
        context, context.client.checkpoints(), file, transfer);
  }
  return ReadStream<reports::v1::ReadFileRequest,
                    reports::v1::ReadFileResponse>(
      context, context.client.reports(), file, transfer);
}

// Everything from `offset` on, over as many streams as it takes.
absl::Status ReadFrom(Context& context, const RemoteFile& file, uint64_t offset,
                      const Sink& sink) {
  base::BackoffOptions backoff;
  backoff.initial = absl::Milliseconds(50);
  backoff.max = absl::Seconds(1);
  auto last_contact = SteadyClock::now();
  Transfer transfer{sink, offset};
  for (int failures = 1;; ++failures) {
    const uint64_t before = transfer.offset;
    const grpc::Status status = ReadOnce(context, file, &transfer);
    ORDO_RETURN_IF_ERROR(transfer.sink_status);
    if (status.ok()) return absl::OkStatus();
    if (context.interrupt.triggered()) {
      return absl::CancelledError(
          "interrupted; the same command goes on where this one stopped");
    }
    if (!IsAway(status)) return context.client.Explain(status);
    if (transfer.offset > before) {
      last_contact = SteadyClock::now();
      failures = 1;
    }
    if (absl::FromChrono(SteadyClock::now() - last_contact) >=
        context.client.options().patience) {
      return context.client.Unreachable("");
    }
    context.interrupt.WaitFor(
        base::BackoffDelay(backoff, failures, file.info.path()));
  }
}

std::string FullName(const RemoteFile& file) {
  return absl::StrCat(file.resource.ToString(), ":", file.info.path());
}

absl::Status Damaged(const RemoteFile& file) {
  return absl::DataLossError(absl::StrCat(
      FullName(file), " is not what was registered (SHA-256 differs); ",
      "the copy in storage may be damaged: take another checkpoint or report"));
}

absl::StatusOr<DownloadEnd> CheckExisting(Context& context,
                                          const RemoteFile& file,
                                          const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::string digest,
                        base::Sha256HexOfFile(context.files, path));
  if (digest == file.info.sha256()) return DownloadEnd::kWasThere;
  return absl::AlreadyExistsError(absl::StrCat(
      path, " exists with another content; remove it or choose another place ",
      "with --out"));
}

// Fetches from `offset` on; true when `part` then is the whole file.
absl::StatusOr<bool> DownloadPart(Context& context, const RemoteFile& file,
                                  const std::string& part, uint64_t offset) {
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<base::WritableFile> output,
                        context.files.OpenForWrite(
                            part, offset > 0 ? base::WriteMode::kAppend
                                             : base::WriteMode::kTruncate));
  ORDO_RETURN_IF_ERROR(
      ReadFrom(context, file, offset,
               [&](std::string_view data) { return output->Append(data); }));
  ORDO_RETURN_IF_ERROR(output->Sync());
  ORDO_RETURN_IF_ERROR(output->Close());
  ORDO_ASSIGN_OR_RETURN(const std::string digest,
                        base::Sha256HexOfFile(context.files, part));
  return digest == file.info.sha256();
}

}  // namespace

absl::StatusOr<DownloadEnd> Download(Context& context, const RemoteFile& file,
                                     const std::string& path) {
  if (base::Exists(context.files, path)) {
    return CheckExisting(context, file, path);
  }
  ORDO_RETURN_IF_ERROR(context.files.MakeFolders(base::FolderOf(path)));
  const std::string part = path + ".part";
  uint64_t have = 0;
  if (base::Exists(context.files, part)) {
    ORDO_ASSIGN_OR_RETURN(const base::FileInfo info, context.files.Stat(part));
    have = info.size_bytes;
  }
  if (have > static_cast<uint64_t>(file.info.size_bytes())) have = 0;
  ORDO_ASSIGN_OR_RETURN(bool good, DownloadPart(context, file, part, have));
  // What lay there may have been the start of another file.
  if (!good && have > 0) {
    ORDO_ASSIGN_OR_RETURN(good, DownloadPart(context, file, part, 0));
  }
  if (!good) {
    ORDO_RETURN_IF_ERROR(context.files.RemoveFile(part));
    return Damaged(file);
  }
  ORDO_RETURN_IF_ERROR(context.files.Rename(part, path));
  return DownloadEnd::kDone;
}

absl::StatusOr<std::string> DownloadToMemory(Context& context,
                                             const RemoteFile& file,
                                             size_t max_bytes) {
  std::string content;
  ORDO_RETURN_IF_ERROR(
      ReadFrom(context, file, 0, [&](std::string_view data) -> absl::Status {
        if (content.size() + data.size() > max_bytes) {
          return absl::ResourceExhaustedError(absl::StrCat(
              FullName(file), " is longer than ", max_bytes, " bytes"));
        }
        content += data;
        return absl::OkStatus();
      }));
  if (base::Sha256Hex(content) != file.info.sha256()) return Damaged(file);
  return content;
}

}  // namespace ordo::services::cli
