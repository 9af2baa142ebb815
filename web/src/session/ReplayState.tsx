// How far the history is replayed, and whether it is live.
import { count } from '../ui/times';
import type { History } from './history';

const words = { loading: 'Loading …', live: 'Live', lost: 'Reconnecting …', ended: 'Ended' };

export function ReplayState({ history }: { history: History }) {
  const total = history.head.value;
  const loaded = history.loaded.value;
  const following = history.following.value;
  if (!history.isComplete.value && total > 0) {
    return (
      <span class="replay">
        <progress max={total} value={loaded} aria-label="History replayed" />
        <span>{count(loaded)} of {count(total)}</span>
      </span>
    );
  }
  return (
    <span class={`badge badge-${following}`} role="status">
      <span class="dot" aria-hidden="true" />
      {words[following]}
    </span>
  );
}
