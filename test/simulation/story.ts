import type { History, HistoryOptions } from './history';
import { FAULT_KINDS } from './faults';

const MOST_LINES = 120;
/** Faults, deaths, and what was asked for by the plan. */
const TOLD_ALWAYS = /^FAULT|dies: |stands still|^caller: asks: \{"requestId"/;

/** What happened, for a person to read: the operations, the faults, and what became of what the broken law is about. */
export function storyOf(history: History): string {
  const { violations, operations, injected, witness } = history;
  const about = violations.map((violation) => `  ${time(violation.at)}  ${violation.law}: ${violation.about}`);
  const ids = new Set(violations.flatMap((violation) => violation.about.split(/[^A-Za-z0-9-]+/).filter(isId)));
  const lines = [
    ...witness.story.map(({ at, who, what }) => ({ at, text: `${who}: ${what}` })),
    ...injected.map(({ at, kind, ordinal, what }) => ({ at, text: `FAULT ${kind}:${ordinal}: ${what}` })),
  ]
    .filter(({ text }) => TOLD_ALWAYS.test(text) || [...ids].some((id) => text.includes(id)))
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => `  ${time(at)}  ${text.length > 180 ? `${text.slice(0, 180)}…` : text}`);
  const shown =
    lines.length > MOST_LINES
      ? [...lines.slice(0, MOST_LINES), `  … and ${lines.length - MOST_LINES} lines more`]
      : lines;
  return [
    `seed ${history.seed}: ${operations.length} operations, ${injected.length} faults`,
    'broken:',
    ...about,
    'what happened:',
    ...shown,
  ].join('\n');
}

/** The command that lives through this history again. */
export function commandOf({ seed, faults, operations, only }: HistoryOptions): string {
  const isAll = !faults || faults.length === FAULT_KINDS.length;
  return [
    `npm run simulate -- --seed ${seed}`,
    ...(isAll ? [] : [`--faults ${faults.length === 0 ? 'none' : faults.join(',')}`]),
    ...(operations ? [`--operations ${operations.join(',')}`] : []),
    ...(only ? [`--only ${only.length === 0 ? 'none' : only.join(',')}`] : []),
  ].join(' ');
}

function isId(word: string): boolean {
  return /^(job-\d+|[0-9a-f]{8}-[0-9a-f-]{20,}|\d{8}T\d{9}Z-[0-9a-f]{16})$/.test(word);
}

function time(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}
