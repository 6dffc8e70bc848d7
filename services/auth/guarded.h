#ifndef ORDO_SERVICES_AUTH_GUARDED_H_
#define ORDO_SERVICES_AUTH_GUARDED_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/rpc/call.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "services/auth/guard.h"
#include "services/auth/rights.h"

namespace ordo::services::auth {

// A server stream that ends at once with an error. Deletes itself.
template <typename Response>
class RefusedStream final : public grpc::ServerWriteReactor<Response> {
 public:
  explicit RefusedStream(const absl::Status& why) {
    this->Finish(base::ToGrpcStatus(why));
  }
  void OnDone() override { delete this; }
};

// What a service derives from in the place of its generated CallbackService:
//
//   class JobsService final
//       : public auth::Guarded<ordo::jobs::v1::JobsService> { ... };
//   JobsService::JobsService(const Parts& parts) : Guarded(parts.guard) {
//     Serve("GetJob", &JobsService::GetJob);
//   }
//
// A method that is not served so does not answer, whatever the service has of
// that name; one that is served is asked for its row in the table of rights
// before its own code.
template <typename Service>
class Guarded : public Service::CallbackService {
 protected:
  // `guard` outlives the service.
  explicit Guarded(Guard& guard)
      : guard_(guard),
        service_(google::protobuf::DescriptorPool::generated_pool()
                     ->FindServiceByName(Service::service_full_name())) {
    ORDO_CHECK(service_ != nullptr) << Service::service_full_name();
    for (int i = 0; i < service_->method_count(); ++i) {
      this->MarkMethodRawCallback(
          i, new grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer,
                                                      grpc::ByteBuffer>(
                 [](grpc::CallbackServerContext* context,
                    const grpc::ByteBuffer*, grpc::ByteBuffer*) {
                   return base::Finish(
                       context, absl::UnimplementedError("no such method"));
                 }));
    }
  }

  // A unary method.
  template <typename Self, typename Request, typename Response>
  void Serve(const std::string& name,
             grpc::ServerUnaryReactor* (Self::*method)(
                 grpc::CallbackServerContext*, const Request*, Response*)) {
    Self* const self = static_cast<Self*>(this);
    const MethodRule& rule = RuleOf(name);
    this->MarkMethodCallback(
        IndexOf(name),
        new grpc::internal::CallbackUnaryHandler<Request, Response>(
            [this, self, method, &rule](grpc::CallbackServerContext* context,
                                        const Request* request,
                                        Response* response) {
              const absl::Status passed =
                  guard_.Pass(rule, *request, base::Call::Of(*context));
              if (!passed.ok()) return base::Finish(context, passed);
              return (self->*method)(context, request, response);
            }));
  }

  // One that answers with a stream.
  template <typename Self, typename Request, typename Response>
  void Serve(const std::string& name,
             grpc::ServerWriteReactor<Response>* (Self::*method)(
                 grpc::CallbackServerContext*, const Request*)) {
    Self* const self = static_cast<Self*>(this);
    const MethodRule& rule = RuleOf(name);
    this->MarkMethodCallback(
        IndexOf(name),
        new grpc::internal::CallbackServerStreamingHandler<Request, Response>(
            [this, self, method, &rule](
                grpc::CallbackServerContext* context,
                const Request* request) -> grpc::ServerWriteReactor<Response>* {
              const absl::Status passed =
                  guard_.Pass(rule, *request, base::Call::Of(*context));
              if (!passed.ok()) return new RefusedStream<Response>(passed);
              guard_.LetGoOn(base::Call::Of(*context));
              return (self->*method)(context, request);
            }));
  }

 private:
  int IndexOf(const std::string& name) const {
    const auto* const method = service_->FindMethodByName(name);
    ORDO_CHECK(method != nullptr) << name;
    return method->index();
  }
  const MethodRule& RuleOf(const std::string& name) const {
    const std::string method = absl::StrCat(service_->full_name(), "/", name);
    const MethodRule* const rule = FindRule(method);
    ORDO_CHECK(rule != nullptr) << method << " has no row in the table";
    return *rule;
  }

  Guard& guard_;
  const google::protobuf::ServiceDescriptor* const service_;
};

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_GUARDED_H_
