// The embedded API server alone on a port of its own, for trying it with other people's clients.
// usage: apiserver_main PORT [TOKEN]
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "absl/strings/numbers.h"
#include "glog/logging.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/http/beast_server.h"
#include "pkg/util/clock.h"

namespace {

volatile std::sig_atomic_t stop = 0;
void OnSignal(int) { stop = 1; }

}  // namespace

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  int port = 0;
  if (argc < 2 || !absl::SimpleAtoi(argv[1], &port)) {
    std::cerr << "usage: apiserver_main PORT [TOKEN]\n";
    return 2;
  }
  hekla::util::SystemClock clock;
  hekla::apiserver::Options options;
  options.clock = &clock;
  options.seed = static_cast<uint64_t>(absl::ToUnixNanos(absl::Now()));
  options.track_managed_fields = true;
  if (argc > 2) options.tokens.push_back(argv[2]);
  hekla::apiserver::ApiServer server(options);
  const absl::Status loaded = hekla::apiserver::shipped::LoadCrds(server);
  CHECK(loaded.ok()) << loaded;
  hekla::http::BeastServer::Options http_options;
  http_options.port = static_cast<uint16_t>(port);
  http_options.threads = 2;
  hekla::http::BeastServer http(http_options);
  const absl::Status started = http.Start(&server);
  CHECK(started.ok()) << started;
  std::cout << "http://127.0.0.1:" << http.port() << std::endl;
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  while (stop == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    server.Tick();
  }
  server.CloseWatches();
  http.Stop();
  return 0;
}
