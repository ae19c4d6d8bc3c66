import { usageError } from '../../errors/cli-error.ts';
import type { RoomState } from './room-state.ts';

export type RoomCondition = {
  /** As it was typed. */
  readonly text: string;
  readonly isMet: (room: RoomState) => boolean;
  /** Whether a room that does not exist may still come to meet it. */
  readonly canBegin: boolean;
};

const CONDITIONS =
  'open, closed, participants>=2, publishers>=1, joined:ada, publishing:ada or left:ada; in quotes, because of > and <';

const COMPARISONS: Readonly<Record<string, (count: number, bound: number) => boolean>> = {
  '>=': (count, bound) => count >= bound,
  '<=': (count, bound) => count <= bound,
  '>': (count, bound) => count > bound,
  '<': (count, bound) => count < bound,
  '==': (count, bound) => count === bound,
  '=': (count, bound) => count === bound,
};

const COUNTS: Readonly<Record<string, (room: RoomState) => number>> = {
  participants: (room) => room.participants.length,
  publishers: (room) => room.publishers.length,
};

const ABOUT_ONE: Readonly<Record<string, (room: RoomState, identity: string) => boolean>> = {
  joined: (room, identity) => room.participants.includes(identity),
  publishing: (room, identity) => room.publishers.includes(identity),
  left: (room, identity) => !room.participants.includes(identity),
};

/** `open`, `participants>=2`, `joined:ada`. Throws a usage error that lists them. */
export function roomCondition(text: string): RoomCondition {
  if (text === 'open') return { text, isMet: (room) => room.isOpen, canBegin: true };
  if (text === 'closed') return { text, isMet: (room) => !room.isOpen, canBegin: true };
  const isMet = comparison(text) ?? aboutOne(text);
  if (isMet !== undefined) return { text, isMet, canBegin: false };
  throw usageError(`${JSON.stringify(text)} is no condition of a room`, `choose from ${CONDITIONS}`);
}

function comparison(text: string): RoomCondition['isMet'] | undefined {
  const parts = /^(\w+)\s*(>=|<=|==|>|<|=)\s*(\d{1,9})$/.exec(text.trim());
  if (parts === null) return undefined;
  const [, name = '', sign = '', bound] = parts;
  const count = COUNTS[name];
  const compare = COMPARISONS[sign];
  if (count === undefined || compare === undefined) return undefined;
  return (room) => compare(count(room), Number(bound));
}

function aboutOne(text: string): RoomCondition['isMet'] | undefined {
  const [, name = '', identity = ''] = /^(\w+):(.+)$/s.exec(text) ?? [];
  const test = ABOUT_ONE[name];
  return test === undefined ? undefined : (room) => test(room, identity);
}
