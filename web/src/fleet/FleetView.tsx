// The fleet: how the server is, how busy it is, and who works for it.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, send } from '../api/client';
import type { Agent, Health, Pool } from '../api/types';
import { Empty, Notice } from '../ui/parts';
import { ago, bytes, count, duration } from '../ui/times';
import { Chart } from './Chart';
import { parseMetrics, quantile, rate, type Reading } from './metrics';

const everyMs = 2_000;
const firstMs = 500;  // until there is something to plot
const kept = 300;

interface Point {
  at: number;
  requests: number;
  commits: number;
  median: number | null;
  slowest: number | null;
  streams: number;
  connections: number;
}

interface State {
  health: Health | undefined;
  pools: Pool[];
  agents: Agent[];
  points: Point[];
  problem: string;
}

export function FleetView() {
  const state = useSignal<State>({ health: undefined, pools: [], agents: [], points: [], problem: '' });
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    let before: Reading | undefined;
    const look = async () => {
      if (!document.hidden) {
        try {
          const [health, { pools }, { agents }, text] = await Promise.all([
            get<Health>('/v1/health'), get<{ pools: Pool[] }>('/v1/pools'), get<{ agents: Agent[] }>('/v1/agents?limit=200'),
            send('GET', '/metrics').then((response) => response.text()),
          ]);
          if (isOver) return;
          const reading = { at: Date.now(), samples: parseMetrics(text) };
          const points = before ? [...state.peek().points, pointOf(before, reading)].slice(-kept) : state.peek().points;
          before = reading;
          state.value = { health, pools, agents, points, problem: '' };
        } catch (error) {
          if (!isOver) state.value = { ...state.peek(), problem: (error as Error).message };
        }
      }
      if (!isOver) timer = window.setTimeout(() => void look(), state.peek().points.length < 2 ? firstMs : everyMs);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);

  const { health, pools, agents, points, problem } = state.value;
  return (
    <main class="view">
      <header class="view-head">
        <h1>Fleet</h1>
        {health && (
          <span class={`status ${health.status === 'ok' ? 'status-active' : 'status-failed'}`}>
            <span class="dot" aria-hidden="true" />{health.status === 'ok' ? 'Healthy' : 'Degraded'}
          </span>
        )}
        {health && <span class="quiet">Reprise {health.version}, up {duration(health.uptimeSeconds * 1000)}</span>}
      </header>
      <div class="fleet" tabIndex={0} role="group" aria-label="Fleet">
        {problem !== '' && <Notice>{problem}</Notice>}
        {health?.problems.map((one) => <Notice key={one}>{one}</Notice>)}
        {health && <Figures health={health} />}
        <Charts points={points} />
        <Pools pools={pools} />
        <Agents agents={agents} />
      </div>
    </main>
  );
}

function pointOf(before: Reading, after: Reading): Point {
  const name = 'reprise_http_request_seconds';
  const value = (key: string) => after.samples.get(key) ?? 0;
  return {
    at: after.at / 1000,
    requests: rate(before, after, 'reprise_http_requests_total'),
    commits: rate(before, after, 'reprise_store_commits_total'),
    median: quantile(before, after, name, 0.5) ?? null,
    slowest: quantile(before, after, name, 0.99) ?? null,
    streams: value('reprise_http_streams'),
    connections: value('reprise_http_connections'),
  };
}

function Figures({ health }: { health: Health }) {
  const { store } = health;
  const figures: [string, string][] = [
    ['Store', store.state === 'ok' ? 'writable' : store.state.replace('_', ' ')],
    ['On disk', bytes(store.bytesOnDisk)],
    ['Free', bytes(store.freeBytes)],
    ['Sessions in memory', count(health.sessions.loaded)],
    ['Connections', count(health.http.connections)],
    ['Streams', count(health.http.streams)],
    ['Agents', `${count(health.agents.alive)} alive, ${count(health.agents.lost)} lost`],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

const perSecond = (value: number) => (value >= 10 ? count(Math.round(value)) : value.toFixed(1));
const seconds = (value: number) => (value < 0.001 ? `${Math.round(value * 1e6)} µs` : value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(1)} s`);

function Charts({ points }: { points: Point[] }) {
  const times = points.map(({ at }) => at);
  const of = <K extends keyof Point>(key: K) => points.map((point) => point[key]);
  if (points.length < 2) return <Empty title="Measuring …" />;
  return (
    <div class="charts">
      <Chart title="Throughput, per second" times={times} format={perSecond} series={[
        { label: 'requests', color: 'blue-dot', values: of('requests') }, { label: 'commits', color: 'green-dot', values: of('commits') }]} />
      <Chart title="Latency of requests" times={times} format={seconds} series={[
        { label: 'median', color: 'blue-dot', values: of('median') }, { label: '99 %', color: 'amber-dot', values: of('slowest') }]} />
      <Chart title="Open" times={times} format={(value) => String(Math.round(value))} series={[
        { label: 'connections', color: 'blue-dot', values: of('connections') }, { label: 'streams', color: 'violet-dot', values: of('streams') }]} />
    </div>
  );
}

function Pools({ pools }: { pools: Pool[] }) {
  return (
    <section aria-label="Pools">
      <h2>Pools of browsers</h2>
      {pools.length === 0 ? <p class="quiet">There are none.</p> : (
        <table class="plain-table">
          <thead><tr><th>Pool</th><th>Kind</th><th>Status</th><th class="right">Contexts</th><th class="right">Waiting</th><th>Browsers</th><th class="right">Memory</th><th>Heartbeat</th></tr></thead>
          <tbody>
            {pools.map((pool) => (
              <tr key={pool.poolKey}>
                <td><b>{pool.poolKey}</b></td>
                <td>{pool.kind}</td>
                <td><span class={`status ${pool.status === 'stale' ? 'status-failed' : 'status-active'}`}><span class="dot" aria-hidden="true" />{pool.status}</span></td>
                <td class="number right">{count(pool.contexts)} of {count(pool.maxContexts)}</td>
                <td class="number right">{count(pool.waiting)}</td>
                <td class="cut">{pool.lastError ?? pool.location ?? (pool.browsers.map(({ version, pid }) => `${version} (${pid})`).join(', ') || 'none runs')}</td>
                <td class="number right">{bytes(pool.browsers.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0))}</td>
                <td class="number">{pool.heartbeatAt ? ago(pool.heartbeatAt) : 'not since the restart'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Agents({ agents }: { agents: Agent[] }) {
  return (
    <section aria-label="Agents">
      <h2>Agents</h2>
      {agents.length === 0 ? <p class="quiet">No worker has registered. One that does, and beats, appears here.</p> : (
        <table class="plain-table">
          <thead><tr><th>Agent</th><th>Status</th><th class="right">Generation</th><th class="right">Beats every</th><th>Last heartbeat</th><th>Registered</th></tr></thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={agent.id}>
                <td><b>{agent.id}</b></td>
                <td><span class={`status ${agent.status === 'alive' ? 'status-active' : 'status-failed'}`}><span class="dot" aria-hidden="true" />{agent.status}</span></td>
                <td class="number right">{agent.generation}</td>
                <td class="number right">{agent.heartbeatSeconds} s</td>
                <td class="number">{agent.lastHeartbeatAt ? ago(agent.lastHeartbeatAt) : 'not since the restart'}</td>
                <td class="number">{ago(agent.registeredAt)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
