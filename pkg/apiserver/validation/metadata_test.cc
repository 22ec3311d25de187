#include "pkg/apiserver/validation/metadata.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::apiserver::validation {
namespace {

using apis::json::Value;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Problems(const std::string& metadata, MetadataRules rules = {}) {
  FieldErrors errors;
  const auto value = apis::json::Parse(metadata);
  EXPECT_TRUE(value.ok());
  ValidateMetadata(*value, rules, errors);
  return errors.empty() ? "" : errors.Text();
}

TEST(NamesTest, FollowTheirRules) {
  EXPECT_THAT(DnsSubdomainProblems("a-b.c0"), IsEmpty());
  EXPECT_THAT(DnsSubdomainProblems("A"), Not(IsEmpty()));
  EXPECT_THAT(DnsSubdomainProblems("a..b"), Not(IsEmpty()));
  EXPECT_THAT(DnsSubdomainProblems(std::string(254, 'a')), Not(IsEmpty()));
  EXPECT_THAT(DnsLabelProblems("a.b"), ::testing::ElementsAre("must not contain dots"));
  EXPECT_THAT(DnsLabelProblems("1a"), IsEmpty());
  EXPECT_THAT(Dns1035LabelProblems("1a"), Not(IsEmpty()));
  EXPECT_THAT(QualifiedNameProblems("example.com/My_Name.1"), IsEmpty());
  EXPECT_THAT(QualifiedNameProblems("a/b/c"), Not(IsEmpty()));
  EXPECT_THAT(QualifiedNameProblems("/b"), ::testing::ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(LabelValueProblems(""), IsEmpty());
  EXPECT_THAT(LabelValueProblems("-a"), Not(IsEmpty()));
  EXPECT_THAT(PathSegmentProblems(".."), ::testing::ElementsAre("may not be '..'"));
  EXPECT_THAT(PathSegmentProblems("a/b%"), ::testing::SizeIs(2));
}

TEST(MetadataTest, NamesTheFieldAndTheProblem) {
  EXPECT_EQ(Problems(R"({"name":"a","namespace":"n"})"), "");
  EXPECT_EQ(Problems(R"({"namespace":"n"})"),
            "metadata.name: Required value: name or generateName is required");
  EXPECT_EQ(Problems(R"({"name":"a"})"), "metadata.namespace: Required value");
  MetadataRules cluster;
  cluster.namespaced = false;
  EXPECT_EQ(Problems(R"({"name":"a","namespace":"n"})", cluster),
            "metadata.namespace: Forbidden: not allowed on this type");
  EXPECT_THAT(Problems(R"({"name":"a","namespace":"n","labels":{"k":"not valid!"}})"),
              HasSubstr("metadata.labels: Invalid value: \"not valid!\""));
  EXPECT_THAT(Problems(R"({"name":"a","namespace":"n","annotations":{"a b":"x"}})"),
              HasSubstr("metadata.annotations: Invalid value: \"a b\""));
  EXPECT_EQ(Problems(R"({"name":"a","namespace":"n","annotations":{"a":")" +
                     std::string(300000, 'x') + "\"}}"),
            "metadata.annotations: Too long: may not be more than 262144 bytes");
  EXPECT_THAT(Problems(R"({"name":"a","generateName":"B-","namespace":"n"})"),
              HasSubstr("metadata.generateName: Invalid value: \"B-\""));
}

TEST(MetadataTest, OwnersNeedAllTheirFieldsAndOneController) {
  EXPECT_THAT(Problems(R"({"name":"a","namespace":"n","ownerReferences":[{"apiVersion":"v1"}]})"),
              HasSubstr("metadata.ownerReferences.kind: Invalid value: \"\": must not be empty"));
  EXPECT_THAT(
      Problems(R"({"name":"a","namespace":"n","ownerReferences":[)"
               R"({"apiVersion":"v1","kind":"A","name":"x","uid":"1","controller":true},)"
               R"({"apiVersion":"v1","kind":"A","name":"y","uid":"2","controller":true}]})"),
      HasSubstr("Only one reference can have Controller set to true"));
}

TEST(MetadataTest, FinalizersOfBuiltInKindsNeedADomain) {
  const char kPlain[] = R"({"name":"a","namespace":"n","finalizers":["f"]})";
  EXPECT_THAT(Problems(kPlain), HasSubstr("name is neither a standard finalizer name nor is it "
                                          "fully qualified"));
  MetadataRules custom;
  custom.strict_finalizers = false;
  EXPECT_EQ(Problems(kPlain, custom), "");
}

TEST(MetadataTest, UpdatesKeepWhatIsFixed) {
  const auto old =
      apis::json::Parse(R"({"name":"a","uid":"1","deletionTimestamp":"t","finalizers":["x.y/a"]})");
  const auto now = apis::json::Parse(
      R"({"name":"a","uid":"2","deletionTimestamp":"t","finalizers":["x.y/a","x.y/b"]})");
  FieldErrors errors;
  ValidateMetadataUpdate(*now, *old, errors);
  EXPECT_THAT(errors.Text(), HasSubstr("metadata.uid: Invalid value: \"2\": field is immutable"));
  EXPECT_THAT(errors.Text(),
              HasSubstr("no new finalizers can be added if the object is being deleted, found new "
                        "finalizers []string{\"x.y/b\"}"));
}

}  // namespace
}  // namespace hekla::apiserver::validation
