// How the commands about a session's files and its audit are written.
#include "server/cli/arguments.h"
#include "server/cli/help_text.h"

namespace reprise::server::cli {
namespace {

constexpr const char* kKinds = "code, note, log, attachment or other";

void add_artifact_path(Command command, std::string& path) {
  command.operand("PATH", path, "The artifact's path, such as workspace/report.md");
}

void add_list(Command artifacts, Arguments& arguments) {
  Command list = artifacts.add("list", "List a session's files by path");
  ArtifactFilter& filter = arguments.artifact_filter;
  add_session(list, filter.session);
  list.option({"--prefix", "PREFIX", "Only paths that begin so"}, filter.prefix);
  list.option({"--kind", "KIND", kKinds}, filter.kind);
  list.flag("--versions", filter.wants_versions, "Every version, not only the newest");
  list.option({"--limit", "N", "At most so many a page [50]"}, filter.limit,
              {.least = 1, .most = 500});
  list.flag("--all", filter.wants_all, "All pages");
  add_client_options(list, arguments);
  list.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      return list_artifacts(arguments.client, arguments.artifact_filter);
    };
  });
}

void add_put(Command artifacts, Arguments& arguments) {
  Command put = artifacts.add("put", "Upload a file", artifacts_footer());
  ArtifactToPut& given = arguments.artifact_to_put;
  add_session(put, given.session);
  add_artifact_path(put, given.path);
  put.operand("FILE", given.file, "What to upload [-, standard input]", false);
  put.option({"--kind", "KIND", kKinds}, given.kind);
  put.option({"--type", "TYPE", "Its media type [application/octet-stream]"}, given.content_type);
  add_client_options(put, arguments);
  put.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      return put_artifact(arguments.client, arguments.artifact_to_put);
    };
  });
}

void add_get(Command artifacts, Arguments& arguments) {
  Command get = artifacts.add("get", "Download a file", artifacts_footer());
  ArtifactToGet& given = arguments.artifact_to_get;
  add_session(get, given.session);
  add_artifact_path(get, given.path);
  get.option({"--version", "N", "An older version [the newest]"}, given.version);
  get.option({"-o,--output", "FILE", "Where to write it [-, standard output]"}, given.output);
  add_client_options(get, arguments);
  get.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      return get_artifact(arguments.client, arguments.artifact_to_get);
    };
  });
}

}  // namespace

void add_artifacts(Command root, Arguments& arguments) {
  Command artifacts = root.add("artifacts", "List, put and get the files of a session");
  artifacts.require_one();
  add_list(artifacts, arguments);
  add_put(artifacts, arguments);
  add_get(artifacts, arguments);
}

void add_audit(Command root, Arguments& arguments) {
  Command audit = root.add("audit", "Verify and export the audit of tool calls");
  audit.require_one();
  Command verify =
      audit.add("verify", "Re-compute the hash chain of a session or of an export", audit_footer());
  AuditToVerify& given = arguments.audit;
  add_session(verify, given.session, false);
  verify.option(
      {"--file", "FILE|-", wrapped("An export, verified without a server; - is standard input")},
      given.file);
  verify.option({"--known-hash", "HEX",
                 wrapped("With --file: a hash from an earlier export or verification that the "
                         "chain must pass through")},
                given.known_hash);
  add_client_options(verify, arguments);
  verify.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      const AuditToVerify& to_verify = arguments.audit;
      if (to_verify.session.empty() == to_verify.file.empty())
        return wrong_usage(arguments, "name a SESSION, or a --file");
      if (!to_verify.known_hash.empty() && to_verify.file.empty())
        return wrong_usage(arguments, "--known-hash goes with --file");
      return verify_audit(arguments.client, to_verify);
    };
  });

  Command write = audit.add("export", "Print a session's audit as lines of JSON",
                            "Example:\n  reprise audit export slack:C01 > C01.audit.jsonl");
  add_session(write, arguments.session);
  add_client_options(write, arguments);
  write.chosen([&arguments] {
    arguments.chosen = [&arguments] { return export_audit(arguments.client, arguments.session); };
  });
}

void add_replay(Command root, Arguments& arguments) {
  Command replay =
      root.add("replay", "Do again what was done in a session's browser, in a fresh session",
               "Example:\n  reprise replay shop:checkout --secret 'Password=hunter2'\n\n"
               "Exits with 1 where something came out differently, or a secret is needed; with 4 "
               "where all that could be done came out the same, and something was skipped.");
  ReplayOptions& given = arguments.replay;
  add_session(replay, given.session);
  replay.repeated({"--secret", "NAME=VALUE",
                   wrapped("What was not stored, by the name of its field, cookie or item, or by "
                           "the command's number; may be repeated")},
                  given.secrets);
  replay.option({"--browser", "JSON", "Options of its browser, as for POST …/browser"},
                given.browser);
  replay.flag("--no-snapshots", given.ignores_snapshots, "Do not compare what pages show");
  replay.flag("--keep", given.keeps_session, "Leave the new session open");
  add_client_options(replay, arguments);
  replay.chosen([&arguments] {
    arguments.chosen = [&arguments] { return replay_session(arguments.client, arguments.replay); };
  });
}

}  // namespace reprise::server::cli
