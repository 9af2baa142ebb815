// reprise replay: what was done in a session's browser is done again in a fresh one, and what comes out differently is
// told.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, run, startServer, unique } from './harness.mjs';

// A shop whose next version has other refs, other ids, or another outcome.
function startShop() {
  const shop = { version: 1 };
  const page = () => `<title>Shop</title>
    ${shop.version > 1 ? '<button>News</button><a href="#">More</a><input aria-label="Search">' : ''}
    <label>Name <input id=name${shop.version}></label>
    <label>Password <input type=password id=secret${shop.version}></label>
    <ul><li draggable=true>one</li><li>two</li></ul>
    <button id=buy${shop.version} onclick="document.title = ${shop.version < 3} ? 'Bought by ' + document.querySelector('[id^=name]').value
      + ' ' + document.querySelector('[type=password]').value.length : 'Sold out'">Buy</button>
    <button>Buy</button>`;
  const site = http.createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(request.url === '/next' ? '<title>Next</title>' : page());
  });
  return new Promise((ready) => site.listen(0, '127.0.0.1', () => ready({ shop, site, origin: `http://127.0.0.1:${site.address().port}` })));
}

describe('reprise replay', () => {
  let server;
  let web;
  before(async () => {
    web = await startShop();
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    web.site.closeAllConnections();
    web.site.close();
  });

  const tool = (session, name, args = {}) => server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const refOf = (text, line) => new RegExp(`${line}.*\\[ref=(\\w+)\\]`).exec(text)?.[1] ?? assert.fail(`${line} is not in\n${text}`);
  const replay = (...args) => run(['replay', ...args, '--server', server.url]);
  const lines = ({ stdout }) => stdout.trim().split('\n');

  // A session that buys, by refs, with a password.
  const record = async () => {
    web.shop.version = 1;
    const session = await server.create({ app: unique('replay'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
    const done = async (name, args) => {
      const answer = await tool(session, name, args);
      assert.ok(answer.ok, JSON.stringify(answer.error));
      return answer;
    };
    await done('navigate', { url: `${web.origin}/` });
    const text = (await done('snapshot')).result.snapshot;
    await done('type', { element: 'name', target: refOf(text, 'textbox "Name"'), text: 'Ada' });
    await done('type', { element: 'password', target: refOf(text, 'textbox "Password"'), text: 'hunter2' });
    const bought = await done('click', { element: 'buy', target: refOf(text, 'button "Buy"') });
    assert.equal(bought.page.title, 'Bought by Ada 7');
    await done('tabs', { action: 'new', url: `${web.origin}/next` });
    await done('tabs', { action: 'select', index: 0 });
    assert.equal((await tool(session, 'click', { target: '#nowhere' })).error.code, 'not_found');
    return session;
  };

  it('finds elements whose refs, ids and places have moved', async () => {
    const session = await record();
    web.shop.version = 2;
    const again = await replay(session.id, '--secret', 'Password=hunter2', '--keep');
    assert.equal(again.code, 0, again.stdout + again.stderr);
    const [, id] = /in session (\S+): 0 differ/.exec(again.stdout);
    const { commands } = await server.ok('GET', `/v1/sessions/${id}/commands?limit=100`);
    assert.deepEqual(commands.map(({ tool: name }) => name).filter((name) => name !== 'browser_snapshot'),
      ['browser_navigate', 'browser_type', 'browser_type', 'browser_click', 'browser_tabs', 'browser_tabs', 'browser_click']);
    assert.equal(commands.find(({ tool: name }) => name === 'browser_click').page.title, 'Bought by Ada 7');
    assert.equal((await server.get(id)).metadata.replayOf, session.id);
    assert.ok(!JSON.stringify(await server.events(id)).includes('hunter2'));
    assert.ok(!again.stdout.includes('hunter2') && !again.stderr.includes('hunter2'));
  });

  it('tells where the outcome differs, and says so by its exit status', async () => {
    const session = await record();
    web.shop.version = 3;
    const again = await replay(session.id, '--secret', 'Password=hunter2');
    assert.equal(again.code, 1, again.stdout + again.stderr);
    const click = lines(again).find((line) => line.includes('browser_click differs'));
    assert.match(click, /has the title "Sold out" instead of "Bought by Ada 7"/);
    const json = await replay(session.id, '--secret', 'Password=hunter2', '--json');
    assert.equal(json.code, 1);
    const told = lines(json).map((line) => JSON.parse(line));
    assert.ok(told.at(-1).different >= 1);
    assert.ok(told.some(({ verdict, tool: name }) => verdict === 'same' && name === 'browser_navigate'));
    const ended = await server.get(told.at(-1).session);
    assert.equal(ended.status, 'COMPLETED');
  });

  it('stops before anything is done where a secret is needed, and names it', async () => {
    const session = await record();
    const before = (await server.list(`app=${session.app}`)).length;
    const stopped = await replay(session.id);
    assert.equal(stopped.code, 1);
    assert.match(stopped.stderr, /needs_secret: command \d+ \(browser_type\) needs 'Password'/);
    const [, number] = /--secret (\d+)=/.exec(stopped.stderr);
    assert.equal((await server.list(`app=${session.app}`)).length, before);
    const problem = JSON.parse((await replay(session.id, '--json')).stderr);
    assert.deepEqual([problem.code, problem.secret], ['needs_secret', 'Password']);
    assert.equal((await replay(session.id, '--secret', `${number}=hunter2`)).code, 0);
    assert.equal((await replay(session.id, '--secret', 'hunter2')).code, 2);
    assert.equal((await replay('nobody:here')).code, 3);
  });

  it('has nothing to do where nothing was done', async () => {
    const session = await server.create({ app: unique('replay'), status: 'ACTIVE' });
    const nothing = await replay(session.id);
    assert.equal(nothing.code, 0);
    assert.match(nothing.stderr, /nothing was done/);
  });
});
