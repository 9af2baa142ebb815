// Light, dark, or as the system has it.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const key = 'reprise.theme';
const order: readonly Theme[] = ['system', 'light', 'dark'];

function stored(): Theme {
  return order.find((known) => known === localStorage.getItem(key)) ?? 'system';
}

export const theme = signal<Theme>(stored());
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(systemIsDark.matches);
systemIsDark.addEventListener('change', () => { systemDark.value = systemIsDark.matches; });

// Counts changes: what is drawn on a canvas is drawn again.
export const themeEpoch = signal(0);

effect(() => {
  const isDark = theme.value === 'dark' || (theme.value === 'system' && systemDark.value);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  if (theme.value === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, theme.value);
  themeEpoch.value = themeEpoch.peek() + 1;
});

export function nextTheme(): void {
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system';
}

export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
