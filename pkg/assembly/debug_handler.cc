#include "pkg/assembly/debug_handler.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/json/value.h"

namespace hekla::assembly {
namespace {

using apis::json::Value;

http::Response Json(int status, const Value& body) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", "application/json");
  response.body = apis::json::Dump(body);
  response.body.push_back('\n');
  return response;
}

http::Response Error(int status, absl::string_view text) {
  return Json(status, Value::MakeObject({{"error", text}}));
}

int HttpStatus(const absl::Status& status) {
  if (absl::IsNotFound(status)) return 404;
  return absl::IsUnavailable(status) ? 503 : 500;
}

// One request that waits for its answer; whoever comes first gives it.
class Question {
 public:
  Question(std::shared_ptr<http::Responder> responder, std::shared_ptr<std::atomic<int>> waiting)
      : responder_(std::move(responder)), waiting_(std::move(waiting)) {}

  void Answer(http::Response response) {
    if (answered_.exchange(true)) return;
    waiting_->fetch_sub(1);
    responder_->Respond(std::move(response));
  }

 private:
  const std::shared_ptr<http::Responder> responder_;
  const std::shared_ptr<std::atomic<int>> waiting_;
  std::atomic<bool> answered_ = false;
};

}  // namespace

DebugHandler::DebugHandler(SchedulerGraph* graph, util::Executor* timers, Options options)
    : graph_(graph), timers_(timers), options_(options) {}

void DebugHandler::Handle(http::Request request, const http::Peer& peer,
                          std::shared_ptr<http::Responder> responder) {
  (void)peer;
  const http::Target target = http::ParseTarget(request.target);
  if (request.method != "GET") return responder->Respond(Error(405, "only GET is served"));
  if (target.path == "/debug/explain") return Explain(target, std::move(responder));
  if (absl::StartsWith(target.path, "/debug/pprof")) {
    return responder->Respond(
        Error(501, "this program has no Go profiles; use perf on its process"));
  }
  responder->Respond(Error(404, absl::StrCat("no such path: ", target.path,
                                             "; there is /debug/explain?pod=ns/name and "
                                             "/debug/explain?podgroup=ns/name")));
}

void DebugHandler::Explain(const http::Target& target, std::shared_ptr<http::Responder> responder) {
  std::string name(target.Get("pod"));
  const std::string group(target.Get("podgroup"));
  if (name.empty() == group.empty()) {
    return responder->Respond(Error(400, "name either pod=ns/name or podgroup=ns/name"));
  }
  const bool pod = group.empty();
  if (!pod) name = group;
  if (!absl::StrContains(name, '/')) name = absl::StrCat("default/", name);
  if (waiting_->fetch_add(1) >= options_.max_waiting) {
    waiting_->fetch_sub(1);
    return responder->Respond(Error(503, "too many questions wait already"));
  }
  auto question = std::make_shared<Question>(std::move(responder), waiting_);
  const util::Executor::TimerId timer = timers_->PostAfter(options_.timeout, [question] {
    question->Answer(Error(503, "the scheduler is busy: no answer in time"));
  });
  const auto subject =
      pod ? framework::explain::Subject::kPod : framework::explain::Subject::kPodGroup;
  graph_->Explain(subject, std::move(name),
                  [question, timer, timers = timers_](const absl::StatusOr<Value>& answer) {
                    timers->Cancel(timer);
                    if (answer.ok()) {
                      question->Answer(Json(200, *answer));
                    } else {
                      const absl::Status& status = answer.status();
                      question->Answer(Error(HttpStatus(status), status.message()));
                    }
                  });
}

}  // namespace hekla::assembly
