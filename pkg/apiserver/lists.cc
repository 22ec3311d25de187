#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/resources.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr absl::Duration kMinWatch = absl::Seconds(1800);
// How long before its end a watch is sent a last bookmark.
constexpr absl::Duration kLastBookmark = absl::Seconds(2);

absl::StatusOr<int64_t> ParseVersion(const std::string& text) {
  if (text.empty()) return 0;
  uint64_t number;
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || !absl::SimpleAtoi(text, &number) || number > INT64_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("resourceVersion: Invalid value: ", apis::json::Quote(text),
                     ": strconv.ParseUint: parsing ", apis::json::Quote(text),
                     digits ? ": value out of range" : ": invalid syntax"));
  }
  return static_cast<int64_t>(number);
}

// Where the next page begins: the version of the first one and the last key sent.
struct ContinueToken {
  int64_t version = 0;
  std::string start_after;
};

std::string EncodeToken(int64_t version, absl::string_view last_key, absl::string_view prefix) {
  const absl::string_view relative = absl::StripPrefix(last_key, prefix);
  const std::string json = absl::StrCat("{\"v\":\"meta.k8s.io/v1\",\"rv\":", version,
                                        ",\"start\":\"", relative, "\\u0000\"}");
  std::string out;
  absl::WebSafeBase64Escape(json, &out);
  while (!out.empty() && out.back() == '=') out.pop_back();
  return out;
}

absl::StatusOr<ContinueToken> DecodeToken(const std::string& token, absl::string_view prefix) {
  std::string json;
  constexpr char kInvalid[] = "invalid continue token: continue key is not valid: ";
  const size_t odd =
      token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
  if (odd != std::string::npos || !absl::WebSafeBase64Unescape(token, &json)) {
    return BadRequest(absl::StrCat(kInvalid, "illegal base64 data at input byte ",
                                   odd == std::string::npos ? token.size() - 1 : odd));
  }
  const absl::StatusOr<Value> value = apis::json::Parse(json);
  if (!value.ok()) {
    return BadRequest(absl::StrCat(kInvalid, patch::GoSyntaxError(json)));
  }
  if (value->GetString("v") != "meta.k8s.io/v1") {
    return BadRequest(absl::StrCat(kInvalid, "server does not recognize this encoded version ",
                                   value->GetString("v")));
  }
  std::string start(value->GetString("start"));
  if (value->GetInt("rv") == 0) {
    return BadRequest(
        absl::StrCat(kInvalid, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
  }
  if (start.empty()) {
    return BadRequest(absl::StrCat(kInvalid, "encoded start key empty (version meta.k8s.io/v1)"));
  }
  if (absl::StrContains(absl::StrCat("/", start), "/../")) {
    return BadRequest(absl::StrCat(kInvalid, start));
  }
  if (start.back() == '\0') start.pop_back();
  return ContinueToken{value->GetInt("rv"), absl::StrCat(prefix, start)};
}

absl::Status CompactedList(bool continued) {
  return Expired(continued ? "The provided continue parameter is too old to display a consistent "
                             "list result. You must start a new list without the continue "
                             "parameter."
                           : "The resourceVersion for the provided list is too old.");
}

}  // namespace

bool Resources::IsWatch(const Call& call) {
  return call.name.empty() && Flag(call, "watch").value_or(false);
}

absl::StatusOr<Answer> Resources::List(Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(ListParams params, ReadListParams(call));
  const std::string prefix = params.filter.ns.empty() ? "" : params.filter.ns + "/";
  storage::ListQuery query;
  query.filter = params.filter;
  // What the real server answers from its cache comes in one page.
  const bool cached = params.resource_version == "0" && params.continue_token.empty();
  query.limit = cached ? 0 : static_cast<size_t>(params.limit);
  if (!params.continue_token.empty()) {
    HEKLA_ASSIGN_OR_RETURN(ContinueToken token, DecodeToken(params.continue_token, prefix));
    if (!params.resource_version.empty() && params.resource_version != "0") {
      return BadRequest("specifying resource version is not allowed when using continue");
    }
    query.at_version = token.version;
    query.start_after = token.start_after;
  } else if (!params.resource_version.empty()) {
    const absl::StatusOr<int64_t> version = ParseVersion(params.resource_version);
    if (!version.ok()) {
      return BadRequest(absl::StrCat("invalid resource version: ", version.status().message()));
    }
    if (*version > core_.store.version()) {
      return TooLargeResourceVersion(*version, core_.store.version());
    }
    const bool exact = params.version_match == "Exact" ||
                       (params.version_match.empty() && params.limit > 0 && *version > 0);
    if (exact) query.at_version = *version;
  }
  const absl::StatusOr<storage::ListResult> list = core_.store.List(*resource.table, query);
  if (!list.ok()) return CompactedList(!params.continue_token.empty());
  std::string token;
  if (list->more && !list->objects.empty()) {
    token = EncodeToken(list->resource_version, list->objects.back()->key(), prefix);
  }
  return ListAnswer(core_, *list, token, !params.filter.selective(), call);
}

absl::Status Resources::Watch(Call& call, http::Responder& responder) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(ListParams params, ReadListParams(call));
  const absl::StatusOr<int64_t> version = ParseVersion(params.resource_version);
  if (!version.ok()) return UntypedError(version.status().message());

  using Start = storage::Store::WatchStart;
  Start start = *version == 0 ? Start::kState : Start::kFrom;
  if (params.send_initial_events.has_value()) {
    start = *params.send_initial_events ? Start::kStateAndBookmark
            : *version == 0             ? Start::kNow
                                        : Start::kFrom;
    if (start == Start::kStateAndBookmark && *version > core_.store.version()) {
      return TooLargeResourceVersion(*version, core_.store.version());
    }
  }
  if (core_.open_watches->fetch_add(1) >= core_.options.max_watches) {
    core_.open_watches->fetch_sub(1);
    return TooManyRequests("too many watches, please try again later", 1);
  }
  auto watch = std::make_shared<storage::Watch>();
  watch->filter = params.filter;
  watch->transform = WatchTransform(core_, call);
  watch->want_bookmarks = params.bookmarks;
  watch->max_queued_bytes = core_.options.max_queued_watch_bytes;
  const std::string head =
      absl::StrCat("{\"kind\":", apis::json::Quote(resource.kind),
                   ",\"apiVersion\":", apis::json::Quote(resource.api_version()));
  if (params.bookmarks) {
    watch->bookmark = [head](int64_t rv, bool initial_end) {
      return absl::StrCat(
          head, ",\"metadata\":{\"resourceVersion\":\"", rv, "\"",
          initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "", "}}");
    };
  }
  const absl::Time now = core_.Now();
  const absl::Duration timeout =
      params.timeout_seconds.value_or(0) > 0
          ? absl::Seconds(*params.timeout_seconds)
          : kMinWatch + absl::Seconds(static_cast<int64_t>(core_.RandomBelow(1800)));
  watch->deadline = now + timeout;
  if (params.bookmarks) {
    const absl::Time last = watch->deadline - kLastBookmark;
    watch->next_bookmark = std::min(now + core_.options.bookmark_interval, last);
    if (last <= now) watch->next_bookmark = absl::InfiniteFuture();
  }
  http::Headers headers;
  headers.Set("Content-Type", "application/json");
  watch->stream = responder.StartStream(200, std::move(headers));
  std::weak_ptr<storage::Watch> weak = watch;
  watch->stream->SetOnClosed([weak, open = core_.open_watches] {
    open->fetch_sub(1);
    if (const auto locked = weak.lock()) locked->closed.store(true);
  });
  const absl::Status started = core_.store.StartWatch(resource.table, watch, start, *version);
  if (!started.ok()) {
    watch->stream->Write(std::make_shared<const std::string>(storage::MakeFrame(
        "ERROR", apis::json::Dump(FailureStatus(410, "Expired", started.message())))));
    watch->stream->Close();
  }
  return absl::OkStatus();
}

}  // namespace hekla::apiserver
