#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apiserver/authorizer.h"
#include "pkg/apiserver/codec.h"
#include "pkg/apiserver/core.h"
#include "pkg/apiserver/deleter.h"
#include "pkg/apiserver/negotiate.h"
#include "pkg/apiserver/writer.h"
#include "pkg/http/message.h"

namespace hekla::apiserver {

// One request on its way through the server.
struct Call {
  const http::Request* request = nullptr;
  http::Target target;
  std::vector<std::string> segments;  // of the path
  Accept accept;
  std::vector<std::string> warnings;
  std::string certificate_subject;  // of the connection
  Identity caller;

  // Set for resource requests.
  ResourcePtr resource;
  std::string ns;
  std::string name;
  std::string subresource;

  absl::string_view Query(absl::string_view key) const { return target.Get(key); }
};

// A finished answer.
struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Options of writes from the query. `kind` is that of the options object in error texts
// ("CreateOptions"). Errors: 422.
struct WriteQuery {
  WriteParams params;
  FieldValidation validation = FieldValidation::kWarn;
  bool force = false;
  bool has_force = false;
  bool has_manager = false;
};
absl::StatusOr<WriteQuery> ReadWriteQuery(const Call& call, absl::string_view kind);

// DELETE: query and body together. Errors: 400, 422.
absl::StatusOr<DeleteParams> ReadDeleteParams(const Call& call);

// Options of lists and watches.
struct ListParams {
  storage::Filter filter;
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;
  std::string resource_version;  // as given
  std::string version_match;
  int64_t limit = 0;
  std::string continue_token;
  std::optional<int64_t> timeout_seconds;
};
// Errors: 400, 422.
absl::StatusOr<ListParams> ReadListParams(const Call& call);

// A flag of the query: what is neither "0" nor "false" counts as set; nullopt where it is missing.
std::optional<bool> Flag(const Call& call, absl::string_view key);
// A boolean of the query as Go's ParseBool reads it; nullopt where it is none.
std::optional<bool> ParseBool(absl::string_view text);

// Answers, rendered in the form that the client wants.
Answer StatusAnswer(const apis::json::Value& status, const Call& call);
Answer ErrorAnswer(const absl::Status& error, const Call& call);
// A JSON value that is not a resource (discovery, Scale, Status).
Answer ValueAnswer(int status, const apis::json::Value& value, const Call& call);
// One object of call.resource in stored form.
Answer ObjectAnswer(const Core& core, int status, absl::string_view stored_json, const Call& call);
// A list of them.
Answer ListAnswer(const Core& core, const storage::ListResult& list,
                  absl::string_view continue_token, bool count_remaining, const Call& call);
// A transform for watch events in the form that the client wants; empty where it is the stored one.
storage::Transform WatchTransform(const Core& core, const Call& call);
const printing::Printer& PrinterOf(const Resource& resource);

}  // namespace hekla::apiserver
