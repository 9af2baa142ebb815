// Whatever a caller, a page or a site calls a file: it is refused, or it is an artifact's path, and
// what is written and read for it stays in the directory that was made for it. Tried on a real
// directory that has links, pipes and folders planted where names could lead to them.
//
// The input is one name. It is taken as each of the things that a name can be: `paths` and
// `filename` of tools, files of DOM.setFileInputFiles and of drags, what a site suggests for a
// download, and the context and id that a browser gives one.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "browser/browser_files.h"
#include "browser/download_book.h"
#include "browser/file_lender.h"
#include "browser/limits.h"
#include "browser/profile_dirs.h"
#include "model/artifact.h"
#include "wire/url.h"

namespace {

using namespace reprise;
using namespace reprise::browser;
namespace fs = std::filesystem;

constexpr std::string_view kSecret = "root:x:0:0";
constexpr std::string_view kDownload = "what was downloaded";

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string read_all(const rt::Descriptor& file) {
  std::string bytes(4096, '\0');
  const ssize_t count = ::pread(file.number(), bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return bytes;
}

// A browser's files, with a directory beside them that nothing may touch.
class World {
 public:
  World() {
    std::string made = (fs::temp_directory_path() / "reprise-file-fuzz-XXXXXX").string();
    REPRISE_ASSERT(::mkdtemp(made.data()) != nullptr, made);
    root_ = fs::canonical(made);
    fs::create_directory(victim());
    std::ofstream(victim() / "passwd") << kSecret;
    directories_ = ProfileDirs::open(root_ / "run").value();
    profile_ = directories_->make(std::nullopt).value();
    files_ = BrowserFiles::make(*directories_, profile_).value();
    out_ = files_->downloads_of("C").parent_path();
    in_ = out_.parent_path() / "in";
    fs::create_directories(out_ / "C");
    // As a hostile browser could leave them.
    fs::create_symlink(victim() / "passwd", out_ / "C" / "link");
    fs::create_hard_link(victim() / "passwd", out_ / "C" / "hard");
    fs::create_directory(out_ / "C" / "folder");
    REPRISE_ASSERT(::mkfifo((out_ / "C" / "pipe").c_str(), 0600) == 0);
    fs::create_directory_symlink(victim(), out_ / "L");
    // And as nobody can: what we write goes through no link either.
    fs::create_directory_symlink(victim(), in_ / "L");
  }
  ~World() {
    files_.reset();
    directories_.reset();
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  BrowserFiles& files() { return *files_; }
  const fs::path& in() const { return in_; }
  fs::path victim() const { return root_ / "victim"; }

  void put_download(const std::string& id) const {
    std::ofstream(out_ / "C" / id, std::ios::binary) << kDownload;
  }
  void check_untouched() const {
    REPRISE_ASSERT(std::distance(fs::directory_iterator(victim()), {}) == 1);
    REPRISE_ASSERT(read_all(victim() / "passwd") == kSecret);
  }

 private:
  fs::path root_;
  std::unique_ptr<ProfileDirs> directories_;
  Profile profile_;
  std::unique_ptr<BrowserFiles> files_;
  fs::path in_;
  fs::path out_;
};

World& world() {
  static World made;
  return made;
}

// A file that was lent is where files of its context are, is new, and is what its name leads to.
void check_lent(const std::string& context, const LentFile& lent, std::string_view name) {
  REPRISE_ASSERT(lent.path.native().find('\0') == std::string::npos);
  REPRISE_ASSERT(lent.path.filename() == name, lent.path.native());
  const fs::path folder = lent.path.parent_path();
  REPRISE_ASSERT(folder.parent_path() == world().in() / context, lent.path.native());
  REPRISE_ASSERT(fs::canonical(lent.path) == lent.path, lent.path.native());
  struct stat opened{};
  struct stat named{};
  REPRISE_ASSERT(::fstat(lent.file.number(), &opened) == 0);
  REPRISE_ASSERT(::lstat(lent.path.c_str(), &named) == 0, lent.path.native());
  REPRISE_ASSERT(S_ISREG(named.st_mode) && named.st_ino == opened.st_ino && named.st_nlink == 1);
  REPRISE_ASSERT(named.st_size == 0);
  REPRISE_ASSERT(::write(lent.file.number(), "x", 1) == 1);
}

// What names an artifact can be lent, under a name that is one part of a path.
void check_artifact(std::string_view path) {
  if (!model::check_artifact_path(path)) return;
  REPRISE_ASSERT(!path.starts_with('/') && path.find('\0') == std::string_view::npos);
  REPRISE_ASSERT(path.find('\\') == std::string_view::npos);
  REPRISE_ASSERT(fs::path(path).lexically_normal() == fs::path(path), path);
  for (const fs::path& part : fs::path(path)) REPRISE_ASSERT(part != ".." && part != ".", path);
  const std::string name = lent_name(path);
  REPRISE_ASSERT(!name.empty() && name.size() <= kMaxLentNameBytes, path);
  const auto lent = world().files().lend("D", name);
  REPRISE_ASSERT(lent.has_value(), path, lent.error().detail);
  check_lent("D", *lent, name);
  REPRISE_ASSERT(!world().files().lend("L", name), name);
}

// Any name at all, and any context.
void check_raw(const std::string& name) {
  if (const auto lent = world().files().lend("D", name)) check_lent("D", *lent, name);
  const auto elsewhere = world().files().lend(name, "file.txt");
  if (elsewhere) check_lent(name, *elsewhere, "file.txt");
  REPRISE_ASSERT(elsewhere.has_value() == (is_plain_name(name) && name != "L"), name);
  if (elsewhere) REPRISE_ASSERT(world().files().forget(name).has_value(), name);
}

// A context that goes takes no more with it than what is its own.
void check_forgotten() {
  fs::create_directory_symlink(world().victim(), world().in() / "D" / "link");
  REPRISE_ASSERT(world().files().forget("D").has_value());
  REPRISE_ASSERT(!fs::exists(world().in() / "D"));
}

// What a browser says of its downloads: taken is what it downloaded, and nothing that it links to.
void check_download(const std::string& id) {
  const bool is_plain = is_plain_name(id);
  const bool is_planted = id == "link" || id == "hard" || id == "folder" || id == "pipe";
  if (is_plain && !is_planted) world().put_download(id);
  const auto taken = world().files().take_download("C", id);
  REPRISE_ASSERT(taken.has_value() == (is_plain && !is_planted), id);
  if (taken) REPRISE_ASSERT(read_all(*taken) == kDownload, id);
  REPRISE_ASSERT(!world().files().take_download("L", id), id);
  REPRISE_ASSERT(!world().files().take_download(id, "passwd"), id);
}

// What a site calls its file is an artifact below downloads/, the second of its name too.
void check_suggested(std::string_view name) {
  for (const unsigned number : {1U, 2U, 1000U}) {
    const std::string path = download_path(name, number);
    REPRISE_ASSERT(model::check_artifact_path(path).has_value(), path);
    REPRISE_ASSERT(path.starts_with("downloads/") && std::ranges::count(path, '/') == 1, path);
    check_artifact(path);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_artifact(bytes);
  check_artifact(wire::percent_decode(bytes));
  check_raw(bytes);
  check_download(bytes);
  check_suggested(bytes);
  check_forgotten();
  world().check_untouched();
  return 0;
}
