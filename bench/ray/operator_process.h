#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/http/beast_transport.h"
#include "test/integration/process.h"

namespace hekla::bench {

// The operator's program under measurement.
class OperatorProcess {
 public:
  struct Options {
    std::string kubeconfig = {};
    std::string log_file = {};
    int concurrency = 10;
    std::string batch_scheduler = {};
  };
  // Starts it and waits until its workers run.
  absl::Status Start(const Options& options);
  void Stop();
  // kill -9.
  void Kill();

  absl::Duration CpuTime() const;
  int64_t PeakMemoryBytes() const { return process_->PeakMemoryBytes(); }
  int64_t MemoryBytes() const;
  // Lines of /metrics: name and labels -> value.
  absl::StatusOr<std::map<std::string, double>> Metrics();

 private:
  std::optional<test::Process> process_;
  std::unique_ptr<http::BeastTransport> metrics_;
};

// The sum of all series of `metrics` whose name starts with `prefix` and contains `part`.
double SumOf(const std::map<std::string, double>& metrics, const std::string& prefix,
             const std::string& part = "");

}  // namespace hekla::bench
