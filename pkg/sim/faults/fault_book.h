#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

namespace hekla::sim {

// What can happen to one request or to one piece of a stream.
enum class FaultKind : uint8_t {
  kNone,
  kRefused,        // never reaches the server
  kTooMany,        // 429 without effect
  kServerError,    // 500, 503 or 504 without effect
  kConflict,       // 409 without effect
  kLostAnswer,     // takes effect, and the answer is lost
  kSlow,           // takes longer
  kKillBefore,     // the process dies; the request never leaves
  kKillAfter,      // the request takes effect, and the process dies before it reads the answer
  kStreamRefused,  // a watch ends before its headers
  kStreamGone,     // a watch is answered with 410
  kStreamBroken,   // the connection breaks before the piece is delivered
  kStreamLag,      // the piece and all later ones come later
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  int status = 0;                               // of kServerError
  absl::Duration delay = absl::ZeroDuration();  // of kSlow, kStreamLag
};

// A fault and where it happened: "POST /api/v1/namespaces/ns/pods/p/binding #2" is the second such
// call of the run. Such a name stays the same when other things are left out of the run.
struct PlacedFault {
  std::string place;
  Fault fault;
};

// {"fault":"slow","at":"GET /api/v1/nodes #1","us":120000}
apis::json::Value ToJson(const PlacedFault& placed);
// Errors: kInvalidArgument.
absl::StatusOr<PlacedFault> ParsePlacedFault(const apis::json::Value& value);

// Notes the faults that a run draws, or plays noted ones in their places (then nothing is drawn).
class FaultBook {
 public:
  FaultBook() = default;
  explicit FaultBook(const std::vector<PlacedFault>& faults);

  bool plays() const { return plays_; }
  // The name of the next call of that kind.
  std::string NextPlace(absl::string_view what);
  void Note(std::string place, const Fault& fault);
  // The fault in that place; kNone where there is none.
  Fault At(const std::string& place) const;
  const std::vector<PlacedFault>& noted() const { return noted_; }

 private:
  const bool plays_ = false;
  std::map<std::string, int64_t, std::less<>> counts_;
  std::map<std::string, Fault> script_;
  std::vector<PlacedFault> noted_;
};

}  // namespace hekla::sim
