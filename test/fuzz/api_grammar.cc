#include "test/fuzz/api_grammar.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/json/value.h"

namespace hekla::fuzz {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr const char* kNames[] = {"a", "b", "a", "b", "c.d", "default", "Bad_", ""};
constexpr const char* kKeys[] = {"metadata",
                                 "spec",
                                 "status",
                                 "name",
                                 "labels",
                                 "finalizers",
                                 "containers",
                                 "image",
                                 "conditions",
                                 "type",
                                 "taints",
                                 "resources",
                                 "requests",
                                 "limits",
                                 "cpu",
                                 "n",
                                 "l",
                                 "k",
                                 "any",
                                 "replicas",
                                 "selector",
                                 "template",
                                 "matchLabels",
                                 "uid",
                                 "resourceVersion",
                                 "$patch",
                                 "namespace",
                                 "apiVersion",
                                 "kind",
                                 "target",
                                 "ports",
                                 "port",
                                 "tolerations",
                                 "priority",
                                 "generateName",
                                 "annotations",
                                 "managedFields",
                                 "versions",
                                 "schema",
                                 "ownerReferences",
                                 "data",
                                 "rules",
                                 "phase",
                                 "nodeName",
                                 "deletionTimestamp",
                                 "volumes",
                                 "schedule",
                                 "minAvailable",
                                 "maxUnavailable",
                                 "$retainKeys",
                                 "generation",
                                 "subjects",
                                 "roleRef",
                                 "hard",
                                 "$setElementOrder/containers",
                                 "env",
                                 "x",
                                 "a/b",
                                 "~1"};
constexpr const char* kTexts[] = {"a",           "x/y",   "1",
                                  "100m",        "-5",    "",
                                  "NoSchedule",  "abc",   "{",
                                  "Pod",         "v1",    "2001-01-01T00:00:00Z",
                                  "delete",      "merge", "99999999999999999999",
                                  "1e400",       "50%",   "\xc3\xa4\xe2\x82\xac",
                                  "0.000000001", "*",     "replace"};
constexpr int64_t kNumbers[] = {0, 1, -1, 2, 3, 80, 443, 65536, INT64_MAX, INT64_MIN, 1000000007};

struct Place {
  const char* path;  // of the collection
  const char* body;  // a valid object, without its name
};
// The custom kind is that of apiserver_fuzz.cc.
constexpr Place kPlaces[] = {
    {"/api/v1/namespaces/default/pods",
     R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{"containers":)"
     R"([{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"requests":)"
     R"({"cpu":"1"}},"env":[{"name":"x","value":"y"}]}],"volumes":[{"name":"v","emptyDir":{}}],)"
     R"("tolerations":[{"key":"k","operator":"Exists"}]},"status":{"conditions":)"
     R"([{"type":"Ready","status":"True"}]}})"},
    {"/api/v1/namespaces/default/configmaps",
     R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"},"binaryData":{"c":"AAA="}})"},
    {"/api/v1/namespaces/default/services",
     R"({"apiVersion":"v1","kind":"Service","spec":{"selector":{"a":"b"},"ports":[{"name":"p",)"
     R"("port":80,"targetPort":"x"}]}})"},
    {"/api/v1/namespaces/default/events",
     R"({"apiVersion":"v1","kind":"Event","involvedObject":{"kind":"Pod","name":"a","namespace":)"
     R"("default"},"reason":"R","message":"m","count":1})"},
    {"/api/v1/nodes",
     R"({"apiVersion":"v1","kind":"Node","spec":{"taints":[{"key":"k","effect":"NoSchedule"}]},)"
     R"("status":{"capacity":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}})"},
    {"/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace"})"},
    {"/apis/example.com/v1/namespaces/default/things",
     R"({"apiVersion":"example.com/v1","kind":"Thing","spec":{"n":2,"l":[{"k":"a"},{"k":"b"}],)"
     R"("any":{"x":1}},"status":{"n":1}})"},
    {"/apis/apps/v1/namespaces/default/deployments",
     R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":2,"selector":)"
     R"({"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":)"
     R"({"containers":[{"name":"c","image":"i"}]}}}})"},
    {"/apis/batch/v1/namespaces/default/jobs",
     R"({"apiVersion":"batch/v1","kind":"Job","spec":{"template":{"spec":{"restartPolicy":)"
     R"("Never","containers":[{"name":"c","image":"i"}]}}}})"},
    {"/apis/policy/v1/namespaces/default/poddisruptionbudgets",
     R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","spec":{"minAvailable":1,)"
     R"("selector":{"matchLabels":{"a":"b"}}}})"},
    {"/apis/events.k8s.io/v1/namespaces/default/events",
     R"({"apiVersion":"events.k8s.io/v1","kind":"Event","regarding":{"kind":"Pod","name":"a",)"
     R"("namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z","reason":"R","action":)"
     R"("A","type":"Normal","reportingController":"x","reportingInstance":"y"})"},
    {"/apis/scheduling.k8s.io/v1/priorityclasses",
     R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":5})"},
    {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
     R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
     R"({"name":"odds.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":)"
     R"({"plural":"odds","kind":"Odd"},"versions":[{"name":"v1","served":true,"storage":true,)"
     R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",)"
     R"("properties":{"n":{"type":"integer","minimum":1},"s":{"type":"string","pattern":"^a"}},)"
     R"("x-kubernetes-validations":[{"rule":"self.n > 0"}]}}}}}]}})"},
    {"/apis/example.com/v1/namespaces/default/odds",
     R"({"apiVersion":"example.com/v1","kind":"Odd","spec":{"n":1,"s":"ab"}})"},
    {"/apis/coordination.k8s.io/v1/namespaces/default/leases",
     R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"holderIdentity":"x",)"
     R"("leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}})"},
    {"/api/v1/namespaces/default/persistentvolumeclaims",
     R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","spec":{"accessModes":)"
     R"(["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})"},
    {"/api/v1/namespaces/default/resourcequotas",
     R"({"apiVersion":"v1","kind":"ResourceQuota","spec":{"hard":{"pods":"10"}}})"},
    {"/apis/rbac.authorization.k8s.io/v1/clusterroles",
     R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","rules":[{"apiGroups":)"
     R"([""],"resources":["pods"],"verbs":["get"]}]})"},
    {"/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
     R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","roleRef":{"apiGroup":)"
     R"("rbac.authorization.k8s.io","kind":"ClusterRole","name":"a"},"subjects":[{"kind":"User",)"
     R"("name":"u","apiGroup":"rbac.authorization.k8s.io"}]})"},
    {"/apis/storage.k8s.io/v1/storageclasses",
     R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","provisioner":"p"})"},
    {"/apis/networking.k8s.io/v1/namespaces/default/ingresses",
     R"({"apiVersion":"networking.k8s.io/v1","kind":"Ingress","spec":{"rules":[{"http":{"paths":)"
     R"([{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":1}}}}]}}]}})"},
};
constexpr const char* kOtherPaths[] = {"/api",
                                       "/apis",
                                       "/api/v1",
                                       "/apis/apps",
                                       "/apis/example.com/v1",
                                       "/version",
                                       "/healthz",
                                       "/openapi/v3",
                                       "/openapi/v3/api/v1",
                                       "/openapi/v3/apis/example.com/v1",
                                       "/openapi/v2",
                                       "/api/v1/pods",
                                       "/api/v1/watch/pods",
                                       "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                       "/api/v1/namespaces/default/serviceaccounts/default/token",
                                       "/api/v1/namespaces/gone/pods",
                                       "/api/v1/namespaces//pods",
                                       "//",
                                       "/%zz/%00/%2f",
                                       "/api/v1/namespaces/default/pods/%2e%2e",
                                       ""};
constexpr const char* kMethods[] = {"POST", "PATCH", "PUT",  "PATCH", "GET",    "POST",
                                    "PUT",  "PATCH", "POST", "PATCH", "DELETE", "PATCH"};
constexpr const char* kRareMethods[] = {"HEAD", "OPTIONS", "CONNECT", "x"};
constexpr const char* kSubs[] = {"/status",   "/status", "/status",   "/binding", "/scale",
                                 "/eviction", "/log",    "/finalize", "/exec",    "/x"};
constexpr const char* kQueries[] = {"dryRun=All",
                                    "dryRun=x",
                                    "fieldValidation=Strict",
                                    "fieldValidation=Ignore",
                                    "labelSelector=a%20in%20(b,c),!d",
                                    "labelSelector=a%3D%3Db",
                                    "labelSelector=,,(",
                                    "fieldSelector=metadata.name%3Da",
                                    "fieldSelector=spec.nodeName!%3Dx,status.phase%3DPending",
                                    "fieldSelector=no.such%3Dx",
                                    "limit=1",
                                    "limit=-1",
                                    "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
                                    "continue=%00",
                                    "resourceVersion=7&resourceVersionMatch=Exact",
                                    "resourceVersion=0&resourceVersionMatch=NotOlderThan",
                                    "resourceVersion=99999999999999999999",
                                    "fieldManager=f",
                                    "fieldManager=f&force=true",
                                    "fieldManager=g",
                                    "propagationPolicy=Foreground",
                                    "propagationPolicy=Orphan",
                                    "gracePeriodSeconds=0",
                                    "gracePeriodSeconds=-3",
                                    "watch=1&timeoutSeconds=1",
                                    "watch=1&resourceVersion=5",
                                    "watch=1&sendInitialEvents=true&resourceVersionMatch="
                                    "NotOlderThan&allowWatchBookmarks=true",
                                    "pretty=1",
                                    "&&=&a=%"};
constexpr const char* kPatchTypes[] = {
    "application/merge-patch+json", "application/json-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
constexpr const char* kBodyTypes[] = {"application/yaml", "application/vnd.kubernetes.protobuf",
                                      "text/plain", ""};
constexpr const char* kAccepts[] = {
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/vnd.kubernetes.protobuf",
    "application/yaml",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "*/*;q=x",
    "image/png"};
constexpr const char* kPointers[] = {"/metadata/labels",
                                     "/metadata/labels/a",
                                     "/metadata/name",
                                     "/metadata/finalizers",
                                     "/metadata/finalizers/-",
                                     "/metadata/annotations/x~1y",
                                     "/metadata/resourceVersion",
                                     "/spec",
                                     "/spec/n",
                                     "/spec/l/-",
                                     "/spec/l/0/k",
                                     "/spec/containers/0/image",
                                     "/spec/replicas",
                                     "/spec/taints/0",
                                     "/status/conditions/0",
                                     "/status",
                                     "/data/a",
                                     "/a~2/01/-1",
                                     "/kind",
                                     ""};
constexpr const char* kOps[] = {"add", "replace", "remove", "test", "move", "copy", "?"};

Value RandomValue(Choices& in, int depth) {
  switch (in.Below(depth > 4 ? 5 : 9)) {
    case 0:
      return Value(in.Pick(kTexts));
    case 1:
      return Value(in.Below(2) == 0);
    case 2:
      return Value(in.Pick(kNumbers));
    case 3:
      return Value(in.Below(256) / 7.0);
    case 4:
      return Value();
    case 5:
    case 6: {
      Value list = Value::MakeArray();
      for (unsigned i = in.Below(4); i > 0; --i) list.Append(RandomValue(in, depth + 1));
      return list;
    }
    default: {
      Value object = Value::MakeObject();
      for (unsigned i = in.Below(5); i > 0; --i) {
        const char* const key = in.Pick(kKeys);
        object.Set(key, RandomValue(in, depth + 1));
      }
      return object;
    }
  }
}

// Another value of the same type, or of any.
Value Similar(Choices& in, const Value& value) {
  if (in.OneIn(3)) return RandomValue(in, 1);
  switch (value.kind()) {
    case Value::Kind::kString:
      return Value(in.Pick(kTexts));
    case Value::Kind::kBool:
      return Value(!value.as_bool());
    case Value::Kind::kInt:
      return Value(in.Pick(kNumbers));
    default:
      return value;
  }
}

// Changes one place somewhere in a value.
void Spoil(Choices& in, Value& value) {
  Value* at = &value;
  for (unsigned steps = in.Below(7); steps > 0; --steps) {
    if (at->is_object() && at->size() > 0) {
      at = &at->as_object()[in.Below(static_cast<unsigned>(at->size()))].value;
    } else if (at->is_array() && at->size() > 0) {
      at = &at->as_array()[in.Below(static_cast<unsigned>(at->size()))];
    } else {
      break;
    }
  }
  if (at->is_object() && in.Below(2) == 0) {
    const char* const key = in.Pick(kKeys);
    at->Set(key, RandomValue(in, 1));
  } else if (at->is_object() && at->size() > 0 && in.Below(2) == 0) {
    at->Remove(std::string(at->as_object()[in.Below(static_cast<unsigned>(at->size()))].key));
  } else if (at->is_array() && in.Below(3) != 0) {
    at->Append(at->size() > 0 && in.Below(2) == 0 ? Value(at->as_array()[0]) : RandomValue(in, 2));
  } else {
    *at = Similar(in, *at);
  }
}

const Value& BodyOf(const Place& place) {
  static const std::vector<Value>* const bodies = [] {
    auto* all = new std::vector<Value>();
    for (const Place& p : kPlaces) all->push_back(*apis::json::Parse(p.body));
    return all;
  }();
  return (*bodies)[static_cast<size_t>(&place - kPlaces)];
}

// An object of the place, valid or nearly.
Value ObjectOf(Choices& in, const Place& place, absl::string_view name) {
  Value object = BodyOf(place);
  Value& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Value::MakeObject();
  if (metadata.GetString("name").empty() || in.OneIn(6)) metadata.Set("name", name);
  for (unsigned i = in.Below(4); i > 1; --i) Spoil(in, object);
  return object;
}

// Where something stands in the place's objects, and what.
std::pair<std::string, Value> PointerInto(Choices& in, const Place& place) {
  const Value* at = &BodyOf(place);
  std::string pointer;
  for (unsigned steps = 1 + in.Below(6); steps > 0; --steps) {
    if (at->is_object() && at->size() > 0) {
      const Member& m = at->as_object()[in.Below(static_cast<unsigned>(at->size()))];
      absl::StrAppend(&pointer, "/", m.key);
      at = &m.value;
    } else if (at->is_array() && at->size() > 0) {
      const unsigned i = in.Below(static_cast<unsigned>(at->size()));
      absl::StrAppend(&pointer, "/", in.OneIn(4) ? std::string("-") : absl::StrCat(i));
      at = &at->as_array()[i];
    } else {
      break;
    }
  }
  return {std::move(pointer), *at};
}

Value JsonPatch(Choices& in, const Place& place) {
  if (in.OneIn(20)) return RandomValue(in, 0);
  Value patch = Value::MakeArray();
  for (unsigned i = 1 + in.Below(3); i > 0; --i) {
    auto [path, value] = PointerInto(in, place);
    if (in.OneIn(3)) path = in.Pick(kPointers);
    if (in.OneIn(3)) value = Similar(in, value);
    Value op = Value::MakeObject({{"op", in.Pick(kOps)}, {"path", path}});
    if (!in.OneIn(8)) op.Set("value", std::move(value));
    if (!in.OneIn(8)) op.Set("from", PointerInto(in, place).first);
    patch.Append(std::move(op));
  }
  return patch;
}

// Part of an object, with the directives of strategic merge now and then.
Value MergePatch(Choices& in, const Place& place, absl::string_view name) {
  Value patch = ObjectOf(in, place, name);
  if (in.Below(2) == 0) {
    patch = Value::MakeObject({{"spec", patch.At("spec")}, {"status", patch.At("status")}});
    Spoil(in, patch);
  }
  return in.OneIn(20) ? RandomValue(in, 0) : patch;
}

Value SubBody(Choices& in, absl::string_view sub, const Place& place, absl::string_view name) {
  Value body;
  if (sub == "/binding") {
    body = Value::MakeObject(
        {{"apiVersion", "v1"},
         {"kind", "Binding"},
         {"metadata", Value::MakeObject({{"name", name}})},
         {"target", Value::MakeObject({{"kind", "Node"}, {"name", in.Pick(kNames)}})}});
  } else if (sub == "/eviction") {
    body = Value::MakeObject({{"apiVersion", "policy/v1"},
                              {"kind", "Eviction"},
                              {"metadata", Value::MakeObject({{"name", name}})}});
  } else if (sub == "/scale") {
    body = Value::MakeObject({{"apiVersion", "autoscaling/v1"},
                              {"kind", "Scale"},
                              {"metadata", Value::MakeObject({{"name", name}})},
                              {"spec", Value::MakeObject({{"replicas", in.Pick(kNumbers)}})}});
  } else {
    return ObjectOf(in, place, name);
  }
  if (in.OneIn(3)) Spoil(in, body);
  return body;
}

Value DeleteOptions(Choices& in) {
  Value body = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  constexpr const char* kPolicies[] = {"Background", "Foreground", "Orphan", "x"};
  body.Set("propagationPolicy", in.Pick(kPolicies));
  if (in.OneIn(3)) body.Set("gracePeriodSeconds", in.Pick(kNumbers));
  if (in.OneIn(3)) Spoil(in, body);
  return body;
}

// Something that is no document at all, or only nearly.
void BreakBody(Choices& in, std::string& body) {
  switch (in.Below(5)) {
    case 0:
      body.resize(body.size() / 2);
      return;
    case 1:
      if (!body.empty()) body[in.Below(256) % body.size()] = static_cast<char>(in.Below(256));
      return;
    case 2:
      body = std::string(1 + 20 * in.Below(256), "[{\"-"[in.Below(4)]);
      return;
    case 3:
      body = absl::StrCat("k8s", std::string(1, '\0'), body);  // as protobuf begins
      return;
    default:
      body = absl::StrCat("a: &x [*x, ", body, "]\n---\n");
  }
}

}  // namespace

http::Request RandomRequest(Choices& in) {
  const Place& place = in.Pick(kPlaces);
  const absl::string_view name = in.Pick(kNames);
  http::Request request;
  request.method = in.OneIn(20) ? in.Pick(kRareMethods) : in.Pick(kMethods);
  absl::string_view sub = "";
  std::string path = in.OneIn(24) ? in.Pick(kOtherPaths) : place.path;
  if (request.method != "POST" || in.OneIn(10)) {
    if (in.OneIn(5)) sub = in.Pick(kSubs);
    if (!in.OneIn(30)) absl::StrAppend(&path, "/", name, sub);
  }
  request.target = path;
  char mark = '?';
  for (unsigned i = in.Below(7); i > 4; --i) {
    absl::StrAppend(&request.target, std::string(1, mark), in.Pick(kQueries));
    mark = '&';
  }
  if (in.OneIn(12)) request.headers.Set("Accept", in.Pick(kAccepts));
  if (in.OneIn(15)) request.headers.Set("User-Agent", "fuzz/1");
  if (request.method == "PATCH") {
    absl::string_view type = in.Pick(kPatchTypes);
    if (in.OneIn(40)) type = in.Pick(kBodyTypes);
    if (type == "application/apply-patch+yaml" && !in.OneIn(8)) {
      absl::StrAppend(&request.target, std::string(1, mark), "fieldManager=f");
    }
    request.headers.Set("Content-Type", type);
    request.body = apis::json::Dump(
        type == "application/json-patch+json" ? JsonPatch(in, place) : MergePatch(in, place, name));
  } else if (request.method == "POST" || request.method == "PUT") {
    request.headers.Set("Content-Type", in.OneIn(8) ? in.Pick(kBodyTypes) : "application/json");
    request.body = apis::json::Dump(SubBody(in, sub, place, name));
  } else if (request.method == "DELETE" && in.OneIn(2)) {
    request.headers.Set("Content-Type", "application/json");
    request.body = apis::json::Dump(DeleteOptions(in));
  }
  if (in.OneIn(30)) BreakBody(in, request.body);
  return request;
}

}  // namespace hekla::fuzz
