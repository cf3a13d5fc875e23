import { ScheduleError } from './types';

const AREAS = new Set(
  (
    'Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific Etc ' +
    // links that the IANA data keeps for names of old
    'Brazil Canada Chile Mexico US'
  )
    .toLowerCase()
    .split(' '),
);

/** Names of one word that IANA keeps and that mean one place; all others of one word are abbreviations or groups of rules. */
const SINGLE_NAMES = new Set(
  (
    'UTC GMT Cuba Egypt Eire GB GB-Eire Greenwich Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya Navajo ' +
    'NZ NZ-CHAT Poland Portugal PRC ROC ROK Singapore Turkey UCT Universal W-SU Zulu'
  )
    .toLowerCase()
    .split(' '),
);

/** What people mean most often by an abbreviation; CST, IST, BST and others mean several things, so that two are named. */
const MEANT: Record<string, string> = {
  pst: 'America/Los_Angeles',
  pdt: 'America/Los_Angeles',
  pst8pdt: 'America/Los_Angeles',
  mst: 'America/Denver, or America/Phoenix',
  mdt: 'America/Denver',
  mst7mdt: 'America/Denver',
  cst: 'America/Chicago, or Asia/Shanghai',
  cdt: 'America/Chicago',
  cst6cdt: 'America/Chicago',
  est: 'America/New_York, or America/Panama',
  edt: 'America/New_York',
  est5edt: 'America/New_York',
  akst: 'America/Anchorage',
  hst: 'Pacific/Honolulu',
  bst: 'Europe/London, or Asia/Dhaka',
  ist: 'Asia/Kolkata, Europe/Dublin, or Asia/Jerusalem',
  wet: 'Europe/Lisbon',
  cet: 'Europe/Berlin',
  cest: 'Europe/Berlin',
  met: 'Europe/Berlin',
  eet: 'Europe/Helsinki',
  eest: 'Europe/Helsinki',
  msk: 'Europe/Moscow',
  jst: 'Asia/Tokyo',
  kst: 'Asia/Seoul',
  sgt: 'Asia/Singapore',
  aest: 'Australia/Sydney, or Australia/Brisbane',
  aedt: 'Australia/Sydney',
  acst: 'Australia/Adelaide, or Australia/Darwin',
  awst: 'Australia/Perth',
  nzst: 'Pacific/Auckland',
  nzdt: 'Pacific/Auckland',
};

function refuse(timezone: string, why: string): never {
  throw new ScheduleError('timezone', timezone, `timezone: "${timezone}" ${why}`);
}

/**
 * Accepts the names of the IANA data (`Europe/Berlin`, `UTC`, links such as `Asia/Calcutta` or `Japan`), in any case.
 * Refuses abbreviations and offsets, which Intl would take although they name no place and have no change of the clocks.
 * `Intl.supportedValuesOf` is no guide: it lacks UTC, Asia/Kolkata and Europe/Kyiv in Node 20.
 */
export function checkTimezone(timezone: string): void {
  const name = timezone.toLowerCase();
  if (name.trim() === '') refuse(timezone, 'is empty: write an IANA name such as Europe/Berlin, or UTC.');
  const isName = name.includes('/') ? AREAS.has(name.slice(0, name.indexOf('/'))) : SINGLE_NAMES.has(name);
  if (isName && isKnownToIntl(timezone)) return;
  if (timezone !== timezone.trim()) refuse(timezone, 'has blanks around it: leave them out.');
  const meant = Object.hasOwn(MEANT, name) ? MEANT[name] : undefined;
  if (meant !== undefined) {
    refuse(timezone, `is an abbreviation and names no place whose clocks could be followed: write ${meant}.`);
  }
  if (/^(utc|gmt)?[+-]\d/.test(name)) {
    refuse(timezone, 'is an offset: write an IANA name such as Asia/Kolkata; UTC+2 without summer time is Etc/GMT-2.');
  }
  refuse(
    timezone,
    'is not a time zone of the IANA data: write a name such as Europe/Berlin or America/New_York, or UTC.',
  );
}

/** Names that Intl has taken: to ask it costs a tenth of a millisecond. Bounded, since a name counts in any case. */
const MOST_KNOWN = 1000;
const known = new Set<string>();

function isKnownToIntl(timezone: string): boolean {
  if (known.has(timezone)) return true;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: timezone });
  } catch {
    return false;
  }
  if (known.size >= MOST_KNOWN) known.clear();
  known.add(timezone);
  return true;
}
