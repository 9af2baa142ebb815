// The page's icons: one path each, in the colour of the text around them.
const paths = {
  sessions: 'M3 5h14M3 10h14M3 15h9',
  graph: 'M3.500 8h4v4h-4zM12.500 3h4v4h-4zM12.500 13h4v4h-4zM7.500 10H10M12.500 5H10v10h2.500',
  fleet: 'M3 16h14M5 13V9M9 13V5M13 13v-6M17 13v-3',
  reload: 'M15.500 10a5.500 5.500 0 1 1-1.600-3.900M15.500 3.500v3h-3',
  close: 'M5 5l10 10M15 5L5 15',
  back: 'M12 4l-6 6 6 6',
  next: 'M8 4l6 6-6 6',
  down: 'M4 8l6 6 6-6',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.500 13.500L17 17',
  plus: 'M10 4v12M4 10h12',
  trash: 'M4 6h12M8 6V4h4v2M6 6l.7 10h6.600L14 6M8.500 9v4M11.500 9v4',
  stop: 'M6 6h8v8H6z',
  open: 'M8 4H4v12h12v-4M11 4h5v5M16 4l-7 7',
  copy: 'M7 7V4h9v9h-3M4 7h9v9H4z',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2.500v1.800M10 15.700v1.800M2.500 10h1.800M15.700 10h1.800M4.700 4.700l1.300 1.300M14 14l1.300 1.300M15.300 4.700L14 6M6 14l-1.300 1.300',
  moon: 'M15.500 12A6.500 6.500 0 0 1 8 4.500a6.500 6.500 0 1 0 7.500 7.500z',
  half: 'M10 3.500a6.500 6.500 0 1 0 0 13zM10 3.500a6.500 6.500 0 1 1 0 13',
  leave: 'M9 4H4v12h5M12 7l3 3-3 3M15 10H8',
  check: 'M4 10.500l4 4 8-9',
  failure: 'M10 6v5M10 13.800v.2M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14z',
  file: 'M6 3h6l3 3v11H6zM12 3v3h3',
  help: 'M7.500 7.500a2.500 2.500 0 1 1 3.600 2.200c-.7.4-1.100.9-1.100 1.800M10 14v.1M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14z',
  pause: 'M7 5v10M13 5v10',
  play: 'M6.500 4.500v11l9-5.500z',
  shield: 'M10 3l6 2v5c0 3.500-2.500 6-6 7-3.500-1-6-3.500-6-7V5zM7.500 10l2 2 3.500-4',
  hand: 'M6 11V6.500a1.200 1.200 0 0 1 2.400 0V9 4.500a1.200 1.200 0 0 1 2.400 0V9 5.500a1.200 1.200 0 0 1 2.400 0V10 8a1.200 1.200 0 0 1 2.300 0v4.500c0 2.500-2 4.500-4.500 4.500C8 17 7 16 6 14l-2-3c-.7-1.300 1-2.200 2 0z',
};

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
