#include "server/cli/help_text.h"

#include <fmt/format.h>

namespace reprise::server::cli {
namespace {
constexpr std::size_t kTextColumns = 68;
}

std::string wrapped(std::string_view text) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (column > 0 && column + 1 + word.size() > kTextColumns) {
      lines += '\n';
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return lines;
}

std::string setting_help(const Setting& setting) {
  const std::string default_text = setting.show(Config{});
  return fmt::format("{} [{}{}{}]", setting.help, default_text, default_text.empty() ? "" : "; ",
                     setting.variable);
}

std::string main_footer() {
  return R"(Examples:
  reprise serve                                   serve on 127.0.0.1:7450, data in ./data
  reprise sessions create --app slack --name C01  a session with the key slack:C01
  reprise events append slack:C01 --type message --data '{"text":"hello"}'
  reprise tail slack:C01                          its events, then live
  reprise attach slack:C01                        the same, and answers its questions
  reprise COMMAND --help                          more about a command

Exit status: 0 done, 1 failed, 2 wrong usage, 3 not found.)";
}

std::string serve_footer() {
  return R"(
A setting is taken from its flag, else its variable (in brackets, after the default; lists
separated by commas), else the file of --config, whose members are named like the flags:
  {"listen": "0.0.0.0:7450", "tokensFile": "tokens.json", "corsOrigins": ["https://app.example"]}

Ready when it prints 'listening on http://HOST:PORT'. SIGTERM or SIGINT: finish and exit 0.

Examples:
  reprise serve --data /var/lib/reprise
  reprise serve --listen 0.0.0.0:7450 --tokens-file tokens.json \
      --tls-cert cert.pem --tls-key key.pem
  REPRISE_LOG_FORMAT=json reprise serve --config /etc/reprise.json)";
}

std::string append_footer() {
  return R"(Examples:
  reprise events append slack:C01 --type message --data '{"text":"hello"}'
  echo '{"step":1}' | reprise events append slack:C01 --type checkpoint --data -
  my-agent | reprise events append slack:C01 --type log --lines)";
}

std::string tail_footer() {
  return R"(
A lost connection or a restarted server is met by trying again from the last event seen, so
nothing is missed or shown twice. Ends when the session does.

Examples:
  reprise tail slack:C01 --types message,status_change
  reprise tail slack:C01 --no-follow --json | jq .data)";
}

std::string attach_footer() {
  return R"(
Questions are asked one after the other: text is typed (JSON where the question has a schema
that is not for a string), choices are made with the arrow keys, Enter and, where several may be
chosen, the space bar; y or n confirms. A question that somebody else answers goes away. Ctrl-D
leaves. A lost connection is met as tail meets it. Ends when the session does.

Examples:
  reprise attach slack:C01
  printf 'Ada\ny\n' | reprise attach slack:C01 --lines)";
}

std::string audit_footer() {
  return R"(
Exit status 1 if an entry was changed, dropped, swapped or cut off.

Examples:
  reprise audit verify slack:C01
  reprise audit export slack:C01 > C01.audit.jsonl
  reprise audit verify --file C01.audit.jsonl)";
}

std::string artifacts_footer() {
  return R"(
What is under tmp/ goes with the session's end; the rest is kept, with all of its versions.

Examples:
  reprise artifacts put slack:C01 workspace/report.md report.md --type text/markdown
  tar c logs | reprise artifacts put slack:C01 workspace/logs.tar --kind log
  reprise artifacts get slack:C01 workspace/report.md --version 1 -o first.md)";
}

std::string token_footer() {
  return R"(The server's file holds only a hash; the token itself is shown once.

Example:
  reprise token new --name ci --scopes read --apps slack,web
  reprise token new --name ci --json > made.json
  jq '{tokens: [.entry]}' made.json > tokens.json)";
}

}  // namespace reprise::server::cli
