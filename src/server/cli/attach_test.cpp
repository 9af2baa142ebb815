// The pure parts of `reprise attach`: keys, questions, prompts.
#include <gtest/gtest.h>

#include "server/cli/attach_keys.h"
#include "server/cli/attach_prompt.h"
#include "server/cli/attach_question.h"

namespace reprise::server::cli {
namespace {

using Kind = Key::Kind;

Question question(const std::string& data) {
  const auto document = wire::parse_json(data);
  return *parse_question(document->root());
}

std::string keys_of(std::string_view bytes) {
  std::string text;
  for (const Key& key : KeyDecoder().feed(bytes)) {
    switch (key.kind) {
      case Kind::kText: text += key.text; break;
      case Kind::kEnter: text += "<enter>"; break;
      case Kind::kUp: text += "<up>"; break;
      case Kind::kDown: text += "<down>"; break;
      case Kind::kBackspace: text += "<back>"; break;
      case Kind::kClearLine: text += "<clear>"; break;
      case Kind::kEndOfInput: text += "<end>"; break;
    }
  }
  return text;
}

// What becomes of a prompt that gets these bytes: its answer, or what it shows.
std::string after(const Question& asked, std::string_view bytes) {
  Prompt prompt(asked);
  KeyDecoder decoder;
  for (const Key& key : decoder.feed(bytes))
    if (prompt.on_key(key) == Prompt::Step::kAnswer) return prompt.answer();
  return prompt.render(40);
}

const char* const kMenu =
    R"({"id":"q","kind":"waitForChoice","prompt":"?","selectionMode":"single",
        "choices":[{"id":"a","label":"Apple"},{"id":"b","label":"Pear"},{"id":"c"}]})";
const char* const kSeveral =
    R"({"id":"q","kind":"waitForChoice","selectionMode":"multiple","skipLabel":"later",
        "noneOfTheAboveLabel":"none","choices":[{"id":"a","label":"Apple"},{"id":"b"}]})";

TEST(Keys, AreReadFromWhatTerminalsSend) {
  EXPECT_EQ(keys_of("a b\r\n"), "a b<enter><enter>");
  EXPECT_EQ(keys_of("\x1b[A\x1b[B\x1bOA\x1bOB"), "<up><down><up><down>");
  EXPECT_EQ(keys_of("\x7f\b\x15\x04"), "<back><back><clear><end>");
  EXPECT_EQ(keys_of("é€😀"), "é€😀");
}

TEST(Keys, WhatMeansNothingIsLeftOut) {
  EXPECT_EQ(keys_of("\x1b[3~\x1b[1;5Cx\x1b[200~y\x01\x1f"), "xy");
  EXPECT_EQ(keys_of("\x1bx"), "x");
  EXPECT_EQ(keys_of("\xff\x80z\xc3z\xed\xa0\x80!"), "zz!");
  EXPECT_EQ(keys_of("\x1b[" + std::string(40, '1') + "x"), std::string(26, '1') + "x");
}

TEST(Keys, MayComeInPieces) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b").empty());
  EXPECT_TRUE(decoder.feed("[").empty());
  EXPECT_EQ(decoder.feed("A"), (std::vector<Key>{{Kind::kUp}}));
  EXPECT_TRUE(decoder.feed("\xc3").empty());
  EXPECT_EQ(decoder.feed("\xa9"), (std::vector<Key>{{Kind::kText, "é"}}));
}

TEST(QuestionOfEvent, WantsJsonOnlyForSchemasThatAreNotStrings) {
  EXPECT_FALSE(question(R"({"id":"q","kind":"waitForInput"})").wants_json);
  EXPECT_FALSE(question(R"({"id":"q","kind":"inputNode","schema":{"type":"string"}})").wants_json);
  EXPECT_TRUE(question(R"({"id":"q","kind":"inputNode","schema":{"type":"number"}})").wants_json);
  EXPECT_TRUE(question(R"({"id":"q","kind":"inputNode","schema":true})").wants_json);
  EXPECT_EQ(question(kMenu).choices[2].label, "c");
  EXPECT_FALSE(parse_question(wire::parse_json(R"({"kind":"confirm"})")->root()));
}

TEST(AnswerOfLine, IsTextOrJson) {
  const auto text = question(R"({"id":"q","kind":"waitForInput"})");
  EXPECT_EQ(*answer_of_line(text, "say \"hi\""), R"({"input":"say \"hi\""})");
  EXPECT_EQ(*answer_of_line(text, ""), R"({"input":""})");
  const auto json = question(R"({"id":"q","kind":"inputNode","schema":{"type":"object"}})");
  EXPECT_EQ(*answer_of_line(json, R"({ "a" : 1 })"), R"({"input":{"a":1}})");
  EXPECT_EQ(answer_of_line(json, "{").error().code, Code::kInvalid);
}

TEST(AnswerOfLine, NamesChoicesByIdOrLabel) {
  EXPECT_EQ(*answer_of_line(question(kMenu), "Pear"), R"({"selected":["b"]})");
  EXPECT_EQ(answer_of_line(question(kMenu), "a,b").error().code, Code::kInvalid);
  EXPECT_EQ(answer_of_line(question(kMenu), "").error().code, Code::kInvalid);
  EXPECT_EQ(*answer_of_line(question(kSeveral), "b , Apple"), R"({"selected":["b","a"]})");
  EXPECT_EQ(*answer_of_line(question(kSeveral), "none"), R"({"selected":[]})");
  EXPECT_EQ(*answer_of_line(question(kSeveral), "later"), R"({"skipped":true})");
}

TEST(AnswerOfLine, ConfirmsOrSkips) {
  const auto plain = question(R"({"id":"q","kind":"confirm"})");
  EXPECT_EQ(*answer_of_line(plain, "yes"), R"({"confirmed":true})");
  EXPECT_EQ(*answer_of_line(plain, "n\r"), R"({"confirmed":false})");
  EXPECT_EQ(answer_of_line(plain, "maybe").error().code, Code::kInvalid);
  const auto skippable = question(R"({"id":"q","kind":"confirm","skipLabel":"later"})");
  EXPECT_EQ(*answer_of_line(skippable, ""), R"({"skipped":true})");
}

TEST(PromptForOne, MovesAndAnswersWithEnter) {
  const auto menu = question(kMenu);
  EXPECT_EQ(after(menu, "\r"), R"({"selected":["a"]})");
  EXPECT_EQ(after(menu, "\x1b[B\r"), R"({"selected":["b"]})");
  EXPECT_EQ(after(menu, "\x1b[A\r"), R"({"selected":["c"]})");  // around the end
  EXPECT_EQ(after(menu, "jjk\r"), R"({"selected":["b"]})");
  EXPECT_EQ(after(menu, " \x1b[B"), "  Apple\n> Pear\n  c\n  (arrows move, Enter answers)");
}

TEST(PromptForSeveral, TicksWithTheSpaceBar) {
  const auto menu = question(kSeveral);
  EXPECT_EQ(after(menu, " \x1b[B \r"), R"({"selected":["a","b"]})");
  EXPECT_EQ(after(menu, "  \x1b[B \r"), R"({"selected":["b"]})");
  EXPECT_EQ(after(menu, "\x1b[B\x1b[B\r"), R"({"selected":[]})");
  EXPECT_EQ(after(menu, "\x1b[A\r"), R"({"skipped":true})");
  EXPECT_TRUE(after(menu, "\r").starts_with("! nothing is chosen")) << after(menu, "\r");
  EXPECT_TRUE(after(menu, " ").starts_with("> [x] Apple\n  [ ] b\n  none\n  later\n"));
}

TEST(PromptForSeveral, ShowsAPartOfALongMenu) {
  Question menu = question(kMenu);
  menu.choices.clear();
  for (int i = 0; i < 100; ++i) menu.choices.push_back({std::to_string(i), std::to_string(i)});
  const std::string first = after(menu, "j");
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'),
            static_cast<std::ptrdiff_t>(kMaxMenuRows));
  EXPECT_NE(first.find("(2 of 100;"), std::string::npos) << first;
  EXPECT_NE(after(menu, "\x1b[A").find("> 99"), std::string::npos);
  EXPECT_EQ(after(menu, "\x1b[A\r"), R"({"selected":["99"]})");
}

TEST(PromptForText, TakesEditsAndGivesTheLine) {
  const auto text = question(R"({"id":"q","kind":"waitForInput"})");
  EXPECT_EQ(after(text,
                  "aé\x7f"
                  "b\r"),
            R"({"input":"ab"})");
  EXPECT_EQ(after(text, "abc\x15x\r"), R"({"input":"x"})");
  EXPECT_EQ(after(text, "hi there"), "> hi there");
  // The end of what is too long stays in sight.
  EXPECT_EQ(after(text, std::string(60, 'a') + "z"), "> " + std::string(35, 'a') + "z");
  const auto skippable = question(R"({"id":"q","kind":"waitForInput","skipLabel":"later"})");
  EXPECT_EQ(after(skippable, "\r"), R"({"skipped":true})");
  EXPECT_EQ(after(text, std::string(kMaxTypedBytes + 1, 'a') + "\r").size(),
            kMaxTypedBytes + std::string_view(R"({"input":""})").size());
}

TEST(PromptForText, SaysWhyAnAnswerIsNone) {
  const auto json = question(R"({"id":"q","kind":"inputNode","schema":{"type":"number"}})");
  const std::string shown = after(json, "x\r");
  EXPECT_TRUE(shown.starts_with("! the answer must be JSON")) << shown;
  EXPECT_TRUE(shown.ends_with("> x")) << shown;
  EXPECT_EQ(after(json,
                  "x\r\x7f"
                  "7\r"),
            R"({"input":7})");
}

TEST(PromptToConfirm, TakesOneKey) {
  const auto plain = question(R"({"id":"q","kind":"confirm"})");
  EXPECT_EQ(after(plain, "y"), R"({"confirmed":true})");
  EXPECT_EQ(after(plain, "xsN"), R"({"confirmed":false})");
  EXPECT_EQ(after(plain, "\rs"), "(y/n)");
  EXPECT_EQ(after(question(R"({"id":"q","kind":"confirm","skipLabel":"later"})"), "s"),
            R"({"skipped":true})");
}

TEST(PromptText, CannotMoveTheCursorOrRecolourTheScreen) {
  auto menu = question(kMenu);
  menu.choices[0].label = "\x1b[2Jevil\nline";
  const std::string shown = after(menu, "");
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 3);
}

TEST(Open, QuestionsAreAskedInOrderAndGoWhenTheyAreResolved) {
  OpenQuestions open;
  const auto take = [&](const std::string& json) {
    const auto document = wire::parse_json(json);
    return open.on_event(document->root());
  };
  using Change = OpenQuestions::Change::Kind;
  EXPECT_EQ(open.next(), nullptr);
  EXPECT_EQ(take(R"({"type":"message","data":{"id":"q1"}})").kind, Change::kNone);
  EXPECT_EQ(take(R"({"type":"input_required","data":{"id":"q1","kind":"confirm"}})").kind,
            Change::kAsked);
  take(R"({"type":"input_required","data":{"id":"q2","kind":"confirm"}})");
  EXPECT_EQ(open.next()->id, "q1");
  const auto resolved = take(R"({"type":"input_received","data":{"id":"q1","state":"expired"}})");
  EXPECT_EQ(resolved.kind, Change::kResolved);
  EXPECT_EQ(resolved.state, "expired");
  EXPECT_EQ(open.next()->id, "q2");
  open.drop("q2");
  EXPECT_EQ(open.next(), nullptr);
}

}  // namespace
}  // namespace reprise::server::cli
