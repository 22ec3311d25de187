#include "pkg/sim/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hekla::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

ReportData Sample() {
  ReportData data;
  data.title = "a <trace>";
  data.start = absl::FromUnixSeconds(0);
  data.end = absl::FromUnixSeconds(400);
  data.resources = {"cpu"};
  data.samples = {{data.start, {0.25}, 3, 0}, {absl::FromUnixSeconds(200), {1.0}, 0, 3}};
  data.wait_seconds = {0.5, 0.5, 200};
  data.numbers = {{"placed", "3"}};
  data.unplaced = {{"0/1 nodes are unavailable: 1 Insufficient cpu.", 7}};
  return data;
}

TEST(ReportTest, ShowsNumbersReasonsAndWaits) {
  const std::string html = RenderHtmlReport(Sample());
  EXPECT_THAT(html, HasSubstr("<title>a &lt;trace&gt;</title>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>placed</td><td>3</td></tr>"));
  EXPECT_THAT(
      html,
      HasSubstr("<tr><td>7</td><td>0/1 nodes are unavailable: 1 Insufficient cpu.</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<td>up to 1 s</td>"));
  EXPECT_THAT(html, HasSubstr("<td>up to 5 min</td>"));
  EXPECT_THAT(html, HasSubstr("longest 3.33 min"));
}

TEST(ReportTest, CurvesHoldTheirValueUntilTheNextSample) {
  const std::string html = RenderHtmlReport(Sample());
  // 25 % and 100 % of a plot whose lines lie between y = 12 and y = 192: 147 and 12.
  EXPECT_THAT(html, HasSubstr("57.0,147.0 "));
  EXPECT_THAT(html, HasSubstr("859.0,12.0 "));
}

TEST(ReportTest, NeedsNothingFromOutsideAndIsStable) {
  const std::string html = RenderHtmlReport(Sample());
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_EQ(html, RenderHtmlReport(Sample()));
}

TEST(ReportTest, EmptyRunIsAPageToo) {
  ReportData data;
  data.title = "none";
  data.start = data.end = absl::FromUnixSeconds(0);
  EXPECT_THAT(RenderHtmlReport(data), HasSubstr("No pod was placed."));
}

}  // namespace
}  // namespace hekla::sim
