// ChromiumScreencast: Page.startScreencast of one page's session.
//
// Chromium sends frames as the page is drawn, at most two or three beyond those that were
// acknowledged; what is drawn while it waits for acknowledgements is never sent.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <cstddef>
#include <string>

#include "browser/chromium/connection.h"
#include "browser/driver.h"
#include "wire/json.h"

namespace reprise::browser::chromium {

class ChromiumScreencast final : public Screencast {
 public:
  // The connection outlives it; `session` is the page's.
  ChromiumScreencast(CdpConnection& connection, std::string session);

  void start(ScreencastOptions options, OnFrame told) override;
  void go_on() override;
  void stop() override;

  // The parameters of a Page.screencastFrame.
  void take(wire::JsonValue params);
  // The page is closed: the connection is not used any more.
  void gone();

 private:
  CdpConnection& connection_;
  const std::string session_;
  OnFrame told_;
  int cast_ = 0;                // which of the page's screencasts the last frame was of
  std::size_t unanswered_ = 0;  // frames that were not acknowledged
  bool is_gone_ = false;
};

}  // namespace reprise::browser::chromium
