/** @jsxImportSource preact */
import { render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Virtualizer, type VirtualizerHandle } from 'virtua';

/** A virtual list of plain rows: no list of ours can scroll better. The page says how many there are, and how high. */
const { rows, heights } = (await (await fetch('/rows.json')).json()) as { rows: number; heights: readonly number[] };

const data = Array.from({ length: rows }, (_, i) => ({ i, height: heights[i % heights.length] ?? 40 }));

function BareList() {
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  // A chat opens at its end, and is read upwards.
  useLayoutEffect(() => {
    if (location.hash === '#end') list.current?.scrollToIndex(rows - 1, { align: 'end' });
  }, []);
  return (
    <div role="log" ref={scroller} style={{ height: '100vh', overflowY: 'auto' }}>
      <Virtualizer ref={list} scrollRef={scroller} data={data} itemSize={52}>
        {({ i, height }) => (
          <div key={i} style={{ height: `${height}px` }}>
            Row {i}
          </div>
        )}
      </Virtualizer>
    </div>
  );
}

render(<BareList />, document.body);
