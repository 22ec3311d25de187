#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/kube/event_recorder.h"

namespace hekla::cache::testing {

// Keeps events as "Kind ns/name Type Reason: message".
class FakeRecorder final : public kube::EventRecorder {
 public:
  void Record(const apis::core::ObjectReference& object, absl::string_view type,
              absl::string_view reason, absl::string_view message,
              const apis::meta::StringMap&) override {
    events.push_back(absl::StrCat(object.kind, " ", apis::meta::ObjectKey(object.ns, object.name),
                                  " ", type, " ", reason, ": ", message));
  }
  std::vector<std::string> events;
};

}  // namespace hekla::cache::testing
