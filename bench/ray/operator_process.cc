#include "bench/ray/operator_process.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "pkg/util/status_macros.h"

namespace hekla::bench {
namespace {

// The port of "serving address=127.0.0.1:0 port=4711"; 0 while there is no such line.
int ServingPort(const std::string& log) {
  constexpr absl::string_view kBefore = "serving address=127.0.0.1:0 port=";
  const size_t at = absl::string_view(log).find(kBefore);
  if (at == absl::string_view::npos) return 0;
  absl::string_view digits = absl::string_view(log).substr(at + kBefore.size());
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  int port = 0;
  return absl::SimpleAtoi(digits, &port) ? port : 0;
}

}  // namespace

absl::Status OperatorProcess::Start(const Options& options) {
  std::vector<std::string> arguments = {
      absl::StrCat("--kubeconfig=", options.kubeconfig),
      "--metrics-addr=127.0.0.1:0",
      "--health-probe-bind-address=0",
      "--enable-leader-election=false",
      absl::StrCat("--reconcile-concurrency=", options.concurrency),
      "--qps=5000",
      "--burst=5000"};
  if (!options.batch_scheduler.empty()) {
    arguments.push_back(absl::StrCat("--batch-scheduler=", options.batch_scheduler));
  }
  HEKLA_ASSIGN_OR_RETURN(process_,
                         test::Process::Start(HEKLA_RAY_OPERATOR, arguments, options.log_file));
  const absl::Time limit = absl::Now() + absl::Seconds(30);
  while (absl::Now() < limit && process_->Running()) {
    const std::string log = process_->Output();
    if (absl::StrContains(log, "starting workers")) {
      http::BeastTransport::Options transport;
      transport.url = absl::StrCat("http://127.0.0.1:", ServingPort(log));
      HEKLA_ASSIGN_OR_RETURN(metrics_, http::BeastTransport::Create(std::move(transport)));
      return absl::OkStatus();
    }
    absl::SleepFor(absl::Milliseconds(20));
  }
  return absl::UnavailableError(absl::StrCat("the operator did not start:\n", process_->Output()));
}

void OperatorProcess::Stop() {
  metrics_.reset();
  if (process_.has_value()) process_->Terminate(absl::Seconds(40));
}

void OperatorProcess::Kill() {
  metrics_.reset();
  process_->Signal(SIGKILL);
  process_->Wait(absl::Seconds(10));
}

absl::Duration OperatorProcess::CpuTime() const {
  std::ifstream file(absl::StrCat("/proc/", process_->pid(), "/stat"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  // Behind the name, which may hold blanks: field 3 on; times are fields 14 and 15.
  const std::vector<std::string> fields =
      absl::StrSplit(all.substr(all.rfind(')') + 2), ' ', absl::SkipEmpty());
  int64_t user = 0;
  int64_t system = 0;
  if (fields.size() < 13 || !absl::SimpleAtoi(fields[11], &user) ||
      !absl::SimpleAtoi(fields[12], &system)) {
    return absl::ZeroDuration();
  }
  return absl::Seconds(1) * (user + system) / ::sysconf(_SC_CLK_TCK);
}

int64_t OperatorProcess::MemoryBytes() const {
  std::ifstream file(absl::StrCat("/proc/", process_->pid(), "/statm"));
  int64_t all = 0;
  int64_t resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

absl::StatusOr<std::map<std::string, double>> OperatorProcess::Metrics() {
  http::Request request;
  request.method = "GET";
  request.target = "/metrics";
  HEKLA_ASSIGN_OR_RETURN(const http::Response response,
                         http::SendAndWait(*metrics_, request, absl::Seconds(10)));
  std::map<std::string, double> out;
  for (absl::string_view line : absl::StrSplit(response.body, '\n', absl::SkipEmpty())) {
    const size_t blank = line.rfind(' ');
    double value = 0;
    if (line[0] == '#' || !absl::SimpleAtod(line.substr(blank + 1), &value)) continue;
    out[std::string(line.substr(0, blank))] = value;
  }
  return out;
}

double SumOf(const std::map<std::string, double>& metrics, const std::string& prefix,
             const std::string& part) {
  double sum = 0;
  for (const auto& [name, value] : metrics) {
    if (absl::StartsWith(name, prefix) && absl::StrContains(name, part)) sum += value;
  }
  return sum;
}

}  // namespace hekla::bench
