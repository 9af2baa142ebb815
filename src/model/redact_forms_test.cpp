// The forms in which secrets are written, each beside ordinary text that looks alike and must stay.
#include <gtest/gtest.h>

#include "base/json_text.h"
#include "model/redact.h"
#include "model/redact_credentials.h"
#include "model/redact_names.h"

namespace reprise::model {
namespace {

std::string text(std::string_view given) { return std::string(Redactor().text(given).view()); }

std::string json(std::string given) {
  const auto document = wire::parse_json(std::move(given));
  EXPECT_TRUE(document);
  return std::string(Redactor().json(document->root()).view());
}

void expect_kept(std::initializer_list<std::string_view> texts) {
  for (const std::string_view given : texts) EXPECT_EQ(text(given), given);
}

TEST(RedactForms, NamesOfToolsAreNoAssignments) {
  const Redactor redactor;
  for (const std::string_view name : {"secrets:get", "auth:login", "token:refresh", "cookie:set",
                                      "db/password:rotate", "mcp.auth-token:list"})
    EXPECT_FALSE(redactor.holds_pattern(name)) << name;
  for (const std::string_view name :
       {"get:ghp_0123456789abcdefghijABCDEFGHIJ", "4111111111111111", "sk-abcdEFGH1234abcdEFGH"})
    EXPECT_TRUE(redactor.holds_pattern(name)) << name;
  EXPECT_TRUE(Redactor({.keys = {}, .prefixes = {"acme_"}}).holds_pattern("x:acme_12345678"));
}

TEST(RedactForms, TheLastPartOfAName) {
  for (const std::string_view name :
       {"DB_PASS", "smtpPass", "MYSQL_PASS", "proxyAuth", "SMTPPass", "mail.pass", "x-auth",
        "user_otp", "sessionJwt", "userPASS", "pass2Auth", "_auth"})
    EXPECT_TRUE(is_known_secret_name(name)) << name;
  for (const std::string_view name :
       {"compass", "bypass", "COMPASS", "Compass", "OAuth", "myOAuth", "oauth", "author", "passed",
        "passThrough", "auth_url", "led_pin", "account_sid", "passes", "tokens", "", "-", "_._"})
    EXPECT_FALSE(is_known_secret_name(name)) << name;
  EXPECT_EQ(text("DB_PASS=hunter2 x"), "DB_PASS=[redacted] x");
  EXPECT_EQ(json(R"({"smtpPass":"x","bypass":"y","next-auth":"^4.24.5"})"),
            R"({"smtpPass":"[redacted]","bypass":"y","next-auth":"^4.24.5"})");
  expect_kept({"compass=north bypass=1", "OAuth: see below", "PASS: tests/unit.sh (3 of 4)",
               "basic-auth: 2.0.1"});
}

TEST(RedactForms, VersionsAreNoSecrets) {
  for (const std::string_view version : {"1.2.3", "^4.24.5", "~0.10.0"})
    EXPECT_TRUE(is_version(version)) << version;
  for (const std::string_view other :
       {"", "1.2", "10.0.0.1", "1..2", ".1.2", "1.2.", "^", "a.b.c", "123456789.123456789.1"})
    EXPECT_FALSE(is_version(other)) << other;
}

TEST(RedactForms, PasswordsInUrls) {
  for (const std::string_view user : {"me:p@ss", "me:p/ss", "me:p?ss", "me:p#ss", "me:p@s/s", ":p",
                                      "me@x.example:p", "me:12@34", ":/p", "me:123456/p"})
    EXPECT_EQ(text(fmt::format("see postgres://{}@db/x there", user)),
              "see postgres://[redacted]@db/x there")
        << user;
  EXPECT_EQ(text("\"redis://a:b@c\" me@x.example"), "\"redis://[redacted]@c\" me@x.example");
  EXPECT_EQ(text("http://a:b@c,http://d:e@f,http://g"),
            "http://[redacted]@c,http://[redacted]@f,http://g");
  expect_kept({"http://localhost:3000/@vite/client", "https://x.example/a:b@c",
               "https://x.example?mail=a:b@c", "https://me@x.example:80/a@b",
               "http://[::1]:8080/@x", "http://[fe80::1]/a:b@c",
               "docker://registry:5000/a@sha256:1", "https://cdn.example/npm/vue@3",
               "https://medium.example/@me/a:b", "ssh://git@x.example:me/repo",
               "http://x.example:80 and me@x.example", "postgres://[redacted]@db:5432/x@y"});
}

TEST(RedactForms, ElementsAndAttributes) {
  EXPECT_EQ(text("<a><password>hunter2</password><b>c</b></a>"),
            "<a><password>[redacted]</password><b>c</b></a>");
  EXPECT_EQ(text("<ns:ApiKey>\n  a b\n</ns:ApiKey>"), "<ns:ApiKey>\n  [redacted]\n</ns:ApiKey>");
  EXPECT_EQ(text("<secret><![CDATA[a<b]]></secret>"), "<secret><![CDATA[[redacted]]]></secret>");
  EXPECT_EQ(text("<secret><![CDATA[a<b, cut off"), "<secret><![CDATA[[redacted]");
  EXPECT_EQ(text(R"(<add key="ApiKey" value="x"/><add key="Color" value="red"/>)"),
            R"(<add key="ApiKey" value="[redacted]"/><add key="Color" value="red"/>)");
  EXPECT_EQ(text(R"(<add value='x y' key='ApiKey'/>)"),
            R"(<add value='[redacted]' key='ApiKey'/>)");
  EXPECT_EQ(text(R"(<add key=\"ApiKey\" value=\"x\"/>)"),
            R"(<add key=\"ApiKey\" value=\"[redacted]\"/>)");
  EXPECT_EQ(text(R"(<input type="password" id="a" value="x">)"),
            R"(<input type="password" id="a" value="[redacted]">)");
  EXPECT_EQ(text(R"(<meta name="csrf-token" content="abc">)"),
            R"(<meta name="csrf-token" content="[redacted]">)");
  EXPECT_EQ(text(R"(<string name="api_key">abc</string>)"),
            R"(<string name="api_key">[redacted]</string>)");
  expect_kept({"usage: login <user> <password> [<token>]", "<password></password>",
               "<password>null</password>", "<b>password</b>", "std::vector<Token> a; b </c",
               R"(<label for="password">Password</label>)",
               R"(<label name="password">Your password</label>)",
               R"(<input type="text" name="user" value="me">)",
               R"(<input type="password" placeholder="At least 8">)", "a <b and c> d",
               R"(<add key="Color" value="password"/>)"});
}

TEST(RedactForms, UsersAndPasswordsOfCommands) {
  EXPECT_EQ(text("curl -u admin:hunter2 https://x.example"),
            "curl -u [redacted] https://x.example");
  EXPECT_EQ(text("x --user admin:hunter2 y"), "x --user [redacted] y");
  EXPECT_EQ(text("x --user=admin:hunter2 y"), "x --user=[redacted] y");
  EXPECT_EQ(text("x --proxy-user 'a:b c' y"), "x --proxy-user '[redacted]' y");
  EXPECT_EQ(text("curl \\\n  -u 1000:1000"), "curl \\\n  -u [redacted]");
  EXPECT_EQ(text("curl -uadmin:hunter2 x"), "curl -u[redacted] x");
  EXPECT_EQ(json(R"(["curl","-u","admin:admin","-s"])"), R"(["curl","-u","[redacted]","-s"])");
  EXPECT_EQ(json(R"(["x","--user","admin:hunter2"])"), R"(["x","--user","[redacted]"])");
  expect_kept({"docker run -u 1000:1000 x", "docker run --user node:node x", "nc -u 10.0.0.1:53",
               "git push -u origin main", "x -u https://x.example", "x -u C:\\temp",
               "curl -u admin", "curl x\ndocker run -u 1000:1000", "sudo -u me ls a:b",
               "re-u a:b"});
  EXPECT_EQ(json(R"(["docker","run","--user","1000:1000"])"),
            R"(["docker","run","--user","1000:1000"])");
}

TEST(RedactForms, FlatListsOfHeaders) {
  EXPECT_EQ(json(R"(["Host","h","X-Api-Key","abc","accept","x"])"),
            R"(["Host","h","X-Api-Key","[redacted]","accept","x"])");
  EXPECT_EQ(json(R"(["authorization","abc","a","b"])"),
            R"(["authorization","[redacted]","a","b"])");
  EXPECT_EQ(json(R"(["x-run","--password","X-Api-Key","abc"])"),
            R"(["x-run","--password","[redacted]","[redacted]"])");
  for (const std::string_view kept :
       {R"(["password","email","id","name"])", R"(["Host","X-Api-Key","accept"])",
        R"(["Host","token","Accept","cookie"])", R"(["Host",1,"token","x"])",
        R"(["a host","b","token","c"])"})
    EXPECT_EQ(json(std::string(kept)), kept);
}

TEST(RedactForms, BasicCredentialsWithoutADigit) {
  EXPECT_EQ(text("Basic dXNlcjpwYXNz"), "Basic [redacted]");
  EXPECT_EQ(text("sent basic dXNlcjpwYXNz."), "sent basic [redacted]");
  expect_kept({"basic authentication", "Basic Understanding", "basic TypeScriptLanguage",
               "BASIC INTERPRETERS"});
  EXPECT_FALSE(is_basic_credentials(""));
}

TEST(RedactForms, TheRestOfALine) {
  EXPECT_EQ(text("a\nPassphrase: correct horse battery staple\nb"), "a\nPassphrase: [redacted]\nb");
  EXPECT_EQ(text("  - api key: two words,\r\nb"), "  - api key: [redacted],\r\nb");
  EXPECT_EQ(text("my passphrase: correct horse"), "my passphrase: [redacted]");
  EXPECT_EQ(text("say \"x\" 'Password: two words' then"),
            "say \"x\" 'Password: [redacted] words' then");
  EXPECT_EQ(text("'Password: two words' then"), "'Password: [redacted]' then");
  EXPECT_EQ(text(R"(Password: two words\nUser: me)"), R"(Password: [redacted]\nUser: me)");
  EXPECT_EQ(text("password: none of it"), "password: [redacted]");
  EXPECT_EQ(text("token: str = \"hunter2\""), "token: str = \"[redacted]\"");
  EXPECT_EQ(text("private_key: -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\nb"),
            "private_key: [redacted]\nb");
  EXPECT_EQ(text("auth: fix the login"), "auth: [redacted] the login");
  EXPECT_EQ(text("see token: abc and more"), "see token: [redacted] and more");
  // A paragraph.
  EXPECT_EQ(text("Token: a" + std::string(300, ' ') + "b"),
            "Token: [redacted]" + std::string(300, ' ') + "b");
  expect_kept({"password: null, user: me", "password: string;\nuser: string;",
               "if token:\n    go()", "hasPassword: yes # really", "password: ", "token:\nnext"});
}

TEST(RedactForms, BlocksBelowAName) {
  EXPECT_EQ(text("a:\n  password: |\n    two\n\n    lines\n  user: me\n"),
            "a:\n  password: |\n    [redacted]\n  user: me\n");
  EXPECT_EQ(text("- secret: >-\r\n    folded\r\n    more\r\n  user: me"),
            "- secret: >-\r\n    [redacted]\r\n  user: me");
  EXPECT_EQ(text("password: !!str |2+ # mine\n  two\n  lines\nuser: me"),
            "password: [redacted]\nuser: me");
  EXPECT_EQ(text("password: | 4111 1111 1111 1111\n  a\nb"), "password: [redacted]\n  a\nb");
  EXPECT_EQ(text("password:\n  hunter2\nuser: me"), "password:\n  [redacted]\nuser: me");
  EXPECT_EQ(text("- password:\n    hunter2\n  user: me"),
            "- password:\n    [redacted]\n  user: me");
  EXPECT_EQ(text("private_key: |\n  -----BEGIN PRIVATE KEY-----\n  MII\n\n  x\nuser: me"),
            "private_key: |\n  [redacted]\nuser: me");
  EXPECT_EQ(text("key:\n  private_key:\n    -----BEGIN PRIVATE KEY-----\n\n    MII"),
            "key:\n  private_key:\n    [redacted]");
  expect_kept({"password:\nuser: me", "password:\n\n  not below", "password:\n  null\n",
               "if password:\n    login()", "case token:\n    return 1;", "user: |\n  some\n  text",
               "auth:\n  enabled: true\n  kind: ldap"});
}

TEST(RedactForms, WhatIsTypedIntoAField) {
  for (const std::string_view member : {"text", "default", "content", "val", "value"})
    for (const std::string_view named :
         {R"("name":"password")", R"("element":"Password field")", R"("selector":"#pin")",
          R"("label":"Token box")", R"("locator":"input[type=password]")"})
      EXPECT_EQ(json(fmt::format(R"({{{},"{}":"x"}})", named, member)),
                fmt::format(R"({{{},"{}":"[redacted]"}})", named, member));
  for (const std::string_view kept :
       {R"({"element":"Search field","text":"x"})", R"({"name":"user","text":"x"})",
        R"({"name":"password.ts","content":"line\nline\n"})",
        R"({"name":"password","text":null,"default":true,"other":"x"})",
        R"({"element":"Pinboard","text":"x"})", R"({"name":"secret","content":[{"a":1}]})"})
    EXPECT_EQ(json(std::string(kept)), kept);
}

// A text that is one line only when it has been redacted.
TEST(RedactForms, AgainChangesNothing) {
  const std::string once = json(R"({"name":"password","text":"a -----BEGIN PRIVATE KEY-----\nM\n)"
                                R"(-----END PRIVATE KEY----- b"})");
  EXPECT_EQ(once, R"({"name":"password","text":"[redacted]"})");
  for (const std::string_view given :
       {"http://a:b@c:d@e/f@g ://[redacted]@c:d@e", "<secret><![CDATA[]]]]></secret>",
        "password: |\n  a\n b", "curl -u a:b -ub:c --user \"x:y",
        "<a key=\"token\" value=x y>z</a>", "Passphrase: a\n  b: |\n   c", "token: str = 'a"}) {
    const std::string shown = text(given);
    EXPECT_EQ(text(shown), shown);
  }
}

// What is looked at and not taken must not be looked at as often as the text is long.
TEST(RedactForms, TimeGrowsWithTheText) {
  for (const std::string_view part : {"<secret>",
                                      "<secret><![CDATA[",
                                      "<a key=",
                                      "<a key=\"token\" ",
                                      "-u \"",
                                      "-u a",
                                      "-u \\\"",
                                      "curl -ua ",
                                      "://a:@",
                                      "://[::",
                                      "passphrase: ",
                                      "- ",
                                      "- token: ",
                                      "\npassword: |\n",
                                      "\npassword:\n ",
                                      "\ntoken: null",
                                      "\n",
                                      " \n",
                                      "Basic aaaaaaaa",
                                      "aA",
                                      "_A"}) {
    std::string long_text = "a";
    while (long_text.size() < (1U << 17U)) long_text += part;
    EXPECT_FALSE(text(long_text).empty());
    EXPECT_FALSE(text("token: |\n " + long_text).empty());
  }
}

}  // namespace
}  // namespace reprise::model
