#include "pkg/ray/controllers/common/event_sink.h"

namespace hekla::ray::controllers {

void RecorderSink::Emit(const apis::json::Value& regarding, const EventNote& event) {
  const apis::json::Value& metadata = regarding.At("metadata");
  apis::core::ObjectReference reference;
  reference.api_version = std::string(regarding.GetString("apiVersion"));
  reference.kind = std::string(regarding.GetString("kind"));
  reference.ns = std::string(metadata.GetString("namespace"));
  reference.name = std::string(metadata.GetString("name"));
  reference.uid = std::string(metadata.GetString("uid"));
  reference.resource_version = std::string(metadata.GetString("resourceVersion"));
  recorder_->RecordAction(reference, nullptr, event.type, event.reason, event.action, event.note);
}

}  // namespace hekla::ray::controllers
