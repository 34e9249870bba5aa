// What is left out of a recipe file, and what stays.
#include "common/config/secrets.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Secrets, AreLeftOutWhereverTheyStand) {
  const struct {
    std::string line;
    std::string secret;
  } cases[] = {
      {"password: hunter2hunter2", "hunter2"},
      {"  api_key: \"abc def ghi\"  # of the gateway", "abc def ghi"},
      {"API-KEY=0123abcd", "0123abcd"},
      {"{\"authToken\": \"zzz\", \"client_secret\":\"q1w2e3r4\"}", "q1w2e3r4"},
      {"args: [\"--api-key\", \"letmein-please\"]", "letmein-please"},
      {"  vllm serve m --api-key letmein-please --port 80", "letmein-please"},
      {"Authorization: Bearer abcdefghijk", "abcdefghijk"},
      {"url: https://me:pa55word@host/v1", "pa55word"},
      {"value: hf_abcdefghijklmnop1234", "hf_abc"},
      {"x: sk-proj-aaaaaaaaaaaaaaaaaaaa0", "sk-proj"},
      {"x: AKIAIOSFODNN7EXAMPLE1", "AKIA"},
      {"jwt: eyJhbGciOiJIUzI1NiJ9.e30.abcdef", "eyJ"},
      {"- {name: HF_TOKEN, value: opensesame}", "opensesame"},
  };
  for (const auto& [line, secret] : cases) {
    const WithoutSecrets out = LeaveOutSecrets("a: 1\n" + line + "\nb: 2\n");
    EXPECT_THAT(out.text, Not(HasSubstr(secret))) << line;
    EXPECT_THAT(out.text, HasSubstr("[left out]")) << line;
    EXPECT_THAT(out.text, HasSubstr("a: 1\n")) << line;
    EXPECT_THAT(out.text, HasSubstr("\nb: 2\n")) << line;
    EXPECT_THAT(out.lines, ElementsAre(2)) << line;
  }
}

TEST(Secrets, AVariableOfAContainerIsNamedALineBefore) {
  const WithoutSecrets out =
      LeaveOutSecrets("- name: HF_TOKEN\n  value: opensesame\n- name: MODE\n  value: opensesame\n");
  EXPECT_EQ(out.text, "- name: HF_TOKEN\n  value: [left out]\n- name: MODE\n  value: opensesame\n");
  EXPECT_THAT(out.lines, ElementsAre(2));
}

TEST(Secrets, PrivateKeysGoWhole) {
  const WithoutSecrets out = LeaveOutSecrets(
      "key: |\n  -----BEGIN RSA PRIVATE KEY-----\n  MIIabc\n  -----END RSA PRIVATE KEY-----\nb: 2");
  EXPECT_EQ(out.text, "key: |\n  [left out]\nb: 2");
  EXPECT_THAT(out.lines, ElementsAre(2));
  EXPECT_EQ(LeaveOutSecrets("-----BEGIN PRIVATE KEY-----\nabc").text, "[left out]\n");
}

TEST(Secrets, OtherTextStaysToTheByte) {
  for (const std::string text : {"",
                                 "\n\n",
                                 "max_num_batched_tokens: 8192\n",
                                 "tokenizer: glm-5.3-tokenizer\n",
                                 "token: 1234567\n",
                                 "api_key: ${API_KEY}\n",
                                 "api_key_env: PLIMSOLL_TARGET_TOKEN\n",
                                 "password: /run/secrets/password\n",
                                 "auth: {bearer_env: PLIMSOLL_TARGET_TOKEN}\n",
                                 "secretKeyRef: {name: hf, key: token}\n",
                                 "hf_overrides: {rope_scaling: long}\n",
                                 "token: {{ token }}\n",
                                 "url: https://host:8080/v1\n",
                                 "password:\n",
                                 "token",
                                 "url: postgres://me:$PASSWORD@host\n",
                                 "no newline at the end",
                                 "\xff\x00\xc3(: a\n",
                                 "api_key: MY_API_KEY\n",
                                 "--tool-call-parser hermes --tensor-parallel-size 8\n"}) {
    const WithoutSecrets out = LeaveOutSecrets(text);
    EXPECT_EQ(out.text, text);
    EXPECT_THAT(out.lines, IsEmpty()) << text;
  }
}

TEST(Secrets, WhatWasLeftOutIsNotFoundAgain) {
  const std::string once =
      LeaveOutSecrets("password: hunter2hunter2\nx: hf_abcdefghijklmnop123\n").text;
  EXPECT_EQ(LeaveOutSecrets(once).text, once);
}

}  // namespace
}  // namespace plimsoll
