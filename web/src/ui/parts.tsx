// Small parts that every view uses.
import { cloneElement, type ComponentChildren, type VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Status } from '../api/types';
import { Icon, type IconName } from './icons';

const statusWords: Record<Status, string> = {
  INITIALIZING: 'Starting', ACTIVE: 'Active', PAUSED: 'Paused', COMPLETED: 'Completed', FAILED: 'Failed',
  CANCELLED: 'Cancelled', CLEANUP: 'Cleaning up',
};
const reasonWords: Record<string, string> = {
  input: 'Waits for a person', operator: 'Paused', rateLimit: 'Rate limited', workerLost: 'Worker lost',
};

export const statusWord = (status: Status) => statusWords[status];

export function StatusLabel({ status, reason }: { status: Status; reason?: string | null }) {
  const isWaiting = status === 'PAUSED' && reason === 'input';
  const word = (status === 'PAUSED' && reason && reasonWords[reason]) || statusWords[status];
  return (
    <span class={`status status-${isWaiting ? 'waiting' : status.toLowerCase()}`}>
      <span class="dot" aria-hidden="true" />
      {word}
    </span>
  );
}

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  onClick?: (event: MouseEvent) => void;
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  label?: string;
  disabled?: boolean;
  type?: 'button' | 'submit';
  pressed?: boolean;
}

export function Button(props: ButtonProps) {
  const { icon, kind = 'plain', label } = props;
  const isIconOnly = props.children === undefined;
  return (
    <button type={props.type ?? 'button'} class={`button button-${kind}${isIconOnly ? ' button-icon' : ''}`}
      onClick={props.onClick} disabled={props.disabled} aria-label={label} title={label} aria-pressed={props.pressed}>
      {icon && <Icon name={icon} />}
      {props.children}
    </button>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

export function Notice({ children, kind = 'problem' }: { children: ComponentChildren; kind?: 'problem' | 'note' }) {
  return <p class={`notice notice-${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>{children}</p>;
}

// A dialog that closes by Escape, by its cross, and by whoever shows it.
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => { if (before instanceof HTMLElement) before.focus(); };
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-label={title} onClose={onClose}
      onClick={(event) => { if (event.target === element.current) onClose(); }}>
      <div class="dialog-body">
        <header class="dialog-head">
          <h2>{title}</h2>
          <Button icon="close" kind="quiet" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

// Copies, and says so for a moment.
export function CopyButton({ text, label, children }: { text: () => string; label: string; children?: ComponentChildren }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <Button icon={isCopied ? 'check' : 'copy'} kind="quiet" label={isCopied ? 'Copied' : label} onClick={() => void copy()}>
      {children}
    </Button>
  );
}

// A control with its name; hints and errors describe it and are no part of the name.
export function Field({ label, hint, error, children }: {
  label: string; hint?: string; error?: string; children: VNode<Record<string, unknown>>;
}) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class="field">
      <label class="field-label" for={id}>{label}</label>
      {cloneElement(children, { id, ...(note ? { 'aria-describedby': `${id}-note` } : {}), ...(error ? { 'aria-invalid': true } : {}) })}
      {note && <span id={`${id}-note`} class={error ? 'field-error' : 'field-hint'}>{note}</span>}
    </div>
  );
}

// A part of a detail, which can be folded; what is folded is not there.
export function Part({ title, isFolded, children }: { title: string; isFolded?: boolean; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(!isFolded);
  return (
    <details class="part" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><h3>{title}</h3></summary>
      {isOpen && children}
    </details>
  );
}
