import { usageError } from '../../errors/cli-error.ts';
import { describeError } from '../../errors/describe-error.ts';
import type { Context } from '../../framework/context.ts';
import { defineCommand, flag, ofNoun } from '../../framework/parameters.ts';
import { type OpenedBrowser, openBrowser } from '../../pages/present-link.ts';
import { openFullScreen } from '../../terminal/full-screen.ts';
import { nothing } from '../../terminal/result.ts';
import { escapeForTerminal } from '../../terminal/terminal.ts';
import { type ServedPage, servePage } from '../rooms/page/page-server.ts';
import { type Action, findAction } from './actions.ts';
import { chooseGlyphs, type Drawing, drawScreen, FOCI, type Focus, type View } from './draw-screen.ts';
import { EMPTY, FollowedService, type TopState } from './state.ts';

const top = defineCommand({
  summary: 'Watch rooms, people and deliveries, and act on them',
  description:
    'Uses the whole terminal, 80x24 or larger. It shows rooms with their people over time, recordings and the last caption; the people of the selected room; deliveries, failures first; and events, if there is space. Rooms and people are updated by events. Deliveries, captions and mutes of the selected room are read every three seconds. Keys: Tab changes the list, the arrows or j and k select, m mutes, x removes or deletes, r records, s stops the recording, p replays a delivery, o opens the room in the browser, q quits. It asks before it destroys something. It shows who speaks in rooms with a live transcription.',
  options: { readOnly: flag('--read-only', 'refuse every change') },
  examples: [
    { line: 'rtc top', does: 'Over SSH too' },
    { line: 'rtc top --profile prod --read-only', does: 'Look only, change nothing' },
  ],
  isStream: () => true,
  async run(context, { readOnly }) {
    const { io, terminal, flags } = context;
    if (
      !terminal.isTerminal ||
      io.stdin.isTTY !== true ||
      terminal.json !== undefined ||
      io.env.TERM === 'dumb'
    ) {
      throw usageError(
        'rtc top needs a terminal',
        'without a terminal, use rtc events tail or rtc rooms list --watch',
      );
    }
    if (flags.isCurl)
      throw usageError('rtc top does not send a single request that it could print', 'leave out --curl');
    await runTop(context, { isReadOnly: readOnly });
    return nothing();
  },
});

class Top {
  readonly #context: Context;
  readonly #options: TopOptions;
  #state: TopState = EMPTY;
  #view: View = {
    isHelpShown: false,
    focus: 'rooms',
    selected: { rooms: 0, people: 0, deliveries: 0 },
    message: undefined,
  };
  #question: Question | undefined;
  #service: FollowedService | undefined;
  #page: ServedPage | undefined;
  #browser: OpenedBrowser | undefined;
  #draw: () => void = () => {};
  /** Keys are handled one after the other, because keys typed ahead of a question must answer it. */
  #keys: Promise<void> = Promise.resolve();

  constructor(context: Context, options: TopOptions) {
    this.#context = context;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { io, terminal } = this.#context;
    const settings = await this.#context.settings();
    const client = await this.#context.client();
    const marks = [settings.isProtected ? '(protected)' : '', this.#options.isReadOnly ? '(read-only)' : ''];
    const title = ['rtc top', settings.url.value, settings.profile ?? '', ...marks]
      .filter((part) => part !== '')
      .join('  ');
    this.#service = new FollowedService({
      client,
      now: io.clock,
      signal: this.#options.signal,
      selectedRoom: () => this.#state.rooms[this.#view.selected.rooms]?.room.name,
      describe: (error) => describeError(error, io.clock()).cause,
      onChange: (state) => {
        this.#state = state;
        this.#keepSelection();
        this.#draw();
      },
    });
    const screen = openFullScreen(io, {
      onKey: (key) => this.#takeKey(key),
      onRedraw: () => this.#draw(),
    });
    this.#draw = () => {
      const drawing: Drawing = {
        columns: screen.columns,
        rows: screen.rows,
        palette: terminal.palette,
        glyphs: chooseGlyphs(io.env),
        nowMs: io.clock(),
        title,
        isReadOnly: this.#options.isReadOnly,
      };
      screen.draw(drawScreen(this.#state, this.#shownView(), drawing));
    };
    try {
      this.#draw();
      await this.#service.run();
    } finally {
      this.#draw = () => {};
      screen.close();
      await this.#closePage();
    }
  }

  #shownView(): View {
    if (this.#question === undefined) return this.#view;
    const { action, typed } = this.#question;
    return { ...this.#view, message: { text: `${action.question} ${typed}`, paint: 'bad' } };
  }

  /** The selected item may be gone. */
  #keepSelection(): void {
    const { rooms, people, deliveries } = this.#view.selected;
    const room = Math.max(0, Math.min(rooms, this.#state.rooms.length - 1));
    const those = this.#state.rooms[room]?.people.length ?? 0;
    this.#view = {
      ...this.#view,
      selected: {
        rooms: room,
        people: Math.max(0, Math.min(people, those - 1)),
        deliveries: Math.max(0, Math.min(deliveries, this.#state.deliveries.length - 1)),
      },
    };
  }

  #takeKey(key: string): void {
    if (key === 'ctrl-c') this.#options.end();
    else this.#keys = this.#keys.then(() => this.#onKey(key));
  }

  async #onKey(key: string): Promise<void> {
    if (this.#question !== undefined) await this.#answer(this.#question, key);
    else if (key === 'q') this.#options.end();
    else if (key === '?' || this.#view.isHelpShown) this.#toggleHelp(key);
    else if (key === 'tab') this.#focusNext();
    else if (key === 'up' || key === 'k') this.#select(-1);
    else if (key === 'down' || key === 'j') this.#select(1);
    else if (key === 'o') void this.#say(() => this.#open());
    else await this.#begin(key);
    this.#draw();
  }

  /** While the help is shown, a key only hides it: it must not act on a list that is not seen. */
  #toggleHelp(key: string): void {
    this.#view = { ...this.#view, isHelpShown: key === '?' && !this.#view.isHelpShown, message: undefined };
  }

  #focusNext(): void {
    const { focus } = this.#view;
    const next: Focus = FOCI[(FOCI.indexOf(focus) + 1) % FOCI.length] ?? 'rooms';
    this.#view = { ...this.#view, focus: next, message: undefined };
  }

  #select(step: number): void {
    const { focus, selected } = this.#view;
    const people = focus === 'rooms' ? 0 : selected.people;
    this.#view = {
      ...this.#view,
      selected: { ...selected, people, [focus]: selected[focus] + step },
      message: undefined,
    };
    this.#keepSelection();
  }

  async #begin(key: string): Promise<void> {
    const client = await this.#context.client();
    const { focus, selected } = this.#view;
    const action = findAction(key, {
      client,
      state: this.#state,
      focus,
      selected,
      signal: this.#options.signal,
    });
    if (action === undefined) return;
    if (this.#options.isReadOnly)
      this.#tell('nothing is changed: rtc top was started with --read-only', 'warning');
    else if (typeof action === 'string') this.#tell(action, 'warning');
    else if (action.question === undefined) void this.#run(action);
    else this.#question = { action: { ...action, question: await this.#worded(action.question) }, typed: '' };
  }

  /** Asks for the name of a protected profile instead of a yes. */
  async #worded(question: string): Promise<string> {
    const name = await this.#protectedName();
    return `${question} ${name === undefined ? 'y/n' : `Type ${name} and Enter:`}`;
  }

  async #protectedName(): Promise<string | undefined> {
    const { isProtected, profile } = await this.#context.settings();
    return isProtected ? profile : undefined;
  }

  async #answer({ action, typed }: Question, key: string): Promise<void> {
    const name = await this.#protectedName();
    if (key === 'escape' || (name === undefined && key !== 'y')) return this.#cancel();
    if (name === undefined || (key === 'enter' && typed === name)) {
      this.#question = undefined;
      void this.#run(action);
      return;
    }
    if (key === 'enter') return this.#cancel();
    const next = key === 'backspace' ? typed.slice(0, -1) : typed + (key.length <= 2 ? key : '');
    this.#question = { action, typed: next };
  }

  #cancel(): void {
    this.#question = undefined;
    this.#tell('nothing was changed', 'warning');
  }

  async #run({ run, room }: Action): Promise<void> {
    await this.#say(run);
    // A failed read is repeated at the next tick.
    await (room === undefined ? this.#service?.refreshDeliveries() : this.#service?.refresh(room))?.catch(
      () => {},
    );
  }

  async #say(action: () => Promise<string>): Promise<void> {
    try {
      this.#tell(await action(), 'good');
    } catch (error) {
      if (!this.#options.signal.aborted)
        this.#tell(describeError(error, this.#context.io.clock()).cause, 'bad');
    }
    this.#draw();
  }

  #tell(text: string, paint: 'good' | 'bad' | 'warning'): void {
    this.#view = { ...this.#view, message: { text: escapeForTerminal(text), paint } };
  }

  /** Opens one page at a time. */
  async #open(): Promise<string> {
    const { io } = this.#context;
    const room = this.#state.rooms[this.#view.selected.rooms]?.room.name;
    if (room === undefined) return 'choose a room first';
    await this.#closePage();
    const role = this.#options.isReadOnly ? 'viewer' : 'host';
    this.#page = await servePage(io, { client: await this.#context.client(), room, role });
    // Over SSH a browser would open where the user does not see it.
    const isRemote = io.env.SSH_CONNECTION !== undefined;
    this.#browser = isRemote ? undefined : await openBrowser(io, this.#page.link);
    return this.#browser === undefined ? `Open: ${this.#page.link}` : `${room} is open in your browser.`;
  }

  async #closePage(): Promise<void> {
    await this.#browser?.close();
    await this.#page?.close();
  }
}

export const commands = ofNoun('top', [top]);

/* Handles keys, the selection and questions. Drawing and reading are in other files. */

type Question = { readonly action: Action; readonly typed: string };

async function runTop(context: Context, { isReadOnly }: { readonly isReadOnly: boolean }): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([context.io.signal, ended.signal]);
  const top = new Top(context, { isReadOnly, signal, end: () => ended.abort() });
  try {
    await top.run();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type TopOptions = {
  readonly isReadOnly: boolean;
  readonly signal: AbortSignal;
  readonly end: () => void;
};
