#include "pkg/ray/controllers/common/event_sink.h"

namespace hekla::ray::controllers {

void RecorderSink::Emit(const apis::json::Value& regarding, const EventNote& event) {
  const apis::json::Value& metadata = regarding.At("metadata");
  kube::SeriesEventRecorder::Occurrence occurrence;
  apis::core::ObjectReference& reference = occurrence.regarding;
  reference.api_version = std::string(regarding.GetString("apiVersion"));
  reference.kind = std::string(regarding.GetString("kind"));
  reference.ns = std::string(metadata.GetString("namespace"));
  reference.name = std::string(metadata.GetString("name"));
  reference.uid = std::string(metadata.GetString("uid"));
  reference.resource_version = std::string(metadata.GetString("resourceVersion"));
  occurrence.type = std::string(event.type);
  occurrence.reason = std::string(event.reason);
  occurrence.action = std::string(event.action);
  occurrence.note = event.note;
  occurrence.count = event.count;
  recorder_->RecordAction(std::move(occurrence));
}

PassEvents::~PassEvents() {
  for (const EventNote& note : notes_) sink_->Emit(*regarding_, note);
}

void PassEvents::Add(EventNote note) {
  for (EventNote& known : notes_) {
    if (known.reason != note.reason || known.action != note.action || known.type != note.type) {
      continue;
    }
    known.count += note.count;
    return;
  }
  notes_.push_back(std::move(note));
}

}  // namespace hekla::ray::controllers
