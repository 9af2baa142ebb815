// VirtualList: many rows of one height, of which only those in sight are in the document.
//
// When rows come or go above what is in sight, what is in sight stays where it is; a list that shows its end follows it,
// if it is told to. Rows are placed by transform, so that scrolling costs no layout of the rest.
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualHandle {
  // Scrolls as little as it takes to bring a row into sight.
  reveal(index: number): void;
  toEnd(): void;
}

interface Props {
  count: number;
  rowHeight: number;
  keyAt: (index: number) => string | number | undefined;
  indexOf: (key: string | number) => number;
  render: (index: number) => ComponentChildren;
  followsEnd?: boolean;
  onFollow?: (isFollowing: boolean) => void;
  onRange?: (first: number, last: number) => void;
  handle?: RefObject<VirtualHandle>;
  class?: string;
  attributes?: Record<string, unknown>;
}

const overscan = 6;

export function VirtualList(props: Props) {
  const { count, rowHeight } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const anchor = useRef<{ key: string | number; offset: number } | undefined>(undefined);
  const isAtEnd = useRef(Boolean(props.followsEnd));
  // Where it is scrolled to. Kept here, because to ask the element after a change makes the browser lay it out at once.
  const place = useRef({ top: 0, height: 600, total: 0 });
  const total = count * rowHeight;

  const show = () => {
    const { top, height } = place.current;
    setView((old) => (old.top === top && old.height === height ? old : { top, height }));
  };
  // Notes what is in sight, so that it can be put back there.
  const noteAnchor = () => {
    const { top } = place.current;
    const index = Math.floor(top / rowHeight);
    const key = props.keyAt(index);
    anchor.current = key === undefined ? undefined : { key, offset: top - index * rowHeight };
  };
  const scrollTo = (wanted: number) => {
    const top = Math.min(Math.max(wanted, 0), Math.max(total - place.current.height, 0));
    place.current.top = top;
    if (box.current) box.current.scrollTop = top;
    isAtEnd.current = top + place.current.height >= total - rowHeight;
    noteAnchor();
    show();
  };

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    place.current.top = element.scrollTop;
    const wasAtEnd = isAtEnd.current;
    isAtEnd.current = element.scrollTop + place.current.height >= total - rowHeight;
    if (wasAtEnd !== isAtEnd.current) props.onFollow?.(isAtEnd.current);
    noteAnchor();
    show();
  };

  useLayoutEffect(() => {
    const hasGrown = place.current.total !== total;
    place.current.total = total;
    if (props.followsEnd && isAtEnd.current) {
      if (hasGrown) scrollTo(total);
    } else if (anchor.current && place.current.top > 0) {
      const index = props.indexOf(anchor.current.key);
      const top = index * rowHeight + anchor.current.offset;
      if (index >= 0 && Math.abs(top - place.current.top) >= 1) scrollTo(top);
    }
    noteAnchor();
  });

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = () => {
      place.current.height = element.clientHeight;
      if (isAtEnd.current && latest.current.followsEnd) latest.current.toEnd();
      else show();
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // What the observer calls is of the last drawing, not of the first.
  const toEnd = () => {
    isAtEnd.current = true;
    scrollTo(total);
  };
  const latest = useRef({ followsEnd: false, toEnd });
  latest.current = { followsEnd: Boolean(props.followsEnd), toEnd };
  if (props.handle) {
    props.handle.current = {
      reveal: (index) => {
        const { top, height } = place.current;
        const at = index * rowHeight;
        if (at < top) scrollTo(at - rowHeight);
        else if (at + rowHeight > top + height) scrollTo(at + 2 * rowHeight - height);
      },
      toEnd,
    };
  }

  const first = Math.max(0, Math.floor(view.top / rowHeight) - overscan);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + overscan);
  const { onRange } = props;
  useEffect(() => onRange?.(first, last), [first, last, count]);

  const rows = [];
  for (let index = first; index < last; index += 1) {
    rows.push(
      <div class="virtual-row" role="presentation" key={props.keyAt(index) ?? `#${index}`}
        style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}>
        {props.render(index)}
      </div>,
    );
  }
  return (
    <div ref={box} class={`virtual ${props.class ?? ''}`} onScroll={onScroll} tabIndex={0} {...props.attributes}>
      <div class="virtual-rows" role="presentation" style={{ height: `${total}px` }}>{rows}</div>
    </div>
  );
}
