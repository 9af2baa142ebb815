// Live: the live view of a session's browser, over one WebSocket (docs/live.md).
//
// Pictures come as fast as they are drawn: each is acknowledged when it is on the screen. A connection that breaks is made
// again; a person who has taken over claims the browser again on the new one.
import { signal } from '@preact/signals';
import { call, post, sessionPath } from '../../api/client';

export interface LiveTab {
  id: string;
  index: number;
  status: 'open' | 'crashed' | 'closed';
  url: string;
  title: string;
  isActive: boolean;
}

export interface LiveState {
  browser: 'open' | 'hibernated' | 'orphaned' | 'closed' | 'none';
  activeTabId: string | null;
  tabs: LiveTab[];
  dialog: { tabId: string; kind: string; message: string; defaultText: string } | null;
  fileChooser: { tabId: string } | null;
  select: {
    options: { value: string; label: string; isSelected: boolean; isDisabled: boolean }[];
    box: { x: number; y: number; width: number; height: number };
  } | null;
  takeOver: { by: string | null; takenAt: string; isConnected: boolean } | null;
}

export interface Frame {
  tabId: string;
  url: string;
  title: string;
  width: number;
  height: number;
  offsetTop: number;
}

export type LiveConnection = 'connecting' | 'open' | 'lost' | 'over';
type Draw = (frame: Frame, picture: ImageBitmap) => void;

interface Answer {
  type: 'answer';
  ok: boolean;
  error?: { code: string; message: string };
}

const firstRetryMs = 500;
const lastRetryMs = 8_000;
const endedCode = 4001;
const fullCode = 4009;

export class Live {
  readonly connection = signal<LiveConnection>('connecting');
  readonly state = signal<LiveState | undefined>(undefined);
  readonly why = signal('');  // why it is over
  readonly lease = signal('');  // of our own take-over
  readonly refusal = signal('');  // of what we last did
  private socket: WebSocket | undefined;
  private retryMs = firstRetryMs;
  private timer = 0;
  private isClosed = false;
  frame: Frame | undefined;

  constructor(private readonly session: string, private readonly draw: Draw) {
    document.addEventListener('visibilitychange', this.onVisibility);
    this.connect();
  }

  close(): void {
    this.isClosed = true;
    document.removeEventListener('visibilitychange', this.onVisibility);
    clearTimeout(this.timer);
    this.socket?.close();
    if (this.lease.peek() !== '') void this.handBack();
  }

  async takeOver(): Promise<void> {
    const { leaseId } = await post<{ leaseId: string }>(sessionPath(this.session, '/browser/takeover'));
    this.lease.value = leaseId;
    this.send({ type: 'claim', leaseId });
  }

  async handBack(): Promise<void> {
    this.lease.value = '';
    await call('DELETE', sessionPath(this.session, '/browser/takeover'));
  }

  send(message: Record<string, unknown>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // Nobody looks at a hidden tab; but whoever has taken over goes on having it.
  private readonly onVisibility = () => {
    if (!document.hidden) {
      if (!this.socket) this.connect();
    } else if (this.lease.peek() === '') {
      const { socket } = this;
      this.socket = undefined;
      socket?.close();
    }
  };

  private connect(): void {
    if (this.isClosed || document.hidden) return;
    const url = new URL(sessionPath(this.session, '/live'), location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      this.retryMs = firstRetryMs;
      this.connection.value = 'open';
      if (this.lease.peek() !== '') this.send({ type: 'claim', leaseId: this.lease.peek() });
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === 'string') this.take(JSON.parse(data) as Answer | (LiveState & { type: 'state' }));
      else void this.show(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.socket !== socket || this.isClosed) return;
      this.socket = undefined;
      if (code === endedCode || code === fullCode) {
        this.why.value = reason;
        this.connection.value = 'over';
        return;
      }
      this.connection.value = 'lost';
      this.timer = window.setTimeout(() => this.connect(), this.retryMs * (0.75 + Math.random() / 2));
      this.retryMs = Math.min(this.retryMs * 2, lastRetryMs);
    };
  }

  private take(message: Answer | (LiveState & { type: 'state' })): void {
    if (message.type === 'state') {
      this.state.value = message;
      // Somebody ended it: the session, its context, or a lease that lapsed.
      if (message.takeOver === null && this.lease.peek() !== '' && this.hasClaimed) this.lease.value = '';
      this.hasClaimed = message.takeOver !== null;
    } else if (!message.ok && message.error) {
      this.refusal.value = message.error.message;
    }
  }
  private hasClaimed = false;

  private async show(data: ArrayBuffer): Promise<void> {
    const length = new DataView(data).getUint32(0);
    const frame = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as Frame;
    try {
      const picture = await createImageBitmap(new Blob([new Uint8Array(data, 4 + length)], { type: 'image/jpeg' }));
      this.frame = frame;
      this.draw(frame, picture);
      picture.close();
    } finally {
      this.send({ type: 'ack' });
    }
  }
}
