// Replays recorded answers of a real server against this one, in process and under a fake clock.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/apiserver/testing/test_server.h"
#include "pkg/util/testing/shared_folder.h"

namespace hekla::apiserver {
namespace {

using apis::json::Member;
using apis::json::Value;
using testing::TestServer;

// Steps whose body differs for a reason; see docs/user/differences.md.
const std::set<std::string> kListed = {
    // The address of the server.
    "discovery 0",
    // The text carries a diff of Go structures.
    "pod-update 4",
    // The recorded server refused WatchList for want of an etcd feature.
    "watch 4",
};

std::string Replace(std::string text, const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables) {
    text = absl::StrReplaceAll(text, {{absl::StrCat("${", name, "}"), value}});
  }
  return text;
}

// Values that vary between runs, replaced as in the recordings.
Value Normal(const Value& value) {
  static const std::set<std::string> kVarying = {"uid",
                                                 "creationTimestamp",
                                                 "resourceVersion",
                                                 "selfLink",
                                                 "lastTransitionTime",
                                                 "deletionTimestamp",
                                                 "transitionTime",
                                                 "acquireTime",
                                                 "renewTime"};
  static const std::regex kUid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  static const std::regex kAge("(<invalid>|[0-9]+(ms|s|m|h|d)([0-9]+s|[0-9]+m|[0-9]+h)?)( ago)?");
  if (value.is_string()) {
    if (std::regex_match(value.as_string(), kAge)) return Value("<age>");
    return Value(std::regex_replace(value.as_string(), kUid, "<uid>"));
  }
  if (value.is_array()) {
    Value out = Value::MakeArray();
    for (const Value& item : value.as_array()) out.Append(Normal(item));
    return out;
  }
  if (!value.is_object()) return value;
  Value out = Value::MakeObject();
  for (const Member& m : value.as_object()) {
    if (m.key == "managedFields") continue;
    out.Set(m.key, kVarying.contains(m.key) ? Value("<set>") : Normal(m.value));
  }
  return out;
}

class Replay {
 public:
  Replay() : server_(MakeOptions()) {
    const absl::Status loaded = shipped::LoadCrds(*server_.server);
    EXPECT_TRUE(loaded.ok()) << loaded;
  }

  void Group(const std::string& name, const Value& steps) {
    std::map<std::string, std::string> variables;
    std::vector<std::pair<int, std::shared_ptr<testing::RecordingStream>>> watches;
    for (size_t i = 0; i < steps.size(); ++i) {
      const Value& step = steps.as_array()[i];
      if (step.Has("sleep")) {
        server_.Advance(absl::Seconds(step.GetInt("sleep")));
        continue;
      }
      ++total_;
      const std::string path = Replace(std::string(step.GetString("p")), variables);
      if (step.Has("bg")) {
        watches.emplace_back(static_cast<int>(i), server_.Watch(path));
        continue;
      }
      const TestServer::Reply reply = Send(step, path, variables);
      if (const Value* save = step.Find("save"); save != nullptr && save->is_object()) {
        for (const Member& m : save->as_object()) {
          const Value* at = &reply.body;
          std::stringstream parts(m.value.as_string());
          for (std::string part; std::getline(parts, part, '.');) at = &at->At(part);
          variables[m.key] = at->is_string() ? at->as_string() : "";
        }
      }
      const std::string id = absl::StrCat(name, " ", i);
      if (reply.status != step.GetInt("status")) {
        ADD_FAILURE() << id << ": status " << reply.status << " instead of "
                      << step.GetInt("status") << " " << reply.text;
      } else if (const Value* body = step.Find("body")) {
        Compare(id, *body, reply.body.is_null() ? Value(reply.text) : Normal(reply.body));
      } else {
        ++equal_;
      }
    }
    server_.Advance(absl::Seconds(10));
    for (auto& [i, stream] : watches) {
      Value events = Value::MakeArray();
      for (const Value& event : stream->TakeEvents()) events.Append(Normal(event));
      Compare(absl::StrCat(name, " ", i), steps.as_array()[i].At("events"), events);
    }
  }

  int total() const { return total_; }
  int equal() const { return equal_; }

 private:
  static Options MakeOptions() {
    Options options;
    options.tokens = {"tok"};
    return options;
  }

  TestServer::Reply Send(const Value& step, const std::string& path,
                         const std::map<std::string, std::string>& variables) {
    http::Request request;
    request.method = std::string(step.GetString("m"));
    request.target = path;
    request.headers.Set("Authorization", "Bearer tok");
    request.headers.Set("Accept", "application/json");
    if (const Value* body = step.Find("b"); body != nullptr && !body->is_null()) {
      request.body =
          Replace(body->is_string() ? body->as_string() : apis::json::Dump(*body), variables);
      request.headers.Set("Content-Type", "application/json");
    }
    if (const Value& headers = step.At("h"); headers.is_object()) {
      for (const Member& m : headers.as_object()) {
        if (m.value.is_string()) request.headers.Set(m.key, m.value.as_string());
      }
    }
    return server_.Send(std::move(request));
  }

  void Compare(const std::string& id, const Value& want, const Value& got) {
    if (want == got) {
      ++equal_;
      EXPECT_FALSE(kListed.contains(id)) << id << " is listed as different and is not";
      return;
    }
    EXPECT_TRUE(kListed.contains(id))
        << id << "\n want " << apis::json::Dump(want) << "\n got  " << apis::json::Dump(got);
  }

  TestServer server_;
  int total_ = 0;
  int equal_ = 0;
};

TEST(TranscriptsTest, AnswersAreThoseOfARealServer) {
  const std::filesystem::path path =
      util::testing::SharedFolder() / "cases/apiserver/transcripts.json";
  std::ifstream file(path);
  if (!file) {
    std::cout << "recordings are absent: " << path.string() << "\n";
    return;
  }
  std::stringstream text;
  text << file.rdbuf();
  const auto groups = apis::json::Parse(text.str());
  ASSERT_TRUE(groups.ok()) << groups.status();
  Replay replay;
  for (const Member& group : groups->as_object()) replay.Group(group.key, group.value);
  std::cout << "steps=" << replay.total() << " body_equal=" << replay.equal() << "\n";
  EXPECT_GE(replay.equal(), replay.total() - static_cast<int>(kListed.size()));
}

}  // namespace
}  // namespace hekla::apiserver
