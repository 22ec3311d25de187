#include "pkg/apiserver/authorizer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using testing::TestServer;

Options Enforcing() {
  Options options;
  options.tokens = {"root"};
  options.users = {{"ann-token", "ann", {"team"}}};
  options.enforce_rbac = true;
  return options;
}

class RbacTest : public ::testing::Test {
 protected:
  RbacTest() : s_(Enforcing()) {}

  TestServer::Reply As(const std::string& token, const std::string& method,
                       const std::string& target, const std::string& body = "") {
    http::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    request.headers.Set("Authorization", absl::StrCat("Bearer ", token));
    request.headers.Set("Content-Type", "application/json");
    return s_.Send(std::move(request));
  }
  void Grant(const std::string& rules, const std::string& subject, bool cluster) {
    const std::string group = "/apis/rbac.authorization.k8s.io/v1/";
    const std::string where = cluster ? "cluster" : "namespaces/default/";
    const std::string kind = cluster ? "ClusterRole" : "Role";
    ASSERT_EQ(s_.Post(absl::StrCat(group, where, "roles"),
                      absl::StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":")", kind,
                                   R"(","metadata":{"name":"r"},"rules":)", rules, "}"))
                  .status,
              201);
    ASSERT_EQ(
        s_.Post(absl::StrCat(group, where, "rolebindings"),
                absl::StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":")", kind,
                             R"(Binding","metadata":{"name":"b"},"subjects":[)", subject,
                             R"(],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")",
                             kind, R"(","name":"r"}})"))
            .status,
        201);
  }

  TestServer s_;
};

TEST_F(RbacTest, NothingIsAllowedThatNoRoleGrants) {
  EXPECT_EQ(As("root", "GET", "/api/v1/pods").status, 200);
  EXPECT_EQ(As("nobody", "GET", "/api/v1/pods").status, 401);
  const auto refused = As("ann-token", "GET", "/api/v1/pods");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(
      refused.body.GetString("message"),
      "pods is forbidden: User \"ann\" cannot list resource \"pods\" in API group \"\" at the "
      "cluster scope");
  EXPECT_EQ(As("ann-token", "GET", "/api/v1/namespaces/default/pods/a").body.GetString("message"),
            "pods \"a\" is forbidden: User \"ann\" cannot get resource \"pods\" in API group \"\" "
            "in the namespace \"default\"");
  EXPECT_EQ(As("ann-token", "GET", "/apis").status, 200);
}

TEST_F(RbacTest, RolesOfANamespaceEndThere) {
  Grant(
      R"([{"apiGroups":[""],"resources":["pods","pods/binding"],"verbs":["get","list","create"]}])",
      R"({"kind":"Group","name":"team","apiGroup":"rbac.authorization.k8s.io"})", false);
  EXPECT_EQ(As("ann-token", "GET", "/api/v1/namespaces/default/pods").status, 200);
  EXPECT_EQ(As("ann-token", "GET", "/api/v1/pods").status, 403);
  EXPECT_EQ(As("ann-token", "GET", "/api/v1/namespaces/kube-system/pods").status, 403);
  EXPECT_EQ(As("ann-token", "DELETE", "/api/v1/namespaces/default/pods/a").status, 403);
  EXPECT_EQ(As("ann-token", "GET", "/api/v1/namespaces/default/pods/a").status, 404);
  EXPECT_EQ(As("ann-token", "POST", "/api/v1/namespaces/default/pods/a/binding", "{}").status, 400);
  EXPECT_EQ(As("ann-token", "POST", "/api/v1/namespaces/default/pods/a/eviction", "{}").status,
            403);
}

TEST_F(RbacTest, ServiceAccountsActThroughTheirTokens) {
  const auto token =
      s_.Post("/api/v1/namespaces/default/serviceaccounts/default/token",
              R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})");
  ASSERT_EQ(token.status, 201) << token.text;
  const std::string text(token.body.At("status").GetString("token"));
  EXPECT_EQ(As(text, "GET", "/api/v1/nodes").status, 403);
  Grant(R"([{"apiGroups":["*"],"resources":["*"],"verbs":["list"]},)"
        R"({"apiGroups":[""],"resources":["nodes"],"verbs":["get"],"resourceNames":["n1"]}])",
        R"({"kind":"ServiceAccount","name":"default","namespace":"default"})", true);
  EXPECT_EQ(As(text, "GET", "/api/v1/nodes").status, 200);
  EXPECT_EQ(As(text, "GET", "/api/v1/nodes/n1").status, 404);
  EXPECT_EQ(As(text, "GET", "/api/v1/nodes/n2").status, 403);
  const auto review =
      As(text, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         R"({"spec":{"resourceAttributes":{"verb":"delete","resource":"nodes","name":"n1"}}})");
  EXPECT_FALSE(review.body.At("status").GetBool("allowed", true));
}

TEST_F(RbacTest, TokensEndWithTheirTimeAndWithTheirAccount) {
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  const auto ask = [&](const std::string& account, const std::string& spec) {
    return s_.Post(
        absl::StrCat(accounts, "/", account, "/token"),
        absl::StrCat(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)",
                     R"("spec":{)", spec, "}}"));
  };
  ASSERT_EQ(s_.Post(accounts, R"({"metadata":{"name":"bot"}})").status, 201);
  const std::string hour(ask("bot", "").body.At("status").GetString("token"));
  const std::string longer(
      ask("bot", R"("expirationSeconds":7200)").body.At("status").GetString("token"));
  const auto status = [&](const std::string& token) {
    return As(token, "GET", "/api/v1/nodes").status;
  };
  EXPECT_EQ(status(hour), 403);  // known, without rights
  EXPECT_EQ(status(hour + "x"), 401);
  EXPECT_EQ(status(hour.substr(0, hour.size() - 4)), 401);
  s_.Advance(absl::Seconds(3599));
  EXPECT_EQ(status(hour), 403);
  s_.Advance(absl::Seconds(1));
  EXPECT_EQ(status(hour), 401);
  EXPECT_EQ(status(longer), 403);
  // Another account of the same name is not meant.
  ASSERT_EQ(s_.Delete(accounts + "/bot").status, 200);
  EXPECT_EQ(status(longer), 401);
  ASSERT_EQ(s_.Post(accounts, R"({"metadata":{"name":"bot"}})").status, 201);
  EXPECT_EQ(status(longer), 401);
  const auto refused = ask("bot", R"("expirationSeconds":599)");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body.GetString("message"),
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
            "value: 599: may not specify a duration less than 10 minutes");
}

TEST(AuthorizerTest, CertificatesNameUserAndGroups) {
  Options options = Enforcing();
  TestServer s(options);
  http::Request request;
  request.method = "GET";
  request.target = "/api/v1/pods";
  const auto status = [&](const std::string& subject) {
    auto responder = std::make_shared<testing::RecordingResponder>();
    s.server->Handle(request, http::Peer{"", subject}, responder);
    return responder->response()->status;
  };
  EXPECT_EQ(status("CN=bob,O=team"), 403);
  EXPECT_EQ(status("CN=root,O=system:masters"), 200);
}

}  // namespace
}  // namespace hekla::apiserver
