// Browsers for tests of their routes: a pool whose browsers never start.
//
// Included by tests only.
#pragma once

#include "api/browsers.h"
#include "api/cdp.h"
#include "api/live.h"
#include "api/mcp/browser_host.h"
#include "api/mcp/endpoint.h"
#include "api/pools.h"
#include "api/testing.h"
#include "api/url_policies.h"
#include "rt/resolver.h"

namespace reprise::api::testing {

class Browsers {
 public:
  explicit Browsers(Api& api)
      : service_(api.loop(), outside_, api.service(), api.artifacts(), api.clock(), random_,
                 redactor_, {}),
        mcp_({&api.loop()}, mcp_host_, api.clock(), random_, {}) {
    service_.add_pool(std::make_unique<browser::Pool>(
        api.loop(), api.clock(), std::make_unique<NoBrowser>(), browser::PoolOptions{}));
    add_browser_routes(api.router(), routes_);
    add_graph_routes(api.router(), routes_);
    add_graph_query_routes(api.router(), routes_);
    add_pool_routes(api.router(), routes_);
    add_live_routes(api.router(), routes_);
    add_url_policy_routes(api.router(), api.service());
    add_mcp_routes(api.router(), mcp_);
    add_cdp_routes(api.router(), cdp_routes_);
  }

 private:
  class NoBrowser final : public browser::Driver {
   public:
    rt::Task<Result<>> sweep() override { co_return Result<>{}; }
    rt::Task<Result<std::shared_ptr<browser::Browser>>> start(std::function<void()>) override {
      co_return fail(Code::kBrowserError, "there is no browser here");
    }
    std::string_view kind() const override { return "headless-shell"; }
  };

  rt::RealLoop network_;  // never runs: nothing is connected to
  rt::InlinePool pool_;
  rt::SystemResolver resolver_{pool_};
  browser::ForbiddenPorts ports_;
  browser::ProxyProbe probe_;
  browser::Outside outside_{network_, resolver_, ports_, probe_};
  SeededRandom random_{11};
  const model::Redactor redactor_;
  browser::BrowserService service_;
  BrowserRoutes routes_{service_};
  BrowserToolHost mcp_host_{service_};
  McpEndpoint mcp_;
  CdpRoutes cdp_routes_{service_, random_};
};

}  // namespace reprise::api::testing
