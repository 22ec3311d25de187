#include "pkg/apiserver/hollow/pod_calls.h"

#include "absl/strings/str_cat.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::hollow {

using apis::json::Value;

void BindPod(ApiServer& server, absl::string_view ns, absl::string_view name,
             absl::string_view node) {
  http::Request request;
  request.method = "POST";
  request.target = absl::StrCat("/api/v1/namespaces/", ns, "/pods/", name, "/binding");
  request.headers.Set("Content-Type", "application/json");
  request.body = apis::json::Dump(
      Value::MakeObject({{"apiVersion", "v1"},
                         {"kind", "Binding"},
                         {"metadata", Value::MakeObject({{"name", name}})},
                         {"target", Value::MakeObject({{"kind", "Node"}, {"name", node}})}}));
  server.Call(request);
}

void DeletePodNow(ApiServer& server, absl::string_view ns, absl::string_view name) {
  http::Request request;
  request.method = "DELETE";
  request.target = absl::StrCat("/api/v1/namespaces/", ns, "/pods/", name, "?gracePeriodSeconds=0");
  server.Call(request);
}

}  // namespace hekla::apiserver::hollow
