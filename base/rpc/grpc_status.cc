#include "base/rpc/grpc_status.h"

#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "base/status/details.h"
#include "base/text/cut.h"
#include "google/rpc/status.pb.h"

namespace ordo::base {
namespace {

google::rpc::Status ToDetails(const absl::Status& status) {
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  status.ForEachPayload(
      [&](absl::string_view type_url, const absl::Cord& data) {
        auto* detail = details.add_details();
        detail->set_type_url(std::string(type_url));
        detail->set_value(std::string(data));
      });
  return details;
}

// `status` with its violations from `num_kept` on replaced by their number.
absl::Status KeepViolations(const absl::Status& status, size_t num_kept) {
  std::vector<FieldViolation> violations = FieldViolations(status);
  const size_t num_dropped = violations.size() - num_kept;
  violations.resize(num_kept);
  violations.push_back({"", std::to_string(num_dropped) + " more"});
  absl::Status shorter = InvalidFields(violations);
  absl::Status result(status.code(), status.message());
  status.ForEachPayload(
      [&](absl::string_view type_url, const absl::Cord& data) {
        const auto replaced = shorter.GetPayload(type_url);
        result.SetPayload(type_url, replaced ? *replaced : data);
      });
  return result;
}

// The details within their limit.
std::string SerializeDetails(const absl::Status& status) {
  google::rpc::Status details = ToDetails(status);
  size_t num_kept = FieldViolations(status).size();
  while (details.ByteSizeLong() > kMaxStatusDetailsBytes && num_kept > 0) {
    details = ToDetails(KeepViolations(status, --num_kept));
  }
  while (details.ByteSizeLong() > kMaxStatusDetailsBytes) {
    details.mutable_details()->RemoveLast();
  }
  return details.details().empty() ? "" : details.SerializeAsString();
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(
      static_cast<grpc::StatusCode>(status.code()),
      Cut(std::string(status.message()), kMaxStatusMessageBytes),
      SerializeDetails(status));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  std::string message = status.error_message();
  if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
      message.find("larger than max") != std::string::npos) {
    // gRPC's own words.
    message += " bytes; divide the request into several";
  }
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()),
                      message);
  google::rpc::Status details;
  if (details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) {
      result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
    }
  }
  return result;
}

}  // namespace ordo::base
