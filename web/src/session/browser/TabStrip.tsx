// The tabs of a browser, as tabs.
import { Button } from '../../ui/parts';
import type { LiveTab } from './live';

interface Props {
  tabs: LiveTab[];
  isUsable: boolean;
  onActivate: (id: string) => void;
  // Only for whoever has taken over.
  onClose?: ((id: string) => void) | undefined;
  onNew?: (() => void) | undefined;
}

export function TabStrip({ tabs, isUsable, onActivate, onClose, onNew }: Props) {
  const shown = tabs.filter(({ status }) => status !== 'closed').sort((a, b) => a.index - b.index);
  if (shown.length === 0) return null;
  return (
    <div class="browser-tabs" role="group" aria-label="Tabs">
      {shown.map((tab) => (
        <span key={tab.id} class={`browser-tab${tab.status === 'crashed' ? ' crashed' : ''}${tab.isActive ? ' active' : ''}`}>
          <button type="button" aria-pressed={tab.isActive} disabled={!isUsable} title={tab.url}
            onClick={() => { if (!tab.isActive) onActivate(tab.id); }}>
            {tab.title || tab.url || 'New tab'}
          </button>
          {onClose && <Button icon="close" kind="quiet" label={`Close ${tab.title || tab.url}`} onClick={() => onClose(tab.id)} />}
        </span>
      ))}
      {onNew && <Button icon="plus" kind="quiet" label="New tab" onClick={onNew} />}
    </div>
  );
}
