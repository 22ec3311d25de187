#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/recording_responder.h"
#include "pkg/util/clock.h"

namespace hekla::apiserver::testing {

// A server under a clock that stands still, spoken to without sockets.
class TestServer {
 public:
  explicit TestServer(Options options = {});

  struct Reply {
    int status = 0;
    apis::json::Value body;  // null where it is no JSON
    std::string text;
    http::Headers headers;
  };
  Reply Get(absl::string_view target, absl::string_view accept = "");
  Reply Post(absl::string_view target, absl::string_view body);
  Reply Put(absl::string_view target, absl::string_view body);
  // `type`: "merge", "json", "strategic" or "apply".
  Reply Patch(absl::string_view target, absl::string_view type, absl::string_view body);
  Reply Delete(absl::string_view target, absl::string_view body = "");
  Reply Send(http::Request request);

  // Opens a watch; null where it was answered otherwise.
  std::shared_ptr<RecordingStream> Watch(absl::string_view target, absl::string_view accept = "");

  // Creates a pod with one container in namespace "default". `extra` is put into its metadata or
  // spec, for instance `"labels":{"a":"b"}`.
  apis::json::Value MakePod(absl::string_view name, absl::string_view metadata = "",
                            absl::string_view spec = "");
  // POST pods/NAME/binding.
  Reply Bind(absl::string_view pod, absl::string_view node);

  void Advance(absl::Duration d);  // and Tick

  util::FakeClock clock;
  std::unique_ptr<ApiServer> server;

 private:
  static Options WithClock(Options options, const util::Clock* clock);
};

// Parses text that must be JSON.
apis::json::Value J(absl::string_view text);
// "ADDED a@5" per event: type, name, resourceVersion.
std::vector<std::string> Brief(const std::vector<apis::json::Value>& events);

}  // namespace hekla::apiserver::testing
