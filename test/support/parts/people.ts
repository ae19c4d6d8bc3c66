import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { people } from '../../../scripts/parts/go-toolchain.ts';

/** Somebody in a room who publishes and sends what nobody has to see. */
export interface Person {
  readonly sid: string;
  /** Until LiveKit or the person ends the connection. */
  readonly isConnected: boolean;
  /** Publishes a silent microphone, and returns its sid. */
  publish(): Promise<string>;
  unpublish(sid: string): Promise<void>;
  /** Sends data of so many bytes. */
  send(data: SentData): Promise<void>;
  /** Returns how many messages the person had received. */
  leave(): Promise<number>;
}

type SentData = { readonly bytes: number; readonly topic: string; readonly reliable: boolean };

/** A process with any number of people, who cost a tenth of those of LiveKit's client for Node. */
export interface People {
  /** Rejects if the server refuses the token, or after 20 s. */
  join(url: string, token: string): Promise<Person>;
  close(): Promise<void>;
}

/** As an argument of `nice`: people whose computers are their own have the highest, 19. */
type PeopleOptions = { readonly niceness?: number };

/** What came of a command, or a disconnection, which has no id. */
type Answer = {
  readonly id?: number;
  readonly person: number;
  readonly error?: string;
  readonly sid?: string;
  readonly count?: number;
};

type Waiting = { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void };

const ENDED = 'the process of the people has ended';

export async function startPeople({ niceness = 0 }: PeopleOptions = {}): Promise<People> {
  const program = await people.find();
  if (program === undefined) throw new Error('the people are not built: `npm test` builds them once');
  // Every thread inherits it; os.setPriority would change the first one only.
  const child = spawn('nice', ['-n', `${niceness}`, program], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const closed = once(child, 'close');
  let hasEnded = false;
  const waiting = new Map<number, Waiting>();
  const disconnected = new Set<number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer: Answer = JSON.parse(line);
    if (answer.id === undefined) {
      disconnected.add(answer.person);
      return;
    }
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.error === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(answer.error));
  });
  child.once('close', () => {
    hasEnded = true;
    for (const { reject } of waiting.values()) reject(new Error(ENDED));
  });
  child.stdin.on('error', () => {});
  let [commands, persons] = [0, 0];
  const ask = async (command: object): Promise<Answer> => {
    if (hasEnded) throw new Error(ENDED);
    commands += 1;
    const id = commands;
    child.stdin.write(`${JSON.stringify({ ...command, id })}\n`);
    return await new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  };
  return {
    async join(url, token) {
      persons += 1;
      const person = persons;
      const { sid = '' } = await ask({ person, do: 'join', url, token });
      return {
        sid,
        get isConnected() {
          return !disconnected.has(person);
        },
        publish: async () => (await ask({ person, do: 'publish' })).sid ?? '',
        unpublish: async (track) => void (await ask({ person, do: 'unpublish', sid: track })),
        send: async (data) => void (await ask({ person, do: 'send', ...data })),
        leave: async () => (await ask({ person, do: 'leave' })).count ?? 0,
      };
    },
    async close() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
