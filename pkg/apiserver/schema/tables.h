#pragma once

// The tables as text, one line per field:
//
//   kind <apiVersion> <Kind> <form>
//   message <form> [atomic]
//   <protobuf number> <json name> <type>[/<Go name>][mark] [option...]
//   <protobuf number> <form> inline
//   + <more options of the line before>
//
// type:   string bool int32 int64 double bytes time microtime duration quantity intstr any fields
// or
//         the name of a form; in front `[]` for a list, `{}` for a map with string keys.
// mark:   `?` present when given, `!` always present, `~` always present and null when not given;
//         none: left out when empty (see Presence).
// option: merge, merge=KEY, retain, replace (strategic merge); set, map=KEY[,KEY], atomic,
//         default=VALUE (apply).
namespace hekla::apiserver::schema::internal {

extern const char kMetaTable[];
extern const char kPodTable[];
extern const char kVolumeTable[];
extern const char kCoreTable[];
extern const char kWorkloadTable[];
extern const char kMoreTable[];
extern const char kAutoscalingTable[];

}  // namespace hekla::apiserver::schema::internal
