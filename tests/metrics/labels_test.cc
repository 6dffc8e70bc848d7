// The labels of both metrics pages have closed sets of values, whatever jobs,
// users, texts and errors there are.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/metrics/process_metrics.h"
#include "base/metrics/testing/scrape.h"
#include "base/rpc/client.h"
#include "base/rpc/rpc_metrics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/queues/v1/queues.grpc.pb.h"
#include "scheduler/metrics.h"
#include "tests/harness/deployment.h"
#include "worker/agent/metrics.h"

namespace ordo::tests::metrics {
namespace {

using jobs::v1::Job;

constexpr int kRounds = 2;
constexpr int kJobs = 12;

// A line of a page without its value.
struct Series {
  std::string name;
  std::map<std::string, std::string> labels;
};

bool operator<(const Series& a, const Series& b) {
  return std::tie(a.name, a.labels) < std::tie(b.name, b.labels);
}

std::string ToString(const Series& series) {
  std::string text = series.name;
  for (const auto& [name, value] : series.labels) {
    absl::StrAppend(&text, " ", name, "=", value);
  }
  return text;
}

std::set<Series> SeriesOf(const std::string& page) {
  static const auto& label =
      *new std::regex(R"re((\w+)="((?:[^"\\]|\\.)*)")re");
  std::set<Series> all;
  const std::vector<std::string> lines = absl::StrSplit(page, '\n');
  for (const std::string& line : lines) {
    if (line.empty() || line[0] == '#') continue;
    Series series;
    series.name = line.substr(0, line.find_first_of("{ "));
    for (std::sregex_iterator it(line.begin(), line.end(), label), end;
         it != end; ++it) {
      series.labels[(*it)[1]] = (*it)[2];
    }
    all.insert(std::move(series));
  }
  return all;
}

// What a label may be whose values its metric does not list.
const std::map<std::string, std::string>& OpenLabels() {
  static const auto& patterns = *new std::map<std::string, std::string>{
      {"queue", "default|night"},
      {"worker", "worker-1"},
      {"device", "cpu:0"},
      {"kind", "cpu"},
      {"method", R"(other|(ordo|grpc)(\.\w+)+/\w+)"},
      {"code",
       "OK|CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|"
       "NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|UNAUTHENTICATED|"
       "RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|"
       "UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS"},
      {"build", "[0-9a-f]{12}"},
      {"protocol", "[0-9]+"},
      {"le", ".*"},
  };
  return patterns;
}

// Of both programs, by name.
std::map<std::string, base::MetricDefinition> Declared() {
  base::MetricsRegistry registry;
  const scheduler::SchedulerMetrics scheduler(registry);
  const worker::agent::WorkerMetrics worker(registry);
  const base::RpcMetrics scheduler_rpcs("scheduler", registry);
  const base::RpcMetrics worker_rpcs("worker", registry);
  base::AddProcessMetrics("scheduler", registry);
  base::AddProcessMetrics("worker", registry);
  std::map<std::string, base::MetricDefinition> declared;
  for (const base::DeclaredMetric& metric : registry.Declared()) {
    declared[metric.definition.name] = metric.definition;
    if (metric.type != "histogram") continue;
    for (const char* part : {"_bucket", "_sum", "_count"}) {
      declared[metric.definition.name + part] = metric.definition;
    }
  }
  return declared;
}

void ExpectClosedSets(const std::set<Series>& page) {
  const std::map<std::string, base::MetricDefinition> declared = Declared();
  for (const Series& series : page) {
    // The web server's own.
    if (absl::StartsWith(series.name, "exposer_")) continue;
    const auto metric = declared.find(series.name);
    ASSERT_NE(metric, declared.end()) << series.name;
    for (const auto& [name, value] : series.labels) {
      std::vector<std::string> listed;
      for (const base::MetricLabel& label : metric->second.labels) {
        if (label.name == name) listed = label.values;
      }
      if (!listed.empty()) {
        EXPECT_EQ(std::count(listed.begin(), listed.end(), value), 1)
            << ToString(series);
        continue;
      }
      ASSERT_EQ(OpenLabels().count(name), 1u) << ToString(series);
      EXPECT_TRUE(std::regex_match(value, std::regex(OpenLabels().at(name))))
          << ToString(series);
    }
  }
}

class LabelsTest : public testing::Test {
 protected:
  void SetUp() override {
    harness::DeploymentOptions options;
    options.folder = folder_.path();
    options.worker.set_trainer(harness::Program("tests/fake/fake_trainer"));
    std::string fake;
    for (int round = 0; round < kRounds; ++round) {
      absl::StrAppend(&fake, NameOf(round, 0), ":crash_at=2;", NameOf(round, 1),
                      ":exit_at=2,exit_code=3;");
    }
    (*options.worker.mutable_trainer_environment())["ORDO_FAKE"] = fake;
    auto deployment = harness::Deployment::Start(options);
    ASSERT_TRUE(deployment.ok()) << deployment.status();
    deployment_ = *std::move(deployment);
    const auto queues = queues::v1::QueuesService::NewStub(
        base::Connect(deployment_->api_address()));
    grpc::ClientContext context;
    base::PrepareCall({absl::Seconds(20), "ada", true}, &context);
    queues::v1::CreateQueueRequest request;
    request.set_queue_id("night");
    queues::v1::Queue queue;
    ASSERT_TRUE(queues->CreateQueue(&context, request, &queue).ok());
  }

  static std::string NameOf(int round, int number) {
    return absl::StrCat("secret-", round, "-", number);
  }

  // The answer to one call as this user.
  grpc::Status Create(const jobs::v1::JobSpec& spec, const std::string& user) {
    grpc::ClientContext context;
    base::PrepareCall({absl::Seconds(20), user, true}, &context);
    jobs::v1::CreateJobRequest request;
    *request.mutable_job()->mutable_spec() = spec;
    request.set_request_id(absl::StrCat("secret-request-", spec.name()));
    Job job;
    return deployment_->jobs().CreateJob(&context, request, &job);
  }

  // Jobs of as many users that succeed, crash and fail, and calls in vain.
  void Run(int round) {
    for (int i = 0; i < kJobs; ++i) {
      jobs::v1::JobSpec spec;
      spec.set_kind(jobs::v1::JobSpec::TRAIN);
      spec.set_name(NameOf(round, i));
      spec.set_queue(i % 2 == 0 ? "default" : "night");
      spec.mutable_encoding()->set_name("rope");
      spec.mutable_data()->set_task("addition");
      spec.mutable_training()->set_steps(5);
      spec.mutable_retry()->set_max_attempts(1);
      (*spec.mutable_labels())["team"] = absl::StrCat("secret-", i);
      const std::string user = absl::StrCat("secret-user-", round, "-", i);
      ASSERT_TRUE(Create(spec, user).ok());
      spec.set_name(absl::StrCat("secret bad name ", round, i));
      EXPECT_FALSE(Create(spec, user).ok());
      EXPECT_FALSE(deployment_->Get(absl::StrCat("secret-none-", i)).ok());
    }
    for (int i = 0; i < kJobs; ++i) {
      const auto job =
          deployment_->WaitForEnd(NameOf(round, i), absl::Seconds(60));
      ASSERT_TRUE(job.ok()) << job.status();
    }
  }

  std::string Scheduler() {
    return base::testing::ScrapeMetrics(deployment_->scheduler_metrics());
  }
  std::string Worker() {
    return base::testing::ScrapeMetrics(deployment_->worker_metrics());
  }

  base::testing::TemporaryFolder folder_;
  std::unique_ptr<harness::Deployment> deployment_;
};

// Those that appear with the first call of a method that has this code.
std::set<Series> WithoutRpcs(std::set<Series> all) {
  for (auto it = all.begin(); it != all.end();) {
    it = absl::StrContains(it->name, "_rpc_") ? all.erase(it) : std::next(it);
  }
  return all;
}

TEST_F(LabelsTest, AreOfClosedSetsHoweverManyJobsAndUsersThereAre) {
  ASSERT_NO_FATAL_FAILURE(Run(0));
  const std::set<Series> scheduler = SeriesOf(Scheduler());
  const std::set<Series> worker = SeriesOf(Worker());
  ExpectClosedSets(scheduler);
  ExpectClosedSets(worker);
  ASSERT_NO_FATAL_FAILURE(Run(1));
  const std::string scheduler_page = Scheduler();
  const std::string worker_page = Worker();
  for (const std::string& page : {scheduler_page, worker_page}) {
    EXPECT_THAT(page, testing::Not(testing::HasSubstr("secret")));
  }
  ExpectClosedSets(SeriesOf(scheduler_page));
  ExpectClosedSets(SeriesOf(worker_page));
  for (const auto& [before, after] :
       {std::pair(scheduler, SeriesOf(scheduler_page)),
        std::pair(worker, SeriesOf(worker_page))}) {
    for (const Series& series : WithoutRpcs(after)) {
      EXPECT_EQ(before.count(series), 1u) << "is new: " << ToString(series);
    }
  }
}

}  // namespace
}  // namespace ordo::tests::metrics
