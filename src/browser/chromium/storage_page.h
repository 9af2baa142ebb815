// StoragePage: a page that nobody sees, in which the local storage of any origin can be read and
// written without a byte from the network.
//
// The DevTools protocol reads local storage only where a frame of that origin is. So this page goes
// to the origin's address, every request of it is answered by us with an empty document, and
// service workers are passed by: no script runs in it but ours.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "browser/chromium/connection.h"
#include "browser/storage_state.h"

namespace reprise::browser::chromium {

// DOMStorage's entries of an origin as the session's frames show it; nothing if no frame does, or
// only one that other sites' pages hold (whose storage is another).
rt::Task<Result<std::optional<std::vector<StorageItem>>>> shown_storage(CdpConnection& connection,
                                                                        std::string session,
                                                                        std::string origin,
                                                                        rt::Deadline deadline);

class StoragePage final : public CdpListener {
 public:
  // The connection outlives it. The target waits to be let run.
  StoragePage(CdpConnection& connection, std::string target, std::string session);
  ~StoragePage() override;
  StoragePage(const StoragePage&) = delete;
  StoragePage& operator=(const StoragePage&) = delete;

  const std::string& target() const { return target_; }
  rt::Task<Result<>> prepare(rt::Deadline deadline);
  // Nothing where the browser does not go to the origin, as to http where it insists on https.
  rt::Task<Result<std::optional<std::vector<StorageItem>>>> read(std::string origin,
                                                                 rt::Deadline deadline);
  // The origin's items are these afterwards. kToolFailed if they do not fit.
  rt::Task<Result<>> replace(OriginStorage storage, rt::Deadline deadline);
  // The browser has closed it: what waits for it fails.
  void gone();

 private:
  void on_event(const std::string& session, std::string_view method,
                wire::JsonValue params) override;
  void on_closed() override {}
  rt::Task<Result<bool>> go(std::string origin, rt::Deadline deadline);
  rt::Task<Result<std::string>> evaluate(std::string expression, rt::Deadline deadline);

  CdpConnection& connection_;
  const std::string target_;
  const std::string session_;
  rt::CancelScope scope_;
};

}  // namespace reprise::browser::chromium
