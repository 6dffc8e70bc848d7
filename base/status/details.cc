#include "base/status/details.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"

namespace ordo::base {
namespace {

constexpr char kTypePrefix[] = "type.googleapis.com/";

template <typename Detail>
std::string TypeUrl() {
  return kTypePrefix + Detail::descriptor()->full_name();
}

template <typename Detail>
void SetDetail(const Detail& detail, absl::Status* status) {
  status->SetPayload(TypeUrl<Detail>(), absl::Cord(detail.SerializeAsString()));
}

template <typename Detail>
std::optional<Detail> GetDetail(const absl::Status& status) {
  const auto payload = status.GetPayload(TypeUrl<Detail>());
  Detail detail;
  if (!payload || !detail.ParseFromString(std::string(*payload))) {
    return std::nullopt;
  }
  return detail;
}

std::string Describe(const FieldViolation& violation) {
  if (violation.field.empty()) return violation.description;
  return violation.field + ": " + violation.description;
}

}  // namespace

absl::Status InvalidField(std::string_view field,
                          std::string_view description) {
  return InvalidFields({{std::string(field), std::string(description)}});
}

absl::Status InvalidFields(const std::vector<FieldViolation>& violations) {
  if (violations.empty()) return absl::OkStatus();
  std::string message;
  google::rpc::BadRequest detail;
  const size_t num_shown = std::min(violations.size(), kMaxViolations);
  for (size_t i = 0; i < num_shown; ++i) {
    const FieldViolation& violation = violations[i];
    if (!message.empty()) message += "; ";
    message += Describe(violation);
    google::rpc::BadRequest::FieldViolation* added =
        detail.add_field_violations();
    added->set_field(violation.field);
    added->set_description(violation.description);
  }
  if (violations.size() > num_shown) {
    const std::string rest =
        std::to_string(violations.size() - num_shown) + " more";
    message += "; " + rest;
    detail.add_field_violations()->set_description(rest);
  }
  absl::Status status = absl::InvalidArgumentError(message);
  SetDetail(detail, &status);
  return status;
}

std::vector<FieldViolation> FieldViolations(const absl::Status& status) {
  std::vector<FieldViolation> violations;
  const auto detail = GetDetail<google::rpc::BadRequest>(status);
  if (!detail) return violations;
  for (const auto& violation : detail->field_violations()) {
    violations.push_back({violation.field(), violation.description()});
  }
  return violations;
}

absl::Status WithErrorInfo(absl::Status status, const ErrorInfo& info) {
  if (status.ok()) return status;
  google::rpc::ErrorInfo detail;
  detail.set_reason(info.reason);
  detail.set_domain(info.domain);
  for (const auto& [key, value] : info.metadata) {
    (*detail.mutable_metadata())[key] = value;
  }
  SetDetail(detail, &status);
  return status;
}

std::optional<ErrorInfo> GetErrorInfo(const absl::Status& status) {
  const auto detail = GetDetail<google::rpc::ErrorInfo>(status);
  if (!detail) return std::nullopt;
  ErrorInfo info{detail->reason(), detail->domain(), {}};
  info.metadata.insert(detail->metadata().begin(), detail->metadata().end());
  return info;
}

}  // namespace ordo::base
