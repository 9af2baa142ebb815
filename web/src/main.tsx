import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/sessions.css';
import './styles/session.css';
import './styles/panels.css';
import './styles/narrow.css';
import 'uplot/dist/uPlot.min.css';
import { render } from 'preact';
import { learnWho } from './api/client';
import { App } from './App';
import { startMonitor } from './monitor/monitor';

const root = document.getElementById('app');
if (root) {
  startMonitor();
  render(<App />, root);
  void keepAsking();
}

// Until the server has said who we are, there is nothing to show.
async function keepAsking(): Promise<void> {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8_000)) {
    try {
      return await learnWho();
    } catch {
      await new Promise((resolve) => { setTimeout(resolve, wait); });
    }
  }
}
