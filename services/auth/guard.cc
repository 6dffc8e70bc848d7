#include "services/auth/guard.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/rpc/address.h"
#include "base/status/status.h"
#include "base/text/cut.h"
#include "google/protobuf/descriptor.h"

namespace ordo::services::auth {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Most of a name or an id that is written down.
constexpr size_t kMaxTextBytes = 256;

// What a call carries to its method.
struct Passed {
  base::Caller caller;
  VisitorPtr visitor;
};

const Passed& PassedOf(const grpc::CallbackServerContext& context) {
  const auto* passed =
      static_cast<const Passed*>(base::Call::Of(context).passenger.get());
  ORDO_CHECK(passed != nullptr) << "a method was reached without its guard";
  return *passed;
}

// Where requests say what they are about, the first that is set.
constexpr const char* kResourceFields[] = {
    "name",     "parent",  "worker", "queue.name",    "queue_id",
    "token_id", "data_id", "job_id", "job.spec.name", "subject",
};

// The text of a field along a path; empty: there is none.
std::string TextAt(const Message& message, const std::string& path) {
  const Message* at = &message;
  std::string text;
  for (const absl::string_view part : absl::StrSplit(path, '.')) {
    if (at == nullptr) return "";
    const FieldDescriptor* field =
        at->GetDescriptor()->FindFieldByName(std::string(part));
    if (field == nullptr || field->is_repeated()) return "";
    const auto& reflection = *at->GetReflection();
    if (field->type() == FieldDescriptor::TYPE_MESSAGE) {
      at = &reflection.GetMessage(*at, field);
    } else if (field->type() == FieldDescriptor::TYPE_STRING) {
      text = reflection.GetString(*at, field);
      at = nullptr;
    } else {
      return "";
    }
  }
  return text;
}

// "JobsService/CancelJob" of "ordo.jobs.v1.JobsService/CancelJob".
std::string ShortName(const std::string& method) {
  const size_t slash = method.find('/');
  return method.substr(method.rfind('.', slash) + 1);
}

}  // namespace

std::string ResourceOf(const Message& request) {
  for (const char* path : kResourceFields) {
    std::string text = TextAt(request, path);
    if (!text.empty()) return text;
  }
  return "";
}

absl::Status Guard::Check(const MethodRule& rule, const base::Caller& caller,
                          VisitorPtr* visitor) {
  if (options_.authenticator->TakesTime(caller) &&
      !failures_.MayTry(caller.peer)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "too many logins from ", base::AddressOf(caller.peer),
        " have failed; wait for some seconds, and see that the token is right "
        "(ordo whoami)"));
  }
  ORDO_ASSIGN_OR_RETURN(*visitor, options_.authenticator->Identify(caller));
  const Visitor& known = **visitor;
  if (known.Has(rule.right)) return absl::OkStatus();
  if (rule.right == Right::kWorker && options_.believes_workers &&
      known.role == ordo::access::v1::ROLE_UNSPECIFIED) {
    return absl::OkStatus();
  }
  return Lacks(known, rule.right, ShortName(rule.method));
}

absl::Status Guard::Refuse(const absl::Status& why, AuditEntry entry) {
  const bool is_login = !absl::IsPermissionDenied(why);
  if (is_login && !failures_.Fail(entry.address, &entry.num_left_out)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("too many logins from ", base::AddressOf(entry.address),
                     " have failed; wait for some seconds. The last one: ",
                     std::string(why.message())));
  }
  if (!is_login && !refusals_.Fail(entry.address, &entry.num_left_out)) {
    return why;
  }
  entry.address = base::AddressOf(entry.address);
  entry.result = why;
  if (options_.audit_log != nullptr) options_.audit_log->Write(entry);
  return why;
}

absl::Status Guard::Pass(const MethodRule& rule, const Message& request,
                         base::Call& call) {
  auto passed = std::make_shared<Passed>();
  passed->caller = base::GetCaller(call);
  const absl::Status status = Check(rule, passed->caller, &passed->visitor);
  // Nothing that follows needs the secret.
  passed->caller.bearer.clear();
  const bool is_written =
      options_.audit_log != nullptr && (rule.changes || !status.ok());
  AuditEntry entry;
  if (passed->visitor != nullptr) {
    entry.user = passed->visitor->owner.user();
    entry.known_by = passed->visitor->known_by;
  }
  if (is_written) {
    // Nobody has looked at them yet: they are as long as a request may be.
    entry.method = rule.method;
    entry.resource = base::Cut(ResourceOf(request), kMaxTextBytes);
    entry.request_id = base::Cut(TextAt(request, "request_id"), kMaxTextBytes);
    entry.trace = passed->caller.trace_parent;
  }
  entry.address = passed->caller.peer;
  if (!status.ok()) return Refuse(status, std::move(entry));
  passed->caller.user = entry.user;
  call.passenger = std::move(passed);
  if (is_written) {
    entry.address = base::AddressOf(entry.address);
    call.at_end = [log = options_.audit_log, entry = std::move(entry)](
                      const absl::Status& result) mutable {
      entry.result = result;
      log->Write(entry);
    };
  }
  return absl::OkStatus();
}

void Guard::LetGoOn(base::Call& call) const {
  call.may_go_on = [authenticator = options_.authenticator,
                    visitor = PassedOf(call).visitor] {
    return authenticator->StillHolds(*visitor);
  };
}

const Visitor& VisitorOf(const grpc::CallbackServerContext& context) {
  return *PassedOf(context).visitor;
}

VisitorPtr VisitorPtrOf(const grpc::CallbackServerContext& context) {
  return PassedOf(context).visitor;
}

const base::Caller& CallerOf(const grpc::CallbackServerContext& context) {
  return PassedOf(context).caller;
}

}  // namespace ordo::services::auth
