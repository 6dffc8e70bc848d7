#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/api/field_behavior.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "proto/ordo/access/v1/access.grpc.pb.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "proto/ordo/data/v1/data.grpc.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "proto/ordo/queues/v1/queues.grpc.pb.h"
#include "proto/ordo/reports/v1/reports.grpc.pb.h"
#include "proto/ordo/usage/v1/usage.grpc.pb.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"
#include "services/testing/loopback.h"

// Every text of every request either names something, and then is tried here
// with names that lead elsewhere, or is listed as one that does not.

namespace ordo::tests::names {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using services::testing::Context;
using services::testing::Loopback;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kServices[] = {
    "ordo.access.v1.AccessService", "ordo.checkpoints.v1.CheckpointsService",
    "ordo.data.v1.DataService",     "ordo.jobs.v1.JobsService",
    "ordo.queues.v1.QueuesService", "ordo.reports.v1.ReportsService",
    "ordo.usage.v1.UsageService",   "ordo.workers.v1.WorkersService",
};

// A field that names something, and a request that has it where $ stands.
struct Naming {
  const char* field;
  const char* method;
  const char* request;
  // Of what is valid there; tried before the names, too.
  const char* prefix;
  // How the path of the violation begins; empty: nothing is found instead.
  const char* violation;
  // A path, whose parts may be called as people like.
  bool is_path = false;
};

constexpr char kCreate[] = "ordo.jobs.v1.JobsService/CreateJob";
// An upload that the server holds stands where UPLOAD stands.
constexpr Naming kNaming[] = {
    {"ordo.jobs.v1.JobSpec.name", kCreate,
     "job { spec { kind: TRAIN name: \"$\" } }", "", "job.spec.name"},
    {"ordo.jobs.v1.JobSpec.queue", kCreate,
     "job { spec { kind: TRAIN name: \"a\" queue: \"$\" } }", "",
     "job.spec.queue"},
    {"ordo.jobs.v1.JobSpec.start_from", kCreate,
     "job { spec { kind: TRAIN name: \"a\" start_from: \"$\" } }", "jobs/",
     "job.spec.start_from"},
    {"ordo.jobs.v1.JobSpec.checkpoints", kCreate,
     "job { spec { kind: EVALUATE name: \"a\" checkpoints: \"$\" } }",
     "jobs/a/checkpoints/", "job.spec.checkpoints[0]"},
    {"ordo.training.v1.Model.from", kCreate,
     "job { spec { kind: TRAIN name: \"a\" model { from: \"$\" } } }",
     "aliases/", "job.spec.model.from"},
    {"ordo.jobs.v1.Need.job", kCreate,
     "job { spec { kind: TRAIN name: \"a\" needs { job: \"$\" } } }", "jobs/",
     "job.spec.needs[0].job"},
    {"ordo.training.v1.Evaluation.name", kCreate,
     "job { spec { kind: TRAIN name: \"a\" evaluations { task: \"addition\" "
     "name: \"$\" } } }",
     "", "job.spec.evaluations[0].name"},
    {"ordo.training.v1.Benchmark.name", kCreate,
     "job { spec { kind: BENCHMARK name: \"a\" benchmark { name: \"$\" } } }",
     "", "job.spec.benchmark.name"},
    {"ordo.training.v1.Gate.candidate", kCreate,
     "job { spec { kind: GATE name: \"a\" gate { candidate: \"$\" } } }",
     "jobs/", "job.spec.gate.candidate"},
    {"ordo.training.v1.Gate.baseline", kCreate,
     "job { spec { kind: GATE name: \"a\" gate { baseline: \"$\" } } }",
     "jobs/", "job.spec.gate.baseline"},
    {"ordo.training.v1.Gate.anchor", kCreate,
     "job { spec { kind: GATE name: \"a\" gate { anchor: \"$\" } } }", "jobs/",
     "job.spec.gate.anchor"},
    {"ordo.jobs.v1.Compare.Arm.name", kCreate,
     "job { spec { kind: COMPARE name: \"a\" compare { run { } "
     "arms { name: \"$\" } arms { name: \"b\" } } } }",
     "", "job.spec.compare.arms[0]"},
    // Each is one of `needs`.
    {"ordo.jobs.v1.TunedBy.Trial.job", kCreate,
     "job { spec { kind: TRAIN name: \"a\" tuned_by { trials { job: \"$\" } } "
     "} }",
     "jobs/", "job.spec.tuned_by.trials[0].job"},
    {"ordo.jobs.v1.PacedBy.own", kCreate,
     "job { spec { kind: TRAIN name: \"a\" paced_by { own: \"$\" } } }",
     "jobs/", "job.spec.paced_by.own"},
    {"ordo.jobs.v1.PacedBy.baseline", kCreate,
     "job { spec { kind: TRAIN name: \"a\" paced_by { baseline: \"$\" } } }",
     "jobs/", "job.spec.paced_by.baseline"},
    // Of tasks, what lies on a disk.
    {"google.protobuf.Value.string_value", kCreate,
     "job { spec { kind: TRAIN name: \"a\" data { task: \"text\" params { "
     "key: \"data\" value { list_value { values { string_value: \"$\" } } } } "
     "} } }",
     "", "job.spec.data.params.data", true},
    {"google.protobuf.Value.string_value", kCreate,
     "job { spec { kind: TRAIN name: \"a\" data { task: \"text\" params { "
     "key: \"tokenizer\" value { string_value: \"$\" } } } } }",
     "", "job.spec.data.params.tokenizer", true},
    {"ordo.jobs.v1.GetJobRequest.name", "ordo.jobs.v1.JobsService/GetJob",
     "name: \"$\"", "jobs/", "name"},
    {"ordo.jobs.v1.CancelJobRequest.name", "ordo.jobs.v1.JobsService/CancelJob",
     "name: \"$\"", "jobs/", "name"},
    {"ordo.jobs.v1.HoldJobRequest.name", "ordo.jobs.v1.JobsService/HoldJob",
     "name: \"$\"", "jobs/", "name"},
    {"ordo.jobs.v1.ReleaseJobRequest.name",
     "ordo.jobs.v1.JobsService/ReleaseJob", "name: \"$\"", "jobs/", "name"},
    {"ordo.jobs.v1.SetJobPriorityRequest.name",
     "ordo.jobs.v1.JobsService/SetJobPriority", "name: \"$\" priority: 1",
     "jobs/", "name"},
    {"ordo.jobs.v1.WatchJobRequest.name", "ordo.jobs.v1.JobsService/WatchJob",
     "name: \"$\"", "jobs/", "name"},
    {"ordo.jobs.v1.ReadLogsRequest.name", "ordo.jobs.v1.JobsService/ReadLogs",
     "name: \"$\"", "jobs/", "name"},
    {"ordo.jobs.v1.ExplainRequest.name", "ordo.jobs.v1.JobsService/Explain",
     "name: \"$\"", "jobs/", "name"},
    {"ordo.queues.v1.CreateQueueRequest.queue_id",
     "ordo.queues.v1.QueuesService/CreateQueue", "queue { } queue_id: \"$\"",
     "", "queue_id"},
    {"ordo.queues.v1.Queue.name", "ordo.queues.v1.QueuesService/UpdateQueue",
     "queue { name: \"$\" }", "queues/", "queue.name"},
    {"ordo.queues.v1.GetQueueRequest.name",
     "ordo.queues.v1.QueuesService/GetQueue", "name: \"$\"", "queues/", "name"},
    {"ordo.queues.v1.DeleteQueueRequest.name",
     "ordo.queues.v1.QueuesService/DeleteQueue", "name: \"$\"", "queues/",
     "name"},
    {"ordo.workers.v1.GetWorkerRequest.name",
     "ordo.workers.v1.WorkersService/GetWorker", "name: \"$\"", "workers/",
     "name"},
    {"ordo.workers.v1.CordonWorkerRequest.name",
     "ordo.workers.v1.WorkersService/CordonWorker", "name: \"$\"", "workers/",
     "name"},
    {"ordo.workers.v1.DrainWorkerRequest.name",
     "ordo.workers.v1.WorkersService/DrainWorker", "name: \"$\"", "workers/",
     "name"},
    {"ordo.workers.v1.UncordonWorkerRequest.name",
     "ordo.workers.v1.WorkersService/UncordonWorker", "name: \"$\"", "workers/",
     "name"},
    {"ordo.workers.v1.ReleaseDeviceRequest.name",
     "ordo.workers.v1.WorkersService/ReleaseDevice",
     "name: \"$\" device: \"cuda:0\"", "workers/", "name"},
    {"ordo.checkpoints.v1.GetCheckpointRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/GetCheckpoint", "name: \"$\"",
     "jobs/a/checkpoints/", "name"},
    {"ordo.checkpoints.v1.ListCheckpointsRequest.parent",
     "ordo.checkpoints.v1.CheckpointsService/ListCheckpoints", "parent: \"$\"",
     "jobs/", "parent"},
    {"ordo.checkpoints.v1.ReadFileRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/ReadFile",
     "name: \"$\" path: \"model.safetensors\"", "jobs/a/checkpoints/", "name"},
    {"ordo.checkpoints.v1.ReadFileRequest.path",
     "ordo.checkpoints.v1.CheckpointsService/ReadFile",
     "name: \"jobs/a/checkpoints/1-1\" path: \"$\"", "", ""},
    {"ordo.checkpoints.v1.UploadFile.path",
     "ordo.checkpoints.v1.CheckpointsService/CreateUpload",
     "upload { files { path: \"$\" size_bytes: 1 } }", "",
     "upload.files[0].path"},
    {"ordo.checkpoints.v1.UploadFile.path",
     "ordo.data.v1.DataService/CreateUpload",
     "upload { files { path: \"$\" size_bytes: 1 } }", "a/",
     "upload.files[0].path", true},
    {"ordo.checkpoints.v1.WriteUploadRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/WriteUpload",
     "name: \"$\" path: \"config.json\" data: \"x\"", "uploads/", "name"},
    {"ordo.checkpoints.v1.WriteUploadRequest.path",
     "ordo.checkpoints.v1.CheckpointsService/WriteUpload",
     "name: \"UPLOAD\" path: \"$\" data: \"x\"", "", ""},
    {"ordo.checkpoints.v1.CommitUploadRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/CommitUpload",
     "name: \"$\" job_id: \"a\"", "uploads/", "name"},
    {"ordo.checkpoints.v1.CommitUploadRequest.job_id",
     "ordo.checkpoints.v1.CheckpointsService/CommitUpload",
     "name: \"UPLOAD\" job_id: \"$\"", "", "job_id"},
    {"ordo.checkpoints.v1.PinCheckpointRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/PinCheckpoint", "name: \"$\"",
     "jobs/a/checkpoints/", "name"},
    {"ordo.checkpoints.v1.UnpinCheckpointRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/UnpinCheckpoint", "name: \"$\"",
     "jobs/a/checkpoints/", "name"},
    {"ordo.checkpoints.v1.ThinCheckpointRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/ThinCheckpoint", "name: \"$\"",
     "jobs/a/checkpoints/", "name"},
    {"ordo.checkpoints.v1.DeleteCheckpointRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/DeleteCheckpoint", "name: \"$\"",
     "jobs/a/checkpoints/", "name"},
    {"ordo.checkpoints.v1.GetAliasRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/GetAlias", "name: \"$\"",
     "aliases/", "name"},
    {"ordo.checkpoints.v1.SetAliasRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/SetAlias",
     "name: \"$\" checkpoint: \"jobs/a/checkpoints/1-1\"", "aliases/", "name"},
    {"ordo.checkpoints.v1.SetAliasRequest.checkpoint",
     "ordo.checkpoints.v1.CheckpointsService/SetAlias",
     "name: \"aliases/a\" checkpoint: \"$\"", "jobs/a/checkpoints/",
     "checkpoint"},
    {"ordo.checkpoints.v1.DeleteAliasRequest.name",
     "ordo.checkpoints.v1.CheckpointsService/DeleteAlias", "name: \"$\"",
     "aliases/", "name"},
    {"ordo.data.v1.CommitUploadRequest.name",
     "ordo.data.v1.DataService/CommitUpload", "name: \"$\" data_id: \"a\"",
     "uploads/", "name"},
    {"ordo.data.v1.CommitUploadRequest.data_id",
     "ordo.data.v1.DataService/CommitUpload", "name: \"UPLOAD\" data_id: \"$\"",
     "", "data_id"},
    {"ordo.data.v1.DeleteDataRequest.name",
     "ordo.data.v1.DataService/DeleteData", "name: \"$\"", "data/", "name"},
    {"ordo.reports.v1.GetReportRequest.name",
     "ordo.reports.v1.ReportsService/GetReport", "name: \"$\"",
     "jobs/a/reports/", "name"},
    {"ordo.reports.v1.ListReportsRequest.parent",
     "ordo.reports.v1.ReportsService/ListReports", "parent: \"$\"", "jobs/",
     "parent"},
    {"ordo.reports.v1.ReadFileRequest.name",
     "ordo.reports.v1.ReportsService/ReadFile",
     "name: \"$\" path: \"result.json\"", "jobs/a/reports/", "name"},
    {"ordo.reports.v1.ReadFileRequest.path",
     "ordo.reports.v1.ReportsService/ReadFile",
     "name: \"jobs/a/reports/r-1\" path: \"$\"", "", ""},
    {"ordo.access.v1.CreateTokenRequest.token_id",
     "ordo.access.v1.AccessService/CreateToken",
     "token_id: \"$\" token { role: USER }", "", "token_id"},
    {"ordo.access.v1.Token.queues", "ordo.access.v1.AccessService/CreateToken",
     "token_id: \"a\" token { role: USER queues: \"$\" }", "queues/",
     "token.queues[0]"},
    {"ordo.access.v1.Token.worker", "ordo.access.v1.AccessService/CreateToken",
     "token_id: \"a\" token { role: WORKER worker: \"$\" }", "workers/",
     "token.worker"},
    {"ordo.access.v1.RevokeTokenRequest.name",
     "ordo.access.v1.AccessService/RevokeToken", "name: \"$\"", "tokens/",
     "name"},
    {"ordo.access.v1.JoinRequest.worker", "ordo.access.v1.AccessService/Join",
     "worker: \"$\" signing_request_pem: \"x\"", "workers/", "worker"},
};

// Those that become part of no path and no name: words of lists that there are,
// keys of maps whose values or own rules are checked, texts for people,
// digests, tokens of pages, and what a server says and does not read.
constexpr const char* kOther[] = {
    "google.protobuf.Struct.FieldsEntry.key",
    "google.protobuf.FieldMask.paths",
    // What is signed is the name of `worker`.
    "ordo.access.v1.JoinRequest.signing_request_pem",
    "ordo.access.v1.ListTokensRequest.page_token",
    // A function of the token's id; what a request says is not read.
    "ordo.access.v1.Token.name",
    // Any text without spaces, compared and shown.
    "ordo.access.v1.Token.user",
    "ordo.checkpoints.v1.DeleteAliasRequest.etag",
    "ordo.checkpoints.v1.DeleteAliasRequest.reason",
    "ordo.checkpoints.v1.DeleteCheckpointRequest.reason",
    "ordo.checkpoints.v1.ListAliasesRequest.page_token",
    "ordo.checkpoints.v1.ListCheckpointsRequest.page_token",
    "ordo.checkpoints.v1.PinCheckpointRequest.reason",
    "ordo.checkpoints.v1.SetAliasRequest.etag",
    "ordo.checkpoints.v1.SetAliasRequest.if_digest",
    "ordo.checkpoints.v1.SetAliasRequest.reason",
    "ordo.checkpoints.v1.ThinCheckpointRequest.reason",
    "ordo.checkpoints.v1.UnpinCheckpointRequest.reason",
    // A function of what is uploaded; what a request says is not read.
    "ordo.checkpoints.v1.Upload.name",
    "ordo.checkpoints.v1.UploadFile.sha256",
    "ordo.checkpoints.v1.WriteUploadRequest.data",
    "ordo.data.v1.ListDataRequest.page_token",
    "ordo.jobs.v1.Compare.Arm.SetEntry.key",
    // The name of one of its arms.
    "ordo.jobs.v1.Compare.baseline",
    "ordo.jobs.v1.Compare.budget",
    "ordo.jobs.v1.Compare.differs",
    "ordo.jobs.v1.CreateJobRequest.request_id",
    "ordo.jobs.v1.EarlyStopping.evaluation",
    "ordo.jobs.v1.EarlyStopping.goal",
    "ordo.jobs.v1.EarlyStopping.metric",
    "ordo.jobs.v1.EarlyStopping.rule",
    // Only the spec of a job is read.
    "ordo.jobs.v1.Job.name",
    "ordo.jobs.v1.JobSpec.LabelsEntry.key",
    "ordo.jobs.v1.JobSpec.LabelsEntry.value",
    "ordo.jobs.v1.ListJobsRequest.filter",
    "ordo.jobs.v1.ListJobsRequest.page_token",
    "ordo.jobs.v1.Overrides.SetEntry.key",
    "ordo.jobs.v1.Sweep.MatrixEntry.key",
    "ordo.jobs.v1.Tune.goal",
    "ordo.jobs.v1.Tune.metric",
    "ordo.jobs.v1.TunedBy.evaluation",
    "ordo.jobs.v1.TunedBy.goal",
    "ordo.jobs.v1.TunedBy.metric",
    "ordo.queues.v1.CreateQueueRequest.reason",
    "ordo.queues.v1.DeleteQueueRequest.etag",
    "ordo.queues.v1.DeleteQueueRequest.reason",
    "ordo.queues.v1.ListQueuesRequest.page_token",
    "ordo.queues.v1.Queue.etag",
    "ordo.queues.v1.Quota.device",
    "ordo.queues.v1.UpdateQueueRequest.reason",
    "ordo.reports.v1.ListReportsRequest.page_token",
    "ordo.training.v1.Benchmark.classes",
    "ordo.training.v1.Benchmark.passes",
    "ordo.training.v1.Benchmark.types",
    "ordo.training.v1.Component.ParamsEntry.key",
    "ordo.training.v1.Component.name",
    "ordo.training.v1.Data.ParamsEntry.key",
    "ordo.training.v1.Data.task",
    "ordo.training.v1.Evaluation.ParamsEntry.key",
    "ordo.training.v1.Evaluation.at",
    "ordo.training.v1.Evaluation.kernel",
    "ordo.training.v1.Evaluation.task",
    "ordo.training.v1.Lora.targets",
    "ordo.training.v1.Model.attention_bias",
    "ordo.training.v1.Model.from_sha256",
    "ordo.training.v1.Model.init",
    "ordo.training.v1.Model.mlp",
    "ordo.training.v1.Model.norm",
    "ordo.training.v1.Model.preset",
    "ordo.training.v1.Resources.LabelsEntry.key",
    "ordo.training.v1.Resources.LabelsEntry.value",
    "ordo.training.v1.Resources.device",
    "ordo.training.v1.Training.kernel",
    "ordo.training.v1.Training.non_finite",
    "ordo.training.v1.Training.precision",
    "ordo.training.v1.Training.schedule",
    "ordo.training.v1.Training.trainable",
    "ordo.workers.v1.CordonWorkerRequest.reason",
    "ordo.workers.v1.DrainWorkerRequest.reason",
    "ordo.workers.v1.ListWorkersRequest.page_token",
    "ordo.workers.v1.ReleaseDeviceRequest.device",
    "ordo.workers.v1.ReleaseDeviceRequest.reason",
    "ordo.workers.v1.UncordonWorkerRequest.reason",
};

// Names of which a violation tells all.
constexpr size_t kMaxToldBytes = 1000;
// Where a file would be if one of the names below was believed.
constexpr char kElsewhere[] = "/tmp/ordo-escape";

std::vector<std::string> HostileNames(bool is_path) {
  std::vector<std::string> names = {"..",
                                    "../escape",
                                    "../../escape",
                                    "a/../../escape",
                                    "a/./escape",
                                    "a//escape",
                                    ".",
                                    kElsewhere,
                                    std::string("a\0b", 3),
                                    "a\nb",
                                    std::string(5000, 'a'),
                                    std::string(100, '/')};
  if (!is_path) {
    names.insert(names.end(), {"~/escape", "%2e%2e%2fescape", "a\xc2\x85"});
  }
  return names;
}

// All texts that a request of this type may have, but what servers alone fill
// in.
void CollectTexts(const Descriptor* type, std::set<const Descriptor*>* seen,
                  std::set<std::string>* texts) {
  if (!seen->insert(type).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    const auto& options = field->options();
    bool is_output = false;
    for (int k = 0; k < options.ExtensionSize(google::api::field_behavior);
         ++k) {
      is_output =
          is_output || options.GetExtension(google::api::field_behavior, k) ==
                           google::api::OUTPUT_ONLY;
    }
    if (is_output) continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      texts->insert(field->full_name());
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      CollectTexts(field->message_type(), seen, texts);
    }
  }
}

class NamesTest : public ::testing::Test {
 protected:
  NamesTest() {
    jobs::v1::Job job;
    job.set_name("jobs/a");
    job.set_state(jobs::v1::Job::QUEUED);
    loopback_.scheduler().PutJob(job);
    checkpoints::v1::Checkpoint checkpoint;
    checkpoint.set_name("jobs/a/checkpoints/1-1");
    checkpoint.set_state(checkpoints::v1::Checkpoint::AVAILABLE);
    *checkpoint.add_files() =
        loopback_.Write("jobs/a/checkpoints/1-1/model.safetensors", "weights");
    loopback_.scheduler().PutCheckpoint(checkpoint);
    reports::v1::Report report;
    report.set_name("jobs/a/reports/r-1");
    report.set_folder("results/r-1");
    *report.add_files() =
        loopback_.Write("jobs/a/results/r-1/result.json", "{}");
    loopback_.scheduler().PutReport(report);
    workers::v1::Worker worker;
    worker.set_name("workers/w");
    worker.mutable_data_roots()->add_paths("/srv/text");
    loopback_.scheduler().PutWorker(worker);
  }

  // Begins an upload; its name.
  std::string BeginUpload() {
    checkpoints::v1::CreateUploadRequest request;
    for (const char* name : {"config.json", "model.safetensors"}) {
      auto* file = request.mutable_upload()->add_files();
      file->set_path(name);
      file->set_size_bytes(2);
      file->set_sha256(std::string(64, 'a'));
    }
    Context context;
    checkpoints::v1::Upload upload;
    const grpc::Status status =
        checkpoints::v1::CheckpointsService::NewStub(loopback_.channel())
            ->CreateUpload(&context, request, &upload);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return upload.name();
  }

  // What the server says to a request, which is given as text.
  absl::Status Call(const Naming& naming, const std::string& text) {
    const std::vector<std::string> parts = absl::StrSplit(naming.method, '/');
    const auto* method = DescriptorPool::generated_pool()
                             ->FindServiceByName(parts[0])
                             ->FindMethodByName(parts[1]);
    const std::unique_ptr<Message> request(
        MessageFactory::generated_factory()
            ->GetPrototype(method->input_type())
            ->New());
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(text, request.get()))
        << naming.field << ": " << text.substr(0, 200);
    const std::string bytes = request->SerializeAsString();
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer sent(&slice, 1);
    grpc::ByteBuffer answer;
    grpc::GenericStub stub(loopback_.channel());
    Context context;
    std::promise<grpc::Status> status;
    stub.UnaryCall(
        &context, absl::StrCat("/", naming.method), grpc::StubOptions(), &sent,
        &answer,
        [&status](grpc::Status got) { status.set_value(std::move(got)); });
    return services::testing::ToStatus(status.get_future().get());
  }

  Loopback loopback_;
};

bool Names(const absl::Status& status, const std::string& violation) {
  const auto violations = base::FieldViolations(status);
  return std::any_of(violations.begin(), violations.end(),
                     [&](const base::FieldViolation& each) {
                       return absl::StartsWith(each.field, violation);
                     });
}

TEST(FieldsTest, EveryTextOfEveryRequestIsClassified) {
  std::set<std::string> texts;
  std::set<const Descriptor*> seen;
  for (const char* name : kServices) {
    const auto* service =
        DescriptorPool::generated_pool()->FindServiceByName(name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i) {
      CollectTexts(service->method(i)->input_type(), &seen, &texts);
    }
  }
  std::set<std::string> classified;
  for (const Naming& naming : kNaming) classified.insert(naming.field);
  for (const char* field : kOther) {
    EXPECT_TRUE(classified.insert(field).second) << field << " is there twice";
  }
  // One that is new: does it name something? Then it has a row, and is tried.
  EXPECT_THAT(texts, UnorderedElementsAreArray(classified));
}

TEST_F(NamesTest, NoNameLeadsElsewhere) {
  const std::string upload = BeginUpload();
  for (const Naming& naming : kNaming) {
    std::set<std::string> prefixes = {"", naming.prefix};
    for (const std::string& prefix : prefixes) {
      for (const std::string& name : HostileNames(naming.is_path)) {
        const std::string escaped = absl::Utf8SafeCEscape(prefix + name);
        SCOPED_TRACE(absl::StrCat(naming.field, " of ", naming.method, ": ",
                                  escaped.substr(0, 100)));
        const absl::Status status = Call(
            naming, absl::StrReplaceAll(naming.request,
                                        {{"$", escaped}, {"UPLOAD", upload}}));
        if (*naming.violation == '\0') {
          EXPECT_TRUE(absl::IsInvalidArgument(status) ||
                      absl::IsNotFound(status))
              << status;
          continue;
        }
        EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
        // Of what is too long the field may be cut with the rest.
        if (name.size() > kMaxToldBytes) continue;
        EXPECT_TRUE(Names(status, naming.violation)) << status;
      }
    }
  }
  EXPECT_FALSE(base::Exists(loopback_.files(), kElsewhere));
  EXPECT_FALSE(base::Exists(loopback_.files(), loopback_.Path("../escape")));
  EXPECT_FALSE(base::Exists(loopback_.files(), loopback_.Path("escape")));
  EXPECT_THAT(loopback_.scheduler().created(), IsEmpty());
  EXPECT_THAT(loopback_.scheduler().cancelled_by(), IsEmpty());
}

}  // namespace
}  // namespace ordo::tests::names
