#include "pkg/apiserver/negotiate.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pkg/apiserver/status/api_status.h"

namespace hekla::apiserver {
namespace {

constexpr char kStreams[] =
    ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
constexpr absl::string_view kForms =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

// The weight of a media type in an Accept header.
double WeightOf(const MediaType& media) {
  double weight = 1;
  const absl::string_view q = media.Param("q");
  return !q.empty() && absl::SimpleAtod(q, &weight) ? weight : 1;
}

// Fills in the form asked for by `as=`; false where it is none of ours.
bool ReadForm(const MediaType& media, Accept& out) {
  const absl::string_view as = media.Param("as");
  const absl::string_view group = media.Param("g");
  out.version = std::string(media.Param("v"));
  if (as.empty()) return true;
  if (group == "meta.k8s.io" && (out.version == "v1" || out.version == "v1beta1")) {
    if (as == "Table") {
      out.as = Accept::As::kTable;
      return true;
    }
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
      out.as = Accept::As::kPartial;
      return true;
    }
  }
  if (as == "APIGroupDiscoveryList" && group == "apidiscovery.k8s.io" && out.version == "v2") {
    out.as = Accept::As::kDiscovery;
    return true;
  }
  return false;
}

}  // namespace

absl::string_view MediaType::Param(absl::string_view name) const {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return {};
}

MediaType ParseMediaType(absl::string_view text) {
  MediaType out;
  bool first = true;
  for (absl::string_view part : absl::StrSplit(text, ';')) {
    part = absl::StripAsciiWhitespace(part);
    if (first) {
      out.type = absl::AsciiStrToLower(part);
      first = false;
      continue;
    }
    const std::pair<absl::string_view, absl::string_view> kv =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    out.params.emplace_back(absl::AsciiStrToLower(absl::StripAsciiWhitespace(kv.first)),
                            std::string(absl::StripAsciiWhitespace(kv.second)));
  }
  return out;
}

std::optional<Accept> NegotiateAnswer(absl::string_view accept_header, bool discovery) {
  if (absl::StripAsciiWhitespace(accept_header).empty()) return Accept();
  std::vector<MediaType> wanted;
  for (absl::string_view item : absl::StrSplit(accept_header, ',')) {
    wanted.push_back(ParseMediaType(item));
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const MediaType& a, const MediaType& b) {
    return WeightOf(a) > WeightOf(b);
  });
  for (const MediaType& media : wanted) {
    Accept out;
    if (media.type == kYaml) {
      out.yaml = true;
    } else if (media.type != kJson && media.type != "application/*" && media.type != "*/*") {
      continue;
    }
    if (ReadForm(media, out) && (discovery || out.as != Accept::As::kDiscovery)) return out;
  }
  return std::nullopt;
}

absl::Status RefuseForms(absl::string_view accept_header, bool custom, bool streams) {
  bool known = custom;
  for (absl::string_view item : absl::StrSplit(accept_header, ',')) {
    const std::string type = ParseMediaType(item).type;
    known |= type == kJson || type == kYaml || type == "application/vnd.kubernetes.protobuf" ||
             type == "*/*";
  }
  if (known) {
    return ApiError(
        FailureStatus(406, "NotAcceptable",
                      absl::StrCat("only the following media types are accepted: ", kForms)));
  }
  return NotAcceptable(absl::StrCat(kForms, streams ? kStreams : ""));
}

}  // namespace hekla::apiserver
