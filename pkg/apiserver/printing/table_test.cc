#include "pkg/apiserver/printing/table.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "pkg/apiserver/printing/columns.h"
#include "pkg/util/testing/shared_folder.h"

namespace hekla::apiserver::printing {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

Value J(absl::string_view text) {
  auto value = Parse(text);
  EXPECT_TRUE(value.ok()) << text << value.status();
  return value.ok() ? *value : Value();
}

absl::Time Now() {
  return absl::FromCivil(absl::CivilSecond(2026, 1, 2, 0, 0, 0), absl::UTCTimeZone());
}

// Spec kube-machinery, worked example 22.
TEST(AgeTest, HumanDurations) {
  const struct {
    int64_t seconds;
    const char* text;
  } cases[] = {{-2, "<invalid>"},
               {-1, "0s"},
               {0, "0s"},
               {119, "119s"},
               {120, "2m"},
               {130, "2m10s"},
               {599, "9m59s"},
               {600, "10m"},
               {179 * 60, "179m"},
               {180 * 60, "3h"},
               {7 * 3600 + 59 * 60, "7h59m"},
               {8 * 3600 + 1800, "8h"},
               {47 * 3600, "47h"},
               {48 * 3600, "2d"},
               {49 * 3600, "2d1h"},
               {8 * 86400, "8d"},
               {729 * 86400, "729d"},
               {730 * 86400, "2y"},
               {731 * 86400, "2y1d"},
               {8 * 365 * 86400LL, "8y"}};
  for (const auto& c : cases) EXPECT_EQ(HumanDuration(absl::Seconds(c.seconds)), c.text);
  EXPECT_EQ(AgeOf("", Now()), "<unknown>");
  EXPECT_EQ(AgeOf("2026-01-01T23:58:00Z", Now()), "2m");
  EXPECT_EQ(AgeOf("2026-01-01T23:59:59.500000Z", Now()), "0s");
}

std::string Cells(absl::string_view group, absl::string_view kind, absl::string_view object) {
  return Dump(BuiltInPrinter(group, kind).Cells(J(object), Now()));
}

TEST(PodCellsTest, StatusTexts) {
  const struct {
    const char* name;
    const char* pod;
    const char* cells;  // Ready, Status, Restarts
  } cases[] = {
      {"pending", R"js({"spec":{"containers":[{}]},"status":{"phase":"Pending"}})js",
       R"js(["0/1","Pending","0"])js"},
      {"reason",
       R"js({"spec":{"containers":[{}]},"status":{"phase":"Failed","reason":"Evicted"}})js",
       R"js(["0/1","Evicted","0"])js"},
      {"gated", R"js({"spec":{"containers":[{}]},"status":{"phase":"Pending","conditions":[
          {"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}})js",
       R"js(["0/1","SchedulingGated","0"])js"},
      {"running", R"js({"spec":{"containers":[{},{}]},"status":{"phase":"Running",
          "containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}}},
          {"ready":false,"restartCount":1,"state":{"running":{}}}]}})js",
       R"js(["1/2","Running","3"])js"},
      {"restarted", R"js({"spec":{"containers":[{}]},"status":{"phase":"Running",
          "containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}},
          "lastState":{"terminated":{"finishedAt":"2026-01-01T22:00:00Z"}}}]}})js",
       R"js(["1/1","Running","2 (120m ago)"])js"},
      {"waiting", R"js({"spec":{"containers":[{}]},"status":{"phase":"Pending",
          "containerStatuses":[{"state":{"waiting":{"reason":"ContainerCreating"}}}]}})js",
       R"js(["0/1","ContainerCreating","0"])js"},
      {"completed", R"js({"spec":{"containers":[{}]},"status":{"phase":"Succeeded",
          "containerStatuses":[{"state":{"terminated":{"reason":"Completed","exitCode":0}}}]}})js",
       R"js(["0/1","Completed","0"])js"},
      {"exit code", R"js({"spec":{"containers":[{}]},"status":{"phase":"Failed",
          "containerStatuses":[{"state":{"terminated":{"exitCode":3}}}]}})js",
       R"js(["0/1","ExitCode:3","0"])js"},
      {"signal", R"js({"spec":{"containers":[{}]},"status":{"phase":"Failed",
          "containerStatuses":[{"state":{"terminated":{"signal":9,"exitCode":137}}}]}})js",
       R"js(["0/1","Signal:9","0"])js"},
      {"one ended, one runs, ready",
       R"js({"spec":{"containers":[{},{}]},"status":{"phase":"Running",
          "conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
          {"state":{"terminated":{"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]}})js",
       R"js(["1/2","Running","0"])js"},
      {"one ended, one runs, not ready",
       R"js({"spec":{"containers":[{},{}]},"status":{"phase":"Running","containerStatuses":[
          {"state":{"terminated":{"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]}})js",
       R"js(["1/2","NotReady","0"])js"},
      {"init waits", R"js({"spec":{"containers":[{}],"initContainers":[{"name":"a"},{"name":"b"}]},
          "status":{"phase":"Pending","initContainerStatuses":[
          {"name":"a","state":{"terminated":{"exitCode":0}}},
          {"name":"b","state":{"waiting":{"reason":"PodInitializing"}}}]}})js",
       R"js(["0/1","Init:1/2","0"])js"},
      {"init fails", R"js({"spec":{"containers":[{}],"initContainers":[{"name":"a"}]},
          "status":{"phase":"Pending","initContainerStatuses":[
          {"name":"a","restartCount":4,"state":{"terminated":{"exitCode":2}}}]}})js",
       R"js(["0/1","Init:ExitCode:2","4"])js"},
      {"init cannot pull", R"js({"spec":{"containers":[{}],"initContainers":[{"name":"a"}]},
          "status":{"phase":"Pending","initContainerStatuses":[
          {"name":"a","state":{"waiting":{"reason":"ErrImagePull"}}}]}})js",
       R"js(["0/1","Init:ErrImagePull","0"])js"},
      {"sidecar", R"js({"spec":{"containers":[{}],"initContainers":[
          {"name":"s","restartPolicy":"Always"}]},"status":{"phase":"Running",
          "initContainerStatuses":[{"name":"s","ready":true,"started":true,"restartCount":1,
          "state":{"running":{}}}],"containerStatuses":[{"ready":true,"state":{"running":{}}}]}})js",
       R"js(["2/2","Running","1"])js"},
      {"terminating", R"js({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},
          "spec":{"containers":[{}]},"status":{"phase":"Running"}})js",
       R"js(["0/1","Terminating","0"])js"},
      {"lost node", R"js({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},
          "spec":{"containers":[{}]},"status":{"phase":"Running","reason":"NodeLost"}})js",
       R"js(["0/1","Unknown","0"])js"},
      {"ended and deleted", R"js({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},
          "spec":{"containers":[{}]},"status":{"phase":"Succeeded"}})js",
       R"js(["0/1","Succeeded","0"])js"},
  };
  for (const auto& c : cases) {
    const Value cells = BuiltInPrinter("", "Pod").Cells(J(c.pod), Now());
    const auto& all = cells.as_array();
    ASSERT_EQ(all.size(), 9u);
    EXPECT_EQ(Dump(Value::MakeArray({all[1], all[2], all[3]})), c.cells) << c.name;
  }
}

TEST(PodCellsTest, WideCellsAndConditions) {
  EXPECT_EQ(
      Cells("", "Pod", R"js({"metadata":{"name":"p","creationTimestamp":"2026-01-01T00:00:00Z"},
      "spec":{"containers":[{}],"nodeName":"n","readinessGates":[{"conditionType":"g"},
      {"conditionType":"h"}]},"status":{"phase":"Running","podIPs":[{"ip":"10.0.0.1"}],
      "nominatedNodeName":"m","conditions":[{"type":"g","status":"True"}]}})js"),
      R"js(["p","0/1","Running","0","24h","10.0.0.1","n","m","1/2"])js");
  const Printer& printer = BuiltInPrinter("", "Pod");
  EXPECT_EQ(printer.Conditions(J(R"js({"status":{"phase":"Running"}})js")), Value());
  EXPECT_EQ(printer.Conditions(J(R"js({"status":{"phase":"Failed"}})js")),
            J(R"js([{"type":"Completed","status":"True","reason":"Failed",
                   "message":"The pod failed."}])js"));
}

TEST(CellsTest, NodesEventsServicesVolumes) {
  const struct {
    const char* group;
    const char* kind;
    const char* object;
    const char* cells;
  } cases[] = {
      {"", "Node", R"js({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/worker":"",
          "node-role.kubernetes.io/control-plane":"","kubernetes.io/role":"x"}},
          "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"False"}],
          "addresses":[{"type":"InternalIP","address":"10.1.1.1"}],
          "nodeInfo":{"kubeletVersion":"v1","kernelVersion":"6.1","architecture":"amd64"}}})js",
       R"js(["n","NotReady,SchedulingDisabled","control-plane,worker,x","<unknown>","v1","10.1.1.1",)js"
       R"js("<none>","<unknown>","6.1 (amd64)","<unknown>"])js"},
      {"", "Event", R"js({"metadata":{"name":"e"},"type":"Warning","reason":"R","message":" m ",
          "count":3,"firstTimestamp":"2026-01-01T23:00:00Z","lastTimestamp":"2026-01-01T23:59:00Z",
          "involvedObject":{"kind":"Pod","name":"p"},"source":{"component":"volcano"}})js",
       R"js(["60s","Warning","R","pod/p","","volcano","m","60m",3,"e"])js"},
      {"events.k8s.io", "Event", R"js({"metadata":{"name":"e"},"type":"Normal","reason":"R",
          "note":"n","eventTime":"2026-01-01T23:59:00.000000Z","regarding":{"kind":"RayCluster"},
          "reportingController":"c","reportingInstance":"i",
          "series":{"count":5,"lastObservedTime":"2026-01-01T23:59:30.000000Z"}})js",
       R"js(["30s","Normal","R","raycluster","","c, i","n","60s",5,"e"])js"},
      {"", "Service",
       R"js({"metadata":{"name":"s"},"spec":{"type":"NodePort","clusterIPs":["1.2.3.4"],
          "ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],
          "selector":{"b":"2","a":"1"}}})js",
       R"js(["s","NodePort","1.2.3.4","<none>","80:30080/TCP,53/UDP","<unknown>","a=1,b=2"])js"},
      {"", "Service", R"js({"metadata":{"name":"s"},"spec":{"type":"LoadBalancer"}})js",
       R"js(["s","LoadBalancer","<none>","<pending>","<none>","<unknown>","<none>"])js"},
      {"", "Secret", R"js({"metadata":{"name":"s"},"type":"Opaque","data":{"a":"","b":""}})js",
       R"js(["s","Opaque",2,"<unknown>"])js"},
      {"", "ConfigMap", R"js({"metadata":{"name":"c"},"data":{"a":"1"},"binaryData":{"b":""}})js",
       R"js(["c",2,"<unknown>"])js"},
      {"", "PersistentVolume", R"js({"metadata":{"name":"pv"},"spec":{"capacity":{"storage":"5Gi"},
          "accessModes":["ReadOnlyMany","ReadWriteOnce"],"claimRef":{"namespace":"d","name":"c"},
          "persistentVolumeReclaimPolicy":"Retain","storageClassName":"fast",
          "volumeMode":"Filesystem"},"status":{"phase":"Bound"}})js",
       R"js(["pv","5Gi","RWO,ROX","Retain","Bound","d/c","fast","<unset>","","<unknown>",)js"
       R"js("Filesystem"])js"},
      {"", "PersistentVolumeClaim", R"js({"metadata":{"name":"c"},"spec":{"volumeName":"pv",
          "storageClassName":"fast"},"status":{"phase":"Bound","capacity":{"storage":"5Gi"},
          "accessModes":["ReadWriteOnce"]}})js",
       R"js(["c","Bound","pv","5Gi","RWO","fast","<unset>","<unknown>","<unset>"])js"},
      {"storage.k8s.io", "StorageClass", R"js({"metadata":{"name":"sc","annotations":
          {"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p"})js",
       R"js(["sc (default)","p","Delete","Immediate",false,"<unknown>"])js"},
  };
  for (const auto& c : cases) EXPECT_EQ(Cells(c.group, c.kind, c.object), c.cells) << c.kind;
}

TEST(CellsTest, WorkloadsAndTheRest) {
  const struct {
    const char* group;
    const char* kind;
    const char* object;
    const char* cells;
  } cases[] = {
      {"batch", "Job", R"js({"metadata":{"name":"j"},"spec":{"completions":3,
          "selector":{"matchLabels":{"a":"1"}},
          "template":{"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"k"}]}}},
          "status":{"succeeded":1,"startTime":"2026-01-01T23:59:00Z"}})js",
       R"js(["j","Running","1/3","60s","<unknown>","c,d","i,k","a=1"])js"},
      {"apps", "Deployment", R"js({"metadata":{"name":"d"},"spec":{"replicas":3,"selector":
          {"matchExpressions":[{"key":"z","operator":"In","values":["b","a"]}]}},
          "status":{"readyReplicas":1,"updatedReplicas":2,"availableReplicas":1}})js",
       R"js(["d","1/3",2,1,"<unknown>","","","z in (a,b)"])js"},
      {"apps", "ReplicaSet", R"js({"metadata":{"name":"r"},"spec":{"replicas":2},
          "status":{"replicas":2,"readyReplicas":1}})js",
       R"js(["r",2,2,1,"<unknown>","","","<none>"])js"},
      {"policy", "PodDisruptionBudget", R"js({"metadata":{"name":"b"},"spec":{"minAvailable":"50%"},
          "status":{"disruptionsAllowed":1}})js",
       R"js(["b","50%","N/A",1,"<unknown>"])js"},
      {"coordination.k8s.io", "Lease", R"js({"metadata":{"name":"l"},
          "spec":{"holderIdentity":"me"}})js",
       R"js(["l","me","<unknown>"])js"},
      {"scheduling.k8s.io", "PriorityClass", R"js({"metadata":{"name":"p"},"value":7,
          "preemptionPolicy":"Never"})js",
       R"js(["p",7,false,"<unknown>","Never"])js"},
      {"", "ResourceQuota",
       R"js({"metadata":{"name":"q"},"status":{"hard":{"pods":"2","limits.cpu":"4",
          "cpu":"1"},"used":{"pods":"1"}}})js",
       R"js(["q","cpu: 0/1, pods: 1/2","limits.cpu: 0/4","<unknown>"])js"},
      {"discovery.k8s.io", "EndpointSlice", R"js({"metadata":{"name":"e"},"addressType":"IPv4",
          "ports":[{"port":80}],"endpoints":[{"addresses":["1.1.1.1"]},{"addresses":["1.1.1.2"]},
          {"addresses":["1.1.1.3"]},{"addresses":["1.1.1.4"]}]})js",
       R"js(["e","IPv4","80","1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...","<unknown>"])js"},
      {"rbac.authorization.k8s.io", "Role", R"js({"metadata":{"name":"r",
          "creationTimestamp":"2026-01-01T00:00:00Z"}})js",
       R"js(["r","2026-01-01T00:00:00Z"])js"},
  };
  for (const auto& c : cases) EXPECT_EQ(Cells(c.group, c.kind, c.object), c.cells) << c.kind;
}

TEST(TableTest, EveryKindHasOneCellPerColumn) {
  EXPECT_GT(internal::AllColumns().size(), 40u);
  for (const auto& [name, columns] : internal::AllColumns()) {
    const size_t slash = name.rfind('/');
    const Printer& printer = BuiltInPrinter(name.substr(0, slash), name.substr(slash + 1));
    EXPECT_EQ(printer.columns().size(), columns.size());
    EXPECT_EQ(printer.Cells(J("{}"), Now()).size(), columns.size()) << name;
  }
}

TEST(TableTest, ShapeOfTheAnswer) {
  const Value a = J(R"js({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"},
                        "status":{"phase":"Active"}})js");
  const Value* objects[] = {&a};
  TableOptions options;
  options.now = Now();
  Value table = MakeTable(BuiltInPrinter("", "Namespace"), objects,
                          J(R"js({"resourceVersion":"7"})js"), options);
  EXPECT_EQ(table.GetString("kind"), "Table");
  EXPECT_EQ(table.At("metadata").GetString("resourceVersion"), "7");
  EXPECT_EQ(table.At("columnDefinitions").size(), 3u);
  EXPECT_EQ(table.At("rows"),
            J(R"js([{"cells":["a","Active","<unknown>"],"object":{"kind":"PartialObjectMetadata",
                   "apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}}])js"));
  options.include_object = IncludeObject::kNone;
  options.column_definitions = false;
  table = MakeTable(BuiltInPrinter("", "Namespace"), objects, Value::MakeObject(), options);
  EXPECT_EQ(table.At("rows"), J(R"js([{"cells":["a","Active","<unknown>"],"object":null}])js"));
  EXPECT_TRUE(table.At("columnDefinitions").is_null());
  options.include_object = IncludeObject::kObject;
  table = MakeTable(BuiltInPrinter("", "Namespace"), objects, Value::MakeObject(), options);
  EXPECT_EQ(table.At("rows").as_array()[0].At("object"), a);
  IncludeObject include;
  EXPECT_TRUE(ParseIncludeObject("", include));
  EXPECT_EQ(include, IncludeObject::kMetadata);
  EXPECT_FALSE(ParseIncludeObject("All", include));
}

TEST(CustomPrinterTest, ColumnsByJsonPath) {
  const auto printer = MakeCustomPrinter(J(R"js([
      {"name":"STATUS","type":"string","jsonPath":".status.phase"},
      {"name":"minMember","type":"integer","jsonPath":".spec.minMember","description":"d"},
      {"name":"ok","type":"boolean","jsonPath":".spec.ok"},
      {"name":"AGE","type":"date","jsonPath":".metadata.creationTimestamp"},
      {"name":"bad","type":"date","jsonPath":".spec.minMember2"},
      {"name":"QUEUE","type":"string","jsonPath":".spec.queue","priority":1}])js"));
  ASSERT_EQ(printer->columns().size(), 7u);
  EXPECT_EQ(printer->columns()[1].description,
            "Custom resource definition column (in JSONPath format): .status.phase");
  EXPECT_EQ(printer->columns()[2].description, "d");
  EXPECT_EQ(printer->columns()[6].priority, 1);
  EXPECT_EQ(Dump(printer->Cells(J(R"js({"metadata":{"name":"g",
      "creationTimestamp":"2026-01-01T23:59:00Z"},"spec":{"minMember":3,"ok":true,
      "minMember2":"x","queue":"q"}})js"),
                                Now())),
            R"js(["g",null,3,true,"60s","<invalid>","q"])js");
  const auto plain = MakeCustomPrinter(Value());
  EXPECT_EQ(Dump(plain->Cells(J(R"js({"metadata":{"name":"g"}})js"), Now())), R"js(["g",null])js");
  EXPECT_EQ(plain->columns()[1].name, "Age");
}

// The column definitions that a real server answered.
TEST(TableTest, RecordedColumnDefinitionsAreEqual) {
  std::ifstream file(util::testing::SharedFolder() / "cases/apiserver/transcripts.json");
  if (!file) {
    std::cout << "recorded transcripts are not present\n";
    return;
  }
  const Value groups =
      J(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
  const std::map<std::string, std::pair<const char*, const char*>> kinds = {
      {"/pods", {"", "Pod"}},
      {"/nodes/ta-n1", {"", "Node"}},
      {"/namespaces/ta", {"", "Namespace"}},
      {"/priorityclasses/system-node-critical", {"scheduling.k8s.io", "PriorityClass"}}};
  std::set<std::string> seen;
  for (const auto& group : groups.as_object()) {
    for (const Value& step : group.value.as_array()) {
      if (step.At("body").GetString("kind") != "Table") continue;
      const std::string path(step.GetString("p"));
      for (const auto& [suffix, kind] : kinds) {
        if (path.size() < suffix.size() ||
            path.compare(path.size() - suffix.size(), suffix.size(), suffix) != 0) {
          continue;
        }
        seen.insert(suffix);
        TableOptions options;
        options.now = Now();
        const Value table =
            MakeTable(BuiltInPrinter(kind.first, kind.second), {}, Value::MakeObject(), options);
        EXPECT_EQ(table.At("columnDefinitions"), step.At("body").At("columnDefinitions")) << path;
      }
    }
  }
  EXPECT_EQ(seen.size(), kinds.size());
}

}  // namespace
}  // namespace hekla::apiserver::printing
