#include "pkg/ray/webhook/admission.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/ray/validation.h"

namespace hekla::ray::webhook {
namespace {

using apis::json::Value;

constexpr int kUnprocessable = 422;
constexpr int kBadRequest = 400;

// One field that is wrong, as the Kubernetes API words it.
struct Cause {
  std::string field;
  std::string value;
  std::string detail;

  std::string Message() const {
    return absl::StrCat("Invalid value: ", apis::json::Quote(value), ": ", detail);
  }
};

std::vector<Cause> CausesOf(const Value& cluster) {
  std::vector<Cause> causes;
  apis::meta::ObjectMeta metadata;
  metadata.name = std::string(cluster.At("metadata").GetString("name"));
  if (const auto error = apis::ray::MetadataError(metadata); error.has_value()) {
    causes.push_back({"metadata.name", metadata.name, *error});
  }
  const Value& groups = cluster.At("spec").At("workerGroupSpecs");
  std::set<std::string> names;
  for (size_t i = 0; groups.is_array() && i < groups.size(); ++i) {
    std::string name(groups.as_array()[i].GetString("groupName"));
    if (names.insert(name).second) continue;
    causes.push_back({absl::StrCat("spec.workerGroupSpecs[", i, "]"), std::move(name),
                      "worker group names must be unique"});
    break;
  }
  return causes;
}

// metav1.Status of reason Invalid.
Value InvalidStatus(const std::string& name, const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  Value list = Value::MakeArray();
  for (const Cause& cause : causes) {
    texts.push_back(absl::StrCat(cause.field, ": ", cause.Message()));
    list.Append(Value::MakeObject(
        {{"reason", "FieldValueInvalid"}, {"message", cause.Message()}, {"field", cause.field}}));
  }
  const std::string all = absl::StrJoin(texts, ", ");
  return Value::MakeObject(
      {{"metadata", Value::MakeObject()},
       {"status", "Failure"},
       {"message", absl::StrCat("RayCluster.ray.io ", apis::json::Quote(name), " is invalid: ",
                                texts.size() > 1 ? absl::StrCat("[", all, "]") : all)},
       {"reason", "Invalid"},
       {"details", Value::MakeObject({{"name", name},
                                      {"group", "ray.io"},
                                      {"kind", "RayCluster"},
                                      {"causes", std::move(list)}})},
       {"code", kUnprocessable}});
}

}  // namespace

absl::StatusOr<Value> ReviewRayCluster(const Value& review) {
  const Value& request = review.At("request");
  if (review.GetString("kind") != "AdmissionReview" ||
      review.GetString("apiVersion") != "admission.k8s.io/v1" || !request.is_object()) {
    return absl::InvalidArgumentError(
        "expected an AdmissionReview of admission.k8s.io/v1 with a request");
  }
  Value response = Value::MakeObject({{"uid", request.At("uid")}});
  const absl::string_view operation = request.GetString("operation");
  std::vector<Cause> causes;
  if (operation == "CREATE" || operation == "UPDATE") causes = CausesOf(request.At("object"));
  response.Set("allowed", causes.empty());
  if (!causes.empty()) {
    const std::string name(request.At("object").At("metadata").GetString("name"));
    response.Set("status", InvalidStatus(name, causes));
  }
  return Value::MakeObject({{"kind", "AdmissionReview"},
                            {"apiVersion", "admission.k8s.io/v1"},
                            {"response", std::move(response)}});
}

void AdmissionHandler::Handle(http::Request request, const http::Peer& peer,
                              std::shared_ptr<http::Responder> responder) {
  (void)peer;
  responder->Respond(Answer(request));
}

http::Response AdmissionHandler::Answer(const http::Request& request) {
  http::Response response;
  response.headers.Set("Content-Type", "text/plain; charset=utf-8");
  if (http::ParseTarget(request.target).path != kRayClusterPath) {
    response.status = 404;
    response.body = "404 page not found\n";
    return response;
  }
  absl::StatusOr<Value> answer = apis::json::Parse(request.body);
  if (answer.ok()) answer = ReviewRayCluster(*answer);
  if (request.method != "POST" || !answer.ok()) {
    response.status = kBadRequest;
    response.body = absl::StrCat(
        request.method != "POST" ? "POST is expected" : answer.status().message(), "\n");
    return response;
  }
  response.status = 200;
  response.headers.Set("Content-Type", "application/json");
  response.body = apis::json::Dump(*answer);
  return response;
}

}  // namespace hekla::ray::webhook
